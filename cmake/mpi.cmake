# SPDX-License-Identifier: MIT
# Sets UDV_WITH_MPI. The component is a module of its own: neither library nor program link MPI.
set(UDV_WITH_MPI FALSE)
if(UDV_BUILD_MPI AND UDV_BUILD_CLI AND NOT UDV_SANITIZE)
  set(MPI_CXX_SKIP_MPICXX ON)
  if(UDV_BUILD_MPI STREQUAL "AUTO")
    find_package(MPI QUIET COMPONENTS CXX)
  else()
    find_package(MPI REQUIRED COMPONENTS CXX)
  endif()
  set(UDV_WITH_MPI ${MPI_CXX_FOUND})
endif()
