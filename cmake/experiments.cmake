# SPDX-License-Identifier: MIT
# The experiments as text inside the library, by name.
file(GLOB experiment_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/experiments/*.toml)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${experiment_files})
set(UDV_EXPERIMENTS "")
foreach(file ${experiment_files})
  get_filename_component(name ${file} NAME_WLE)
  file(READ ${file} text)
  string(APPEND UDV_EXPERIMENTS "      {\"${name}\", R\"udv(${text})udv\"},\n")
endforeach()
configure_file(jobs/experiments.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/experiments.cpp @ONLY)
