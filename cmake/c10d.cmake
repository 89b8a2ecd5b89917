# SPDX-License-Identifier: MIT
# Sets UDV_WITH_C10D: LibTorch has gloo inside, and gloo's headers are there (Debian: libgloo-dev; else -DUDV_GLOO_INCLUDE=FOLDER).
# Sets UDV_WITH_NCCL: it has NCCL inside, and NCCL's and CUDA's headers are there (a wheel: nvidia/nccl/include).
# Without them the component trains in one process and says so where it is asked for more.
include(CheckCXXSourceCompiles)
set(UDV_WITH_C10D FALSE)
set(UDV_WITH_NCCL FALSE)

function(udv_check_group name backend folders)
  set(CMAKE_REQUIRED_INCLUDES ${UDV_TORCH_INCLUDE} ${UDV_TORCH_API} ${folders})
  set(CMAKE_REQUIRED_FLAGS "-std=c++20 -w")
  set(CMAKE_REQUIRED_LIBRARIES udv_torch)
  check_cxx_source_compiles("
    #define USE_C10D_${backend}
    #include <torch/csrc/distributed/c10d/TCPStore.hpp>
    #include <torch/csrc/distributed/c10d/ProcessGroup${name}.hpp>
    int main() {
      c10::make_intrusive<c10d::ProcessGroup${name}>(
          c10::make_intrusive<c10d::TCPStore>(\"\"), 0, 1, c10d::ProcessGroup${name}::Options::create());
    }" UDV_HAS_${backend})
endfunction()

if(UDV_TORCH_FOUND)
  find_path(UDV_GLOO_INCLUDE gloo/context.h HINTS ${UDV_TORCH_INCLUDE})
  if(UDV_GLOO_INCLUDE)
    udv_check_group(Gloo GLOO "${UDV_GLOO_INCLUDE}")
    set(UDV_WITH_C10D ${UDV_HAS_GLOO})
  else()
    message(STATUS "gloo's headers are not there: udv finetune and udv lora train in one process")
  endif()
  if(UDV_WITH_C10D AND UDV_WITH_CUDA_KERNELS)
    find_path(UDV_NCCL_INCLUDE nccl.h HINTS ${UDV_TORCH_INCLUDE}/../../nvidia/nccl/include)
    if(UDV_NCCL_INCLUDE)
      udv_check_group(NCCL NCCL "${UDV_NCCL_INCLUDE};${CUDAToolkit_INCLUDE_DIRS}")
      set(UDV_WITH_NCCL ${UDV_HAS_NCCL})
    endif()
  endif()
endif()
