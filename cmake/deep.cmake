# SPDX-License-Identifier: MIT
# Sets UDV_WITH_DEEP. Sanitizers see LibTorch's own doings, so the component is left out there.
set(UDV_WITH_DEEP FALSE)
if(UDV_BUILD_DEEP AND NOT UDV_SANITIZE)
  include(cmake/torch.cmake)
  include(cmake/cuda_kernels.cmake)
  include(cmake/c10d.cmake)
  if(UDV_TORCH_FOUND)
    set(UDV_WITH_DEEP TRUE)
  elseif(NOT UDV_BUILD_DEEP STREQUAL "AUTO")
    message(FATAL_ERROR "UDV_BUILD_DEEP is ${UDV_BUILD_DEEP}, but LibTorch (Debian: libtorch-dev) "
                        "is not there")
  endif()
endif()
