// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace udv::deep {

/// A module from one tensor to one tensor whose children can be exchanged: what our own networks
/// are built of. torch::nn::Sequential keeps its modules to itself, and a member of a user's module
/// would go on pointing at the old child.
class TensorModule : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(torch::Tensor x) = 0;

  /// Puts another module in the place of a child. Throws InvalidArgument where there is no such
  /// child; modules without children have none.
  virtual void replace(const std::string& child, std::shared_ptr<TensorModule> module);

  /// Own children by name, in the order of registration.
  virtual std::vector<std::pair<std::string, std::shared_ptr<TensorModule>>> parts() const {
    return {};
  }
};

/// y = f_k(... f_1(x)), by name.
class ChainImpl : public TensorModule {
 public:
  using Part = std::pair<std::string, std::shared_ptr<TensorModule>>;

  ChainImpl() = default;
  explicit ChainImpl(const std::vector<Part>& parts);

  void push_back(const std::string& name, std::shared_ptr<TensorModule> module);
  torch::Tensor forward(torch::Tensor x) override;
  void replace(const std::string& child, std::shared_ptr<TensorModule> module) override;
  std::vector<Part> parts() const override { return parts_; }

 private:
  std::vector<Part> parts_;
};
TORCH_MODULE(Chain);

/// y = x W^T + b.
class DenseImpl : public TensorModule {
 public:
  DenseImpl(std::int64_t inputs, std::int64_t outputs, bool bias = true);
  torch::Tensor forward(torch::Tensor x) override;

  torch::Tensor weight, bias;  ///< outputs x inputs; undefined where there is none
};
TORCH_MODULE(Dense);

struct ConvolutionOptions {
  std::int64_t inputs = 1, outputs = 1, size = 3, stride = 1;
  bool bias = false;
};

/// A convolution with zeros around the picture: size / 2 of them.
class ConvolutionImpl : public TensorModule {
 public:
  explicit ConvolutionImpl(const ConvolutionOptions& options);
  torch::Tensor forward(torch::Tensor x) override;

  const ConvolutionOptions& options() const { return options_; }
  torch::Tensor weight, bias;

 private:
  ConvolutionOptions options_;
};
TORCH_MODULE(Convolution);

class Processes;

/// Batch normalisation over the channels, then ReLU where asked for. With `processes`, one learns
/// from the batches of all of them.
class NormImpl : public TensorModule {
 public:
  static constexpr double kMomentum = 0.1, kEpsilon = 1e-5;

  explicit NormImpl(std::int64_t channels, bool relu = true);
  torch::Tensor forward(torch::Tensor x) override;

  bool relu() const { return relu_; }
  torch::Tensor weight, bias, running_mean, running_var;
  std::shared_ptr<Processes> processes;

 private:
  bool relu_;
};
TORCH_MODULE(Norm);

class ReluImpl : public TensorModule {
 public:
  torch::Tensor forward(torch::Tensor x) override { return torch::relu(x); }
};
TORCH_MODULE(Relu);

/// Mean over height and width: N x C x H x W -> N x C.
class PoolImpl : public TensorModule {
 public:
  torch::Tensor forward(torch::Tensor x) override { return x.mean({2, 3}); }
};
TORCH_MODULE(Pool);

}  // namespace udv::deep
