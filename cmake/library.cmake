# The static and the shared library from the floors' objects: tenon::static and tenon::shared.
set(objects)
foreach(floor ${TENON_FLOORS})
  list(APPEND objects $<TARGET_OBJECTS:tenon_${floor}>)
endforeach()

if(TENON_OPENBLAS)
  include(CheckIncludeFile)
  check_include_file(cblas.h TENON_HAVE_CBLAS_H)
  if(NOT TENON_HAVE_CBLAS_H)
    message(FATAL_ERROR "cblas.h is not there: install libopenblas-dev, or build with -DTENON_OPENBLAS=OFF")
  endif()
  target_compile_definitions(tenon_cpu PRIVATE TENON_OPENBLAS)
endif()

find_package(Threads REQUIRED)
foreach(kind static shared)
  string(TOUPPER ${kind} upper)
  add_library(tenon_${kind} ${upper} ${objects})
  set_target_properties(tenon_${kind} PROPERTIES OUTPUT_NAME tenon EXPORT_NAME ${kind} LINKER_LANGUAGE C
                        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_include_directories(tenon_${kind} INTERFACE
    "$<BUILD_INTERFACE:${TENON_PUBLIC_INCLUDES}>" $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(tenon_${kind} PUBLIC m Threads::Threads ${CMAKE_DL_LIBS})
  add_library(tenon::${kind} ALIAS tenon_${kind})
endforeach()
# A thread that used the library runs its code when it ends, even after dlclose: so it stays in memory.
target_link_options(tenon_shared PRIVATE -Wl,-z,nodelete)
if(NOT TENON_SANITIZE)
  target_link_options(tenon_shared PRIVATE -Wl,--no-undefined)
endif()
