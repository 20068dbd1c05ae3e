# tenon_floor(NAME DIR folder [USES lower...] [PUBLIC_ONLY])
#
# One object library a floor, from every .c file of its folder. Engine floors include one another as "core/tensor.h":
# build/NAME/floors/FLOOR holds a single link to that floor's folder, and a target gets only the links of the floors in
# USES and its own. A floor marked PUBLIC_ONLY sees the public headers alone and its own folder.
set(TENON_FLOORS "" CACHE INTERNAL "floors, lowest first")
set(TENON_PUBLIC_INCLUDES
    ${CMAKE_SOURCE_DIR}/engine/include ${CMAKE_SOURCE_DIR}/nn/include
    ${CMAKE_SOURCE_DIR}/data/include ${CMAKE_SOURCE_DIR}/train/include)

# The way of every call: loops over a handful of dims are longer and slower as vector code or calls of memcpy (only
# kernels hold long ones), and a stack canary a function is 5 % of an addition; the arrays here are indexed by checked
# ranks alone.
function(tenon_short_loops)
  set(options -fno-tree-vectorize -fno-stack-protector $<$<C_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>)
  foreach(source ${ARGN})
    if(NOT source MATCHES "(_baseline|_avx2|_avx512|convert)\\.c$")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${options})
    endif()
  endforeach()
endfunction()

function(tenon_floor name)
  cmake_parse_arguments(arg "PUBLIC_ONLY" "DIR" "USES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${arg_DIR}/*.c)
  tenon_cpu_levels(${sources})
  set(target tenon_${name})
  add_library(${target} OBJECT ${sources})
  target_compile_definitions(${target} PRIVATE TENON_BUILDING)
  if(name MATCHES "^(core|dispatch|autograd|ops)$")
    tenon_short_loops(${sources})
  elseif(name STREQUAL "cpu") # of products the drivers alone
    list(FILTER sources INCLUDE REGEX "/gemm(_own)?\\.c$")
    tenon_short_loops(${sources})
  endif()
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/engine/include)
  if(arg_PUBLIC_ONLY)
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/${arg_DIR}/include ${CMAKE_SOURCE_DIR}/${arg_DIR})
    if(name STREQUAL "train")
      target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/nn/include ${CMAKE_SOURCE_DIR}/data/include)
    endif()
  else()
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/floors/${name})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${arg_DIR} ${CMAKE_BINARY_DIR}/floors/${name}/${name} SYMBOLIC)
    foreach(seen ${arg_USES} ${name})
      target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/floors/${seen})
    endforeach()
  endif()
  list(APPEND TENON_FLOORS ${name})
  set(TENON_FLOORS "${TENON_FLOORS}" CACHE INTERNAL "floors, lowest first")
endfunction()
