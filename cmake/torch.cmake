# SPDX-License-Identifier: MIT
# LibTorch as one imported target, udv_torch: Debian's libtorch-dev, or the one in a PyTorch wheel with
# -DCMAKE_PREFIX_PATH=$(python3 -c "import torch; print(torch.utils.cmake_prefix_path)"). Torch's own package file stops the
# configuration where CUDA's compiler is missing, which nothing here needs, so the files are looked for by name.
set(udv_torch_hints)
foreach(prefix ${CMAKE_PREFIX_PATH})
  list(APPEND udv_torch_hints ${prefix}/../.. ${prefix})  # a wheel's prefix is torch/share/cmake
endforeach()
find_path(UDV_TORCH_INCLUDE torch/script.h HINTS ${udv_torch_hints} PATH_SUFFIXES include)
find_path(UDV_TORCH_API torch/torch.h HINTS ${UDV_TORCH_INCLUDE}/torch/csrc/api/include NO_DEFAULT_PATH)
set(udv_torch_missing FALSE)
foreach(name torch torch_cpu c10)
  find_library(UDV_TORCH_${name} ${name} HINTS ${UDV_TORCH_INCLUDE}/../lib)
  if(NOT UDV_TORCH_${name})
    set(udv_torch_missing TRUE)
  endif()
endforeach()
foreach(name torch_cuda c10_cuda)
  find_library(UDV_TORCH_${name} ${name} HINTS ${UDV_TORCH_INCLUDE}/../lib)
endforeach()

if(UDV_TORCH_INCLUDE AND UDV_TORCH_API AND NOT udv_torch_missing)
  set(UDV_TORCH_FOUND TRUE)
  if(NOT TARGET udv_torch)
    add_library(udv_torch INTERFACE IMPORTED)
    # System folders: their warnings are not ours.
    set_target_properties(udv_torch PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES
                          "${UDV_TORCH_INCLUDE};${UDV_TORCH_API}")
    target_include_directories(udv_torch INTERFACE ${UDV_TORCH_INCLUDE} ${UDV_TORCH_API})
    # The CUDA part registers itself when it is loaded; no symbol of it is named.
    target_link_libraries(udv_torch INTERFACE -Wl,--no-as-needed)
    foreach(name torch torch_cpu c10 torch_cuda c10_cuda)
      if(UDV_TORCH_${name})
        target_link_libraries(udv_torch INTERFACE ${UDV_TORCH_${name}})
      endif()
    endforeach()
    # What these need in turn (CUDA's libraries, in folders of the wheel) is found when they are loaded.
    target_link_libraries(udv_torch INTERFACE -Wl,--as-needed -Wl,--allow-shlib-undefined)
  endif()
else()
  set(UDV_TORCH_FOUND FALSE)
endif()
