// SPDX-License-Identifier: MIT
#include "deep/gradient_buckets.hpp"

#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>

namespace udv::deep {

using torch::Tensor;
using torch::autograd::variable_list;

namespace {

// A small first bucket starts early; larger ones have less of a delay. PyTorch's sizes.
constexpr std::int64_t kFirstBytes = std::int64_t{1} << 20, kBytes = std::int64_t{25} << 20;

// Gradients of half precision are summed in single precision.
torch::Dtype sum_type(const Tensor& values) {
  return values.element_size() < 4 ? torch::kFloat32 : values.scalar_type();
}

}  // namespace

/// The node that adds to a parameter's gradient, with our hook.
struct GradientBuckets::Watched {
  std::shared_ptr<torch::autograd::Node> node;
  std::uintptr_t key;
};

GradientBuckets::GradientBuckets(std::shared_ptr<Processes> processes,
                                 std::vector<Tensor> parameters)
    : processes_(std::move(processes)), parameters_(std::move(parameters)) {
  std::reverse(parameters_.begin(), parameters_.end());
  passes_left_.resize(parameters_.size());
  taken_.resize(parameters_.size());
  make_buckets();
  for (size_t i = 0; i < parameters_.size(); ++i) watch(i);
}

GradientBuckets::~GradientBuckets() {
  for (const Watched& watched : watched_) watched.node->del_post_hook(watched.key);
}

void GradientBuckets::make_buckets() {
  size_t begin = 0;
  while (begin < parameters_.size()) {
    const Tensor& first = parameters_[begin];
    const torch::Dtype type = sum_type(first);
    const std::int64_t most = (buckets_.empty() ? kFirstBytes : kBytes) /
                              static_cast<std::int64_t>(c10::elementSize(type));
    std::int64_t count = 0;
    size_t end = begin;
    while (end < parameters_.size() && (end == begin || count < most) &&
           sum_type(parameters_[end]) == type)
      count += parameters_[end++].numel();
    buckets_.push_back(
        {torch::zeros({count}, torch::TensorOptions(type).device(first.device())), begin, end});
    std::int64_t at = 0;
    for (size_t i = begin; i < end; ++i) {
      bucket_of_.push_back(buckets_.size() - 1);
      slots_.push_back(buckets_.back()
                           .memory.narrow(0, at, parameters_[i].numel())
                           .view(parameters_[i].sizes()));
      at += parameters_[i].numel();
    }
    begin = end;
  }
}

void GradientBuckets::watch(size_t i) {
  const auto node = torch::autograd::impl::grad_accumulator(parameters_[i]);
  const auto hook = [this, i](const variable_list& outputs, const variable_list&) {
    if (active_ && --passes_left_[i] == 0) {
      take(i);
      send_full_buckets();
    }
    return outputs;
  };
  const std::uintptr_t key =
      node->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(hook));
  watched_.push_back({node, key});
}

void GradientBuckets::start(int passes) {
  std::fill(passes_left_.begin(), passes_left_.end(), passes);
  std::fill(taken_.begin(), taken_.end(), 0);
  for (Bucket& bucket : buckets_) {
    bucket.missing = bucket.end - bucket.begin;
    bucket.wait = nullptr;
  }
  next_ = 0;
  active_ = passes > 0;
}

void GradientBuckets::take(size_t i) {
  const torch::NoGradGuard no_grad;
  const Tensor& gradient = parameters_[i].grad();
  if (gradient.defined())
    slots_[i].copy_(gradient);
  else
    slots_[i].zero_();
  taken_[i] = gradient.defined() ? 2 : 1;
  --buckets_[bucket_of_[i]].missing;
}

void GradientBuckets::send_full_buckets() {
  for (; next_ < buckets_.size() && buckets_[next_].missing == 0; ++next_)
    buckets_[next_].wait = processes_->group().start_sum(buckets_[next_].memory);
}

// Parameters that have a gradient in some process.
std::vector<bool> GradientBuckets::present_anywhere() {
  Tensor counts = torch::zeros({static_cast<std::int64_t>(taken_.size())}, torch::kInt32);
  auto* const count = counts.data_ptr<std::int32_t>();
  for (size_t i = 0; i < taken_.size(); ++i) count[i] = taken_[i] == 2;
  processes_->group().sum(counts);
  std::vector<bool> present;
  for (size_t i = 0; i < taken_.size(); ++i) present.push_back(count[i] > 0);
  return present;
}

void GradientBuckets::finish() {
  active_ = false;
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (taken_[i] == 0) take(i);
  send_full_buckets();
  const std::vector<bool> present = present_anywhere();
  for (const Bucket& bucket : buckets_) bucket.wait();
  for (size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i].mutable_grad() = present[i] ? slots_[i] : Tensor();
}

}  // namespace udv::deep
