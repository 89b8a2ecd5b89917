# SPDX-License-Identifier: MIT
# Debian packages from the components of cmake/install.cmake: `cmake --preset package`, build, `cpack` in its folder.
# scripts/make-packages does all of it and checks them.
option(UDV_PACKAGES "Add what Debian packages have besides: copyright, changelogs, documentation" OFF)
if(NOT UDV_PACKAGES)
  return()
endif()
# The address of nobody (RFC 2606), where whoever builds does not name themselves: scripts/make-packages.
set(UDV_CONTACT "The udv authors <udv@udv.invalid>" CACHE STRING "Maintainer of the packages")
set(UDV_DEBIAN_REVISION 1 CACHE STRING "How often this version has been packaged")
set(udv_debian ${PROJECT_BINARY_DIR}/debian)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME udv)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${UDV_CONTACT})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "recover low-rank matrices and train networks without a rank to choose")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
    GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program library development python documentation)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${UDV_DEBIAN_REVISION})
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${UDV_CONTACT})
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# udv_package(COMPONENT NAME SECTION DEPENDS TEXT...): one package, with its copyright and changelogs.
function(udv_package component name section depends)
  string(TOUPPER ${component} key)
  string(JOIN "\n" text ${ARGN})
  foreach(setting IN ITEMS "PACKAGE_NAME|${name}" "PACKAGE_SECTION|${section}" "PACKAGE_DEPENDS|${depends}")
    string(REPLACE "|" ";" setting "${setting}")
    list(POP_FRONT setting what)
    set(CPACK_DEBIAN_${key}_${what} "${setting}" PARENT_SCOPE)
  endforeach()
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${text}" PARENT_SCOPE)
  install(FILES ${udv_debian}/copyright ${udv_debian}/changelog.gz ${udv_debian}/changelog.Debian.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

set(udv_same "(= ${PROJECT_VERSION}-${UDV_DEBIAN_REVISION})")
udv_package(program udv math ""
            "udv completes matrices from some of their entries, recovers matrices and"
            "images from linear, quadratic and ptychographic measurements, and trains"
            "compact networks. It finds the rank by itself and says whether the answer"
            "is the only one. This package has the command line.")
udv_package(library libudv${udv_soversion} libs ""
            "Factorizations with a diagonal part between two bounded factors, solvers"
            "for completion, sensing, phase retrieval and ptychography, and training of"
            "low-rank networks. This package has the shared library.")
udv_package(development libudv-dev libdevel
            "libudv${udv_soversion} ${udv_same}, libeigen3-dev (>= 3.4)"
            "Headers, and files for CMake (udv::udv) and pkg-config (udv).")
udv_package(python python3-udv python
            "${udv_debian_python}, python3-numpy (>= 1:1.22)"
            "The commands of udv as functions of arrays, data frames and sparse"
            "matrices, estimators for scikit-learn and layers for PyTorch.")
udv_package(documentation udv-doc doc ""
            "Guide, commands, C++ and Python reference as one site, and examples.")
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "udv-doc, python3-udv, xdg-utils")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "udv-doc")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-scipy, python3-sklearn, python3-pandas, python3-torch")
file(WRITE ${udv_debian}/shlibs "libudv ${udv_soversion} libudv${udv_soversion} (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
    "${PROJECT_SOURCE_DIR}/packaging/debian/triggers;${udv_debian}/shlibs")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    "${PROJECT_SOURCE_DIR}/packaging/debian/postinst;${PROJECT_SOURCE_DIR}/packaging/debian/prerm")

# The site of `make docs`, where it was built, and the examples.
install(DIRECTORY build/docs/html DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/udv-doc
        COMPONENT documentation EXCLUDE_FROM_ALL)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/udv-doc
        COMPONENT documentation EXCLUDE_FROM_ALL)
include(CPack)
