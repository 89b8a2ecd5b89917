// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>

#include "udv/deep/processes.hpp"

namespace udv::deep {

/// Collective operations on tensors, in place: by gloo in the memory of the machine, by NCCL on a
/// GPU. Tensors are contiguous and of one shape in all processes.
class Processes::Group {
 public:
  Group(const ProcessInfo& info, double timeout);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// The sum over all processes, the same bits in each.
  void sum(const torch::Tensor& values);
  /// Waits for the sum that was started; on a GPU, its stream does.
  using Wait = std::function<void()>;
  /// Starts the sum and returns.
  Wait start_sum(const torch::Tensor& values);
  /// The values of rank 0.
  void broadcast(const torch::Tensor& values);
  /// True in the first process that asks, and where rank 0 cannot be asked.
  bool is_first_to_ask();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The rows of all processes below each other; each has those of its share of `rows`.
torch::Tensor gather_rows(Processes& processes, const torch::Tensor& part, Index rows);

/// Arrays of rank 0 in place of those given.
void take_from_first(Processes& processes, std::vector<torch::Tensor>& arrays);

}  // namespace udv::deep
