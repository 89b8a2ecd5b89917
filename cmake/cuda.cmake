# SPDX-License-Identifier: MIT
# Sets UDV_WITH_CUDA: the component cuda, the module that `--device cuda` loads at run time, is built.
set(UDV_BUILD_CUDA AUTO CACHE STRING "The component cuda: ON, OFF, or AUTO where CUDA's compiler is there")
set(UDV_WITH_CUDA FALSE)
if(UDV_BUILD_CUDA)
  find_program(UDV_NVCC nvcc HINTS ENV CUDACXX /usr/local/cuda/bin)
  if(UDV_NVCC)
    set(CMAKE_CUDA_COMPILER ${UDV_NVCC} CACHE FILEPATH "CUDA's compiler")
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90)  # A100; H100, H200 and, compiled when loaded, what comes after
    endif()
    enable_language(CUDA)
    set(UDV_WITH_CUDA TRUE)
  elseif(NOT UDV_BUILD_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "The component cuda needs CUDA's compiler nvcc, which is not there")
  endif()
endif()
