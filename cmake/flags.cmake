# Compile options that every target shares.
#
# The random streams and the reference products depend on IEEE arithmetic as written: no contraction, no fast-math.
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)
add_compile_options(-ffp-contract=off -fno-math-errno -fno-trapping-math -fvisibility=hidden
                    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wno-psabi)
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug") # at -O0 gcc's vector intrinsics are macros that convert signs
  add_compile_options(-Wconversion)
endif()
# gcc's `rep stos` for a struct of zeros takes 9 ns to begin: a fifth of a small call.
include(CheckCCompilerFlag)
set(memset_in_line -mmemset-strategy=vector_loop:256:noalign,libcall:-1:noalign)
check_c_compiler_flag(${memset_in_line} TENON_HAVE_MEMSET_STRATEGY)
if(TENON_HAVE_MEMSET_STRATEGY)
  add_compile_options(${memset_in_line})
endif()
if(TENON_WERROR)
  add_compile_options(-Werror)
endif()
add_compile_definitions(_POSIX_C_SOURCE=200809L)

# __FILE__ in an error reads "engine/core/tensor.c" wherever the tree was built.
add_compile_options("-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=")
foreach(floor base random core dispatch cpu autograd ops)
  add_compile_options("-fmacro-prefix-map=${CMAKE_BINARY_DIR}/floors/${floor}/${floor}/=engine/${floor}/")
endforeach()

set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
if(TENON_SANITIZE)
  set(CMAKE_C_FLAGS_DEBUG "-O2 -g")
  add_compile_options(-fsanitize=${TENON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TENON_SANITIZE})
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # gcc tests the address of a thread-local by the flags of an addition that the linker turns into one without flags,
    # so its null check fires on what is not null; and with checks in between it guesses at uninitialised variables.
    add_compile_options(-fno-sanitize=null -Wno-maybe-uninitialized)
  endif()
else()
  set(CMAKE_C_FLAGS_DEBUG "-O0 -g3 -gdwarf-4") # valgrind does not read the later format of clang
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT TENON_SANITIZE)
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  add_link_options(-Wl,-z,relro,-z,now)
endif()

separate_arguments(tenon_extra UNIX_COMMAND "${TENON_CFLAGS}")
add_compile_options(${tenon_extra})

# Files named *_avx2.c and *_avx512.c hold the loops of one CPU level; the level is chosen at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(TENON_X86 ON)
endif()
function(tenon_cpu_levels)
  foreach(source ${ARGN})
    if(source MATCHES "_avx2\\.c$" AND TENON_X86)
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c;-mbmi2")
    elseif(source MATCHES "_avx512\\.c$" AND TENON_X86)
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
        "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx2;-mfma;-mf16c;-mbmi2;-mprefer-vector-width=512")
    endif()
    # written in vectors throughout: -O3 doubles their size for nothing
    if(source MATCHES "/(reduce|pointwise)_(baseline|avx2|avx512)\\.c$")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
    endif()
  endforeach()
endfunction()
