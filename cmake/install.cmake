# SPDX-License-Identifier: MIT
include(CMakePackageConfigHelpers)

install(TARGETS udv EXPORT udv-targets FILE_SET HEADERS)
if(UDV_BUILD_CLI)
  install(TARGETS udv_cli)
  if(UDV_WITH_DEEP)
    install(TARGETS udv_deep_cli)
  endif()
endif()
set(udv_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/udv)
install(EXPORT udv-targets NAMESPACE udv:: DESTINATION ${udv_package_folder})
configure_package_config_file(cmake/udv-config.cmake.in ${PROJECT_BINARY_DIR}/udv-config.cmake
                              INSTALL_DESTINATION ${udv_package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/udv-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/udv-config.cmake ${PROJECT_BINARY_DIR}/udv-config-version.cmake
        DESTINATION ${udv_package_folder})

# Relative to udv.pc itself, so that the package may be installed to any prefix or moved.
file(RELATIVE_PATH UDV_PREFIX_FROM_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
     ${CMAKE_INSTALL_PREFIX})
# A static library leaves its own libraries to whoever links it; these are linked as they are, so
# `pkg-config --libs udv` is enough and their private libraries are not needed.
set(udv_libraries " fmt libzip zlib matio ${hdf5_MODULE_NAME} libpng fftw3 fftw3f openblas")
if(BUILD_SHARED_LIBS)
  set(UDV_PC_REQUIRES_PRIVATE "${udv_libraries}")
else()
  set(UDV_PC_REQUIRES "${udv_libraries}")
endif()
configure_file(cmake/udv.pc.in ${PROJECT_BINARY_DIR}/udv.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/udv.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
