# SPDX-License-Identifier: MIT
# Flags for our own targets; nothing here leaks to a consumer of the installed package.
add_library(udv_compiler INTERFACE)
target_compile_options(udv_compiler INTERFACE -Wall -Wextra -Wpedantic -Wno-psabi
                                              -fopenmp-simd)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Templates fill the compiler's memory, and it looks for garbage that is not there: up to a tenth of the time.
  target_compile_options(udv_compiler INTERFACE --param=ggc-min-expand=1000 --param=ggc-min-heapsize=2000000)
endif()
if(UDV_WARNINGS_AS_ERRORS)
  target_compile_options(udv_compiler INTERFACE -Werror)
endif()
if(UDV_NATIVE)
  # GCC 12 takes its own AVX-512 intrinsics for uses of uninitialised values (bug 105593), and its own
  # copies of short strings in wide registers for copies beyond their end.
  target_compile_options(udv_compiler INTERFACE -march=native -Wno-uninitialized
                                                -Wno-maybe-uninitialized -Wno-array-bounds
                                                -Wno-stringop-overflow -Wno-stringop-overread)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT UDV_SANITIZE)
  # The kernels are compiled for several processors, and choose among them at run time.
  target_compile_definitions(udv_compiler INTERFACE UDV_CLONE_KERNELS)
endif()
if(UDV_SANITIZE)
  target_compile_options(udv_compiler INTERFACE -fsanitize=${UDV_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all)
  target_link_options(udv_compiler INTERFACE -fsanitize=${UDV_SANITIZE})
  if(UDV_SANITIZE MATCHES "undefined")
    # Eigen loads a complex<float>, two floats, as one double: harmless, and in all of its code for single precision.
    target_compile_options(udv_compiler INTERFACE -fno-sanitize=alignment)
  endif()
endif()

# Headers that most sources include, compiled once. ccache knows nothing inside of a precompiled header, so where it is
# at work the sources are compiled as they are.
option(UDV_PRECOMPILE "Precompile common headers where ccache is not at work" ON)
set(udv_common_headers <Eigen/Core> <algorithm> <chrono> <cmath> <complex> <cstdint> <filesystem>
    <fstream> <functional> <map> <memory> <numeric> <optional> <span> <sstream> <string>
    <string_view> <tuple> <utility> <variant> <vector>)

# udv_precompile(TARGET OWNER [HEADERS...]): the owner itself compiles the common headers and these; other targets
# borrow them. They must be compiled alike: position independent and
# with the visibility of the library.
function(udv_precompile target owner)
  if(NOT UDV_PRECOMPILE OR CMAKE_EXPORT_COMPILE_COMMANDS OR CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    return()
  endif()
  target_compile_options(${target} PRIVATE -fPIC)
  get_target_property(visibility ${owner} CXX_VISIBILITY_PRESET)
  if(visibility)
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET ${visibility}
                                               VISIBILITY_INLINES_HIDDEN ON)
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${udv_common_headers} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

option(UDV_TOGETHER "Compile small sources together; OFF is quicker while single files are edited" ON)
if(CMAKE_EXPORT_COMPILE_COMMANDS)  # tools want every source by itself
  set(UDV_TOGETHER OFF)
endif()
if(UDV_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A source among others looks like a header, in which unnamed namespaces would be a mistake.
  target_compile_options(udv_compiler INTERFACE -Wno-subobject-linkage)
endif()

# udv_compile_quickly(TARGET): code that waits for files, people and other code, not for its own loops.
function(udv_compile_quickly target)
  target_compile_options(${target} PRIVATE
                         $<$<CONFIG:Release>:-O1 -finline-functions -finline-small-functions>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${UDV_TOGETHER} UNITY_BUILD_MODE GROUP
                                             UNITY_BUILD_CODE_AFTER_INCLUDE "#undef UDV_INSTANTIATE")
endfunction()

# udv_together(GROUP SOURCES... PATTERN): those of the sources that match are compiled as one, which takes a third to a
# half of the time: most of it goes to headers and templates. Names in their unnamed namespaces must differ. Not for loops
# that are optimised: there it saves nothing, and what is inlined decides the last bits.
function(udv_together group)
  list(POP_BACK ARGN pattern)
  list(FILTER ARGN INCLUDE REGEX "${pattern}")
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
endfunction()

# udv_batches(TARGET SIZE): every SIZE sources of the target are compiled as one.
function(udv_batches target size)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${UDV_TOGETHER} UNITY_BUILD_MODE BATCH
                                             UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

# udv_link_first(TARGET [LIBRARY]): functions of Eigen that the program and the library both compile are those of the library. The
# linker takes the first it meets, and flags decide the last bits: the command and the Python package give the same.
function(udv_link_first target)
  list(POP_FRONT ARGN library)
  if(NOT library)
    set(library udv)
  endif()
  get_target_property(type ${library} TYPE)
  if(type STREQUAL "STATIC_LIBRARY" AND NOT UDV_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--whole-archive $<TARGET_FILE:${library}>
                                          -Wl,--no-whole-archive)
  endif()
endfunction()
