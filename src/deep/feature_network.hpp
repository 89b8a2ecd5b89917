// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

#include "udv/deep/finetune.hpp"
#include "udv/deep/udv_linear.hpp"

namespace udv::deep {

using Tensors = std::vector<torch::Tensor>;

/// The device of a network and the type of its numbers; normalisations keep single precision.
struct DeviceAndType {
  torch::Device device = torch::kCPU;
  torch::Dtype type = torch::kFloat32;
};

/// The network before the head, pictures to features: a TorchScript backbone or the built-in
/// network. What only one of them can do throws InvalidArgument in the other.
class FeatureNetwork {
 public:
  virtual ~FeatureNetwork() = default;

  /// N x C x H x W pictures to N x d features of single precision.
  virtual torch::Tensor forward(const torch::Tensor& x) = 0;
  virtual Tensors parameters() const = 0;
  virtual Tensors buffers() const = 0;
  virtual void set_training(bool on) = 0;
  virtual Index channels() const = 0;
  virtual Index num_features() const = 0;

  /// Batch normalisations see the pictures of all processes.
  virtual bool normalises_together() const { return false; }
  virtual std::vector<std::shared_ptr<UDVLinearImpl>> udv_modules() const { return {}; }
  virtual std::vector<BlockInfo> blocks() const { return {}; }
  /// Names and shapes with these values of the parameters; a backbone gives none.
  virtual std::vector<NamedArray> arrays(const Tensors&) const { return {}; }
  virtual void load(const std::vector<NamedArray>& arrays, const std::vector<BlockInfo>& blocks);
  /// Writes a TorchScript file with these values of the parameters.
  virtual void save(const std::string& path, const Tensors& parameters) const;
};

/// Throws IoError where the backbone cannot be read, or is none.
std::unique_ptr<FeatureNetwork> make_feature_network(const FinetuneOptions& options, Index channels,
                                                     const DeviceAndType& where);

/// The two kinds.
std::unique_ptr<FeatureNetwork> script_backbone(const FinetuneOptions& options,
                                                const DeviceAndType& where);
std::unique_ptr<FeatureNetwork> built_in_network(const FinetuneOptions& options, Index channels,
                                                 const DeviceAndType& where);

}  // namespace udv::deep
