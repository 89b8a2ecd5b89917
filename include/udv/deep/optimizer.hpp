// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "udv/net/optimizer.hpp"

namespace udv::deep {

/// The optimizers of net (adam, nadam, mbgd, mbgdm, adamw: the steps of PyTorch 2) on tensors, with
/// a state of their own: LibTorch 1.13 has no NAdam, and its states differ from those of 2.x.
/// Parameters of half precision get a copy in single precision that the steps are made on. One call
/// of each _foreach operation works on all parameters of one device and type.
class Optimizer {
 public:
  /// Throws InvalidArgument that lists the known names.
  Optimizer(std::vector<torch::Tensor> parameters, const std::string& name,
            const net::OptimizerSettings& settings = {});

  /// A step with the gradients of the parameters; one without a gradient stays where it is.
  void step(double rate);
  void zero_grad();

  /// Divides all gradients by |g| / limit where that is above 1, without waiting for the device.
  void clip_gradients(double limit);

  /// What steps are made on: parameter i, or its single precision copy.
  torch::Tensor master(size_t i) const;

  Index steps() const { return steps_; }
  /// Steps, nadam's product, then parameters (or their copies) and moments: what an exact
  /// continuation needs.
  std::vector<torch::Tensor> state() const;
  /// Throws InvalidArgument where counts or shapes differ.
  void load_state(const std::vector<torch::Tensor>& state);

 private:
  void publish();

  std::vector<torch::Tensor> parameters_, copies_;
  std::vector<std::vector<torch::Tensor>> moments_;
  std::string name_;
  net::OptimizerSettings settings_;
  Index steps_ = 0;
  double mu_product_ = 1;
};

}  // namespace udv::deep
