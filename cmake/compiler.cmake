# SPDX-License-Identifier: MIT
# Flags for our own targets; nothing here leaks to a consumer of the installed package.
add_library(udv_compiler INTERFACE)
target_compile_options(udv_compiler INTERFACE -Wall -Wextra -Wpedantic -Wno-psabi
                                              -fopenmp-simd)
if(UDV_WARNINGS_AS_ERRORS)
  target_compile_options(udv_compiler INTERFACE -Werror)
endif()
if(UDV_NATIVE)
  # GCC 12 takes its own AVX-512 intrinsics for uses of uninitialised values (bug 105593).
  target_compile_options(udv_compiler INTERFACE -march=native -Wno-uninitialized
                                                -Wno-maybe-uninitialized)
endif()
if(UDV_SANITIZE)
  target_compile_options(udv_compiler INTERFACE -fsanitize=${UDV_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all)
  target_link_options(udv_compiler INTERFACE -fsanitize=${UDV_SANITIZE})
endif()
