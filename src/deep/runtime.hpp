// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include <string>

#include "core/require.hpp"
#include "udv/deep/placement.hpp"

namespace udv::deep {

/// "cpu" or "cuda"; of several processes on a machine, each has a GPU of its own. Throws IoError
/// where there is no such device.
torch::Device device_of(const Placement& placement);

/// "single", "bf16", or "auto": bf16 on a GPU.
torch::Dtype type_named(const std::string& name, const torch::Device& device);

/// LibTorch multiplies with all threads for one scope, and OpenBLAS with one afterwards, as net
/// wants it.
class BlasThreads {
 public:
  BlasThreads() { use_all(); }
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

  static void use_all();
};

/// Most bytes that were taken at a time: of the GPU by LibTorch, or of the machine by the process.
double peak_memory(const torch::Device& device);

std::string first_line(const c10::Error& error);

/// What LibTorch throws, as one line.
template <typename Action>
auto guarded(const std::string& name, const Action& action) {
  try {
    return action();
  } catch (const c10::Error& error) {
    throw IoError(message(name, ": ", first_line(error)));
  }
}

}  // namespace udv::deep
