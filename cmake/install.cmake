# SPDX-License-Identifier: MIT
include(CMakePackageConfigHelpers)

# Components: program, library, development, python (python/CMakeLists.txt). Packages are made of them.
install(TARGETS udv EXPORT udv-targets
        LIBRARY COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE COMPONENT development
        FILE_SET HEADERS COMPONENT development)
if(UDV_BUILD_CLI)
  install(TARGETS udv_cli COMPONENT program)
  if(UDV_WITH_DEEP)
    install(TARGETS udv_deep_cli COMPONENT program)
  endif()
  if(UDV_WITH_MPI)
    install(TARGETS udv_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/udv COMPONENT mpi)
  endif()
  include(cmake/manual.cmake)
endif()
set(udv_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/udv)
install(EXPORT udv-targets NAMESPACE udv:: DESTINATION ${udv_package_folder} COMPONENT development)
if(UDV_WITH_DEEP)
  # A set of its own: whoever does not ask for the component needs no LibTorch.
  install(TARGETS udv_deep EXPORT udv-deep-targets
          LIBRARY COMPONENT library NAMELINK_COMPONENT development
          ARCHIVE COMPONENT development
          FILE_SET HEADERS COMPONENT development)
  if(UDV_WITH_CUDA_KERNELS)
    install(TARGETS udv_kernels EXPORT udv-deep-targets COMPONENT development)
  endif()
  install(EXPORT udv-deep-targets NAMESPACE udv:: DESTINATION ${udv_package_folder}
          COMPONENT development)
  install(FILES cmake/torch.cmake DESTINATION ${udv_package_folder} COMPONENT development)
  # A library that a static udv_deep leaves to whoever links it.
  get_target_property(udv_deep_links udv_deep LINK_LIBRARIES)
  if(PkgConfig::libjpeg IN_LIST udv_deep_links)
    set(UDV_DEEP_PACKAGES "pkg_check_modules(libjpeg REQUIRED IMPORTED_TARGET libjpeg)\n")
  endif()
endif()
configure_file(cmake/udv-deep.cmake.in ${PROJECT_BINARY_DIR}/udv-deep.cmake @ONLY)
configure_package_config_file(cmake/udv-config.cmake.in ${PROJECT_BINARY_DIR}/udv-config.cmake
                              INSTALL_DESTINATION ${udv_package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/udv-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/udv-config.cmake ${PROJECT_BINARY_DIR}/udv-config-version.cmake
              ${PROJECT_BINARY_DIR}/udv-deep.cmake
        DESTINATION ${udv_package_folder} COMPONENT development)

# Relative to udv.pc itself, so that the package may be installed to any prefix or moved.
file(RELATIVE_PATH UDV_PREFIX_FROM_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
     ${CMAKE_INSTALL_PREFIX})
# A static library leaves its own libraries to whoever links it; these are linked as they are, so
# `pkg-config --libs udv` is enough and their private libraries are not needed. A shared one knows
# its own: pkg-config would ask for their files where they are named.
set(udv_libraries " fmt libzip zlib matio ${hdf5_MODULE_NAME} libpng libtiff-4 openblas libpcre2-8 tomlplusplus")
if(NOT BUILD_SHARED_LIBS)
  set(UDV_PC_REQUIRES "${udv_libraries}")
endif()
configure_file(cmake/udv.pc.in ${PROJECT_BINARY_DIR}/udv.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/udv.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)
