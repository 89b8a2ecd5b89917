// SPDX-License-Identifier: MIT
#include "deep/learner.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;

Tensors learning(Tensors parameters, bool channels_last) {
  for (Tensor& values : parameters) {
    if (channels_last && values.dim() == 4)
      values.set_data(values.contiguous(at::MemoryFormat::ChannelsLast));
    values.requires_grad_(true);
  }
  return parameters;
}

Projector projector_of(const Classifier& classifier) {
  auto blocks = classifier.network().udv_modules();
  blocks.insert(blocks.begin(), classifier.head());
  return Projector(blocks);
}

Optimizer rule_of(const Classifier& classifier, const Tensors& parameters) {
  const net::TrainOptions& o = classifier.options().training;
  return {parameters, o.optimizer, o.rule};
}

}  // namespace

// The projector moves the arrays of blocks, so it comes before the rules.
Learner::Learner(const Classifier& classifier)
    : classifier_(classifier),
      network_parameters_(
          learning(classifier.network().parameters(), classifier.device().is_cuda())),
      projector_(projector_of(classifier)),
      head_rule_(rule_of(classifier, classifier.head()->parameters())),
      network_rule_(rule_of(classifier, network_parameters_)) {
  projector_.project();
}

Tensor Learner::step(Index begin, Index end, double rate) {
  const FinetuneOptions& o = classifier_.options();
  torch::manual_seed(o.training.seed * 1000003 +
                     static_cast<std::uint64_t>(steps()));  // dropout in the backbone
  const auto [x, labels] = classifier_.training().training(begin, end);
  const Tensor loss = torch::cross_entropy_loss(
      classifier_.head()->forward(classifier_.network().forward(x)), labels);
  head_rule_.zero_grad();
  network_rule_.zero_grad();
  loss.backward();
  if (o.clip > 0) network_rule_.clip_gradients(o.clip);
  const double share = o.backbone_rate > 0 ? o.backbone_rate / o.training.learning_rate : 1;
  head_rule_.step(rate);
  network_rule_.step(rate * share);
  projector_.project();
  return loss.detach();
}

Tensors Learner::network_values() const {
  Tensors all;
  for (size_t i = 0; i < network_parameters_.size(); ++i) all.push_back(network_rule_.master(i));
  return all;
}

Tensors Learner::state() const {
  Tensors all = classifier_.network().buffers();
  for (const Optimizer* rule : {&head_rule_, &network_rule_})
    for (const Tensor& values : rule->state()) all.push_back(values);
  return all;
}

void Learner::load_state(const Tensors& state) {
  const torch::NoGradGuard no_grad;
  auto take = [at = state.begin()](size_t count) mutable {
    const auto begin = at;
    return Tensors(begin, at += static_cast<std::ptrdiff_t>(count));
  };
  const Tensors buffers = classifier_.network().buffers(), loaded = take(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) buffers[i].detach().copy_(loaded[i]);
  for (Optimizer* rule : {&head_rule_, &network_rule_})
    rule->load_state(take(rule->state().size()));
}

}  // namespace udv::deep
