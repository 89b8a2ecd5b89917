// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "deep/process_group.hpp"

namespace udv::deep {

/// Sums the gradients of all processes while the backward pass runs. Parameters share buckets, the
/// last one first, as their gradients come; a bucket is summed as soon as it and those before it
/// are full, so that all processes sum in one order.
///
/// Not c10d's Reducer: that takes one backward pass for a step, and here a step has many (parts of
/// a batch, layers that are computed twice), or none where a process has no share of a batch.
class GradientBuckets {
 public:
  GradientBuckets(std::shared_ptr<Processes> processes, std::vector<torch::Tensor> parameters);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  /// Before the backward passes of a step: so many add to every gradient.
  void start(int passes = 1);
  /// After them: gradients are the sums. A parameter that has none in any process keeps none.
  void finish();

 private:
  struct Bucket {
    torch::Tensor memory;  // all gradients, one after the other
    size_t begin, end;     // of the parameters
    size_t missing = 0;    // gradients that are still to come
    Processes::Group::Wait wait = {};
  };

  void make_buckets();
  void watch(size_t i);
  void take(size_t i);
  void send_full_buckets();
  std::vector<bool> present_anywhere();

  std::shared_ptr<Processes> processes_;
  std::vector<torch::Tensor> parameters_;  // in the order of the buckets
  std::vector<torch::Tensor> slots_;       // parts of the memory, shaped as the parameters
  std::vector<size_t> bucket_of_;
  std::vector<int> passes_left_;
  std::vector<char> taken_;
  std::vector<Bucket> buckets_;
  size_t next_ = 0;  // the first bucket that was not sent
  bool active_ = false;

  struct Watched;
  std::vector<Watched> watched_;
};

}  // namespace udv::deep
