# What `cmake --install` puts in place: headers, both libraries, and the descriptions by which find_package and
# pkg-config find them. Both describe places relative to themselves, so that the prefix may be moved.
include(CMakePackageConfigHelpers)

foreach(folder ${TENON_PUBLIC_INCLUDES})
  install(DIRECTORY ${folder}/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
endforeach()
install(TARGETS tenon_static tenon_shared EXPORT tenon
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tenon)
install(EXPORT tenon NAMESPACE tenon:: FILE tenon-targets.cmake DESTINATION ${package})
configure_package_config_file(cmake/tenon-config.cmake.in ${CMAKE_BINARY_DIR}/tenon-config.cmake
                              INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tenon-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tenon-config.cmake ${CMAKE_BINARY_DIR}/tenon-config-version.cmake
        DESTINATION ${package})

set(root /nowhere)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY ${root} OUTPUT_VARIABLE library_folder)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY ${root} OUTPUT_VARIABLE header_folder)
cmake_path(RELATIVE_PATH library_folder BASE_DIRECTORY ${library_folder}/pkgconfig OUTPUT_VARIABLE TENON_PC_LIBDIR)
cmake_path(RELATIVE_PATH header_folder BASE_DIRECTORY ${library_folder}/pkgconfig OUTPUT_VARIABLE TENON_PC_INCLUDEDIR)
configure_file(cmake/tenon.pc.in ${CMAKE_BINARY_DIR}/tenon.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tenon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
