# SPDX-License-Identifier: MIT
# Sets UDV_WITH_CUDA_KERNELS: LibTorch has its CUDA part and CUDA's compiler is there. Without them the same functions run through
# LibTorch's kernels.
option(UDV_CUDA_KERNELS "Compile own CUDA kernels where LibTorch and the machine have CUDA" ON)
set(UDV_WITH_CUDA_KERNELS FALSE)
if(UDV_CUDA_KERNELS AND UDV_TORCH_torch_cuda)
  find_program(UDV_NVCC nvcc HINTS ENV CUDACXX /usr/local/cuda/bin)
  if(UDV_NVCC)
    set(CMAKE_CUDA_COMPILER ${UDV_NVCC} CACHE FILEPATH "CUDA's compiler")
    set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER} CACHE FILEPATH "What it compiles the rest with")
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES native)
    endif()
    enable_language(CUDA)
    # What its host compiler links is not ours: LibTorch and the program share one libstdc++.
    set(CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES "")
    set(CMAKE_CUDA_IMPLICIT_LINK_LIBRARIES "")
    set(CMAKE_CUDA_RUNTIME_LIBRARY None)
    find_package(CUDAToolkit REQUIRED)
    set(UDV_WITH_CUDA_KERNELS TRUE)
  else()
    message(STATUS "CUDA's compiler is not there: LibTorch's kernels do the work")
  endif()
endif()
