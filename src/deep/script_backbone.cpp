// SPDX-License-Identifier: MIT
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include <sstream>

#include "core/require.hpp"
#include "deep/feature_network.hpp"
#include "deep/script_file.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;

// TorchScript's messages end with the reason, after lines of code.
std::string last_words(const std::string& text) {
  std::istringstream lines(text);
  std::string found;
  for (std::string line; std::getline(lines, line) && !line.starts_with("Exception raised");)
    if (line.find("Error: ") != line.npos) found = line;
  return found.empty() ? text.substr(0, text.find('\n')) : found;
}

// Values of half precision where the type asks for it; normalisations keep theirs.
void set_type(torch::jit::Module& script, torch::Dtype type) {
  if (type == torch::kFloat32) return;
  for (torch::jit::Module part : script.modules()) {
    if (part.hasattr("running_mean")) continue;
    for (Tensor values : part.parameters(false)) values.set_data(values.to(type));
    for (Tensor values : part.buffers(false))
      if (values.is_floating_point()) values.set_data(values.to(type));
  }
}

template <typename List>
Tensors to_tensors(const List& list) {
  Tensors all;
  for (const Tensor& values : list) all.push_back(values);
  return all;
}

class ScriptBackbone : public FeatureNetwork {
 public:
  ScriptBackbone(const FinetuneOptions& options, const DeviceAndType& where)
      : name_(options.backbone),
        fuse_(options.fuse),
        script_(load_script(options.backbone, where.device)) {
    set_type(script_, where.type);
    script_.eval();
    check(options.image_size, where);
  }

  Tensor forward(const Tensor& x) override {
    const torch::jit::GraphOptimizerEnabledGuard rewriting(fuse_);
    return script_.forward({x}).toTensor().to(torch::kFloat32);
  }
  Tensors parameters() const override { return to_tensors(script_.parameters()); }
  Tensors buffers() const override { return to_tensors(script_.buffers()); }
  void set_training(bool on) override { script_.train(on); }
  Index channels() const override { return 3; }
  Index num_features() const override { return num_features_; }

  void save(const std::string& path, const Tensors& parameters) const override {
    const torch::NoGradGuard no_grad;
    torch::jit::Module copy = script_.deepcopy();
    copy.to(torch::kFloat32);
    copy.to(torch::kCPU);
    copy.eval();
    size_t i = 0;
    for (Tensor values : copy.parameters())
      values.set_data(parameters[i++]
                          .detach()
                          .to(torch::kCPU, torch::kFloat32)
                          .clone(at::MemoryFormat::Contiguous));
    save_script(copy, path);
  }

 private:
  // Two pictures in, two rows of features out.
  void check(Index size, const DeviceAndType& where) {
    const torch::NoGradGuard no_grad;
    const torch::jit::IValue value = answer(
        torch::zeros({2, 3, size, size}, torch::TensorOptions(where.type).device(where.device)));
    require<IoError>(value.isTensor(), name_, ": its output is no tensor, N x d features expected");
    const Tensor& out = value.toTensor();
    std::ostringstream shape;
    shape << out.sizes();
    require<IoError>(out.dim() == 2 && out.size(0) == 2 && out.size(1) > 0, name_,
                     ": output of shape ", shape.str(),
                     " for 2 pictures found, N x d features expected");
    num_features_ = out.size(1);
  }

  torch::jit::IValue answer(const Tensor& pictures) {
    const torch::jit::GraphOptimizerEnabledGuard rewriting(false);
    try {
      return script_.forward({pictures});
    } catch (const std::exception& error) {
      throw IoError(message(name_, ": does not take pictures of 3 x ", pictures.size(2), " x ",
                            pictures.size(3), ": ", last_words(error.what())));
    }
  }

  std::string name_;
  bool fuse_;
  torch::jit::Module script_;
  Index num_features_ = 0;
};

}  // namespace

std::unique_ptr<FeatureNetwork> script_backbone(const FinetuneOptions& options,
                                                const DeviceAndType& where) {
  return std::make_unique<ScriptBackbone>(options, where);
}

}  // namespace udv::deep
