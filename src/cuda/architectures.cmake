# SPDX-License-Identifier: MIT
# Before CUDA is enabled: CMake's own default is too old for copies that run beside the sums (cp.async).
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90)  # A100; H100, H200 and, compiled when loaded, what comes after
endif()
