// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "udv/net/optimizer.hpp"

namespace udv::deep {

class UDVLinearImpl;

/// What the steps of a parameter are measured by: 1 for the learning rate as it is.
struct StepMeasure {
  enum Kind {
    kPlain,    ///< every entry moves by about the plain rate
    kEntries,  ///< rate / sqrt(entries): a full step of so many entries has the norm `rate`
    kMean,     ///< rate mean|p|, p before the step
  };
  Kind kind = kPlain;
  double entries = 1;
};

/// The optimizers of net (adam, nadam, mbgd, mbgdm, adamw: the steps of PyTorch 2) on tensors, with
/// a state of their own: LibTorch 1.13 has no NAdam, and its states differ from those of 2.x.
/// Parameters of half precision get a copy in single precision that the steps are made on. One call
/// of each _foreach operation works on all parameters of one device and type.
///
/// relative: Adam with epsilon 1e-12 whose steps are measured by what they change. A matrix in a
/// ball of radius 1 has entries of the size 1 / sqrt(entries), and Adam moves every entry by the
/// rate; with lr / sqrt(entries) for U and V and lr mean(w) for w one rate serves every width.
class Optimizer {
 public:
  /// Throws InvalidArgument that lists the known names. `measures` are for relative, one for each
  /// parameter; none: all are plain.
  Optimizer(std::vector<torch::Tensor> parameters, const std::string& name,
            const net::OptimizerSettings& settings = {}, std::vector<StepMeasure> measures = {});

  /// A step with the gradients of the parameters; one without a gradient stays where it is. With
  /// relative, parameters without a measure move by the plain rate.
  void step(double rate) { step(rate, rate); }
  void step(double rate, double plain_rate);
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
  std::string name_;  // of net's rule
  net::OptimizerSettings settings_;
  std::vector<StepMeasure> measures_;  // of relative
  Index steps_ = 0;
  double mu_product_ = 1;
};

/// The rate of relative steps that was measured to fall with the number of them: factor /
/// sqrt(steps), and at most 0.3 of a ball in one step, however few there are.
double relative_rate(double factor, Index steps);

/// The measures of the arrays of a block, in their order: U and V by the entries of their balls, w
/// by its mean, all others plain.
std::vector<StepMeasure> step_measures(const UDVLinearImpl& block);

}  // namespace udv::deep
