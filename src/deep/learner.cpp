// SPDX-License-Identifier: MIT
#include "deep/learner.hpp"

#include <cmath>

#include "deep/start_weight.hpp"

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

// Of arrays of blocks; other parameters move by the plain rate.
std::vector<StepMeasure> measures_of(const Classifier& classifier, const Tensors& parameters) {
  auto blocks = classifier.network().udv_modules();
  blocks.push_back(classifier.head());
  std::vector<StepMeasure> all(parameters.size());
  for (const auto& block : blocks) {
    const std::vector<StepMeasure> measures = step_measures(*block);
    for (size_t a = 0; a < measures.size(); ++a)
      for (size_t i = 0; i < parameters.size(); ++i)
        if (parameters[i].is_same(block->arrays()[a].values)) all[i] = measures[a];
  }
  return all;
}

Optimizer rule_of(const Classifier& classifier, const Tensors& parameters) {
  const net::TrainOptions& o = classifier.options().training;
  if (o.optimizer != "relative") return {parameters, o.optimizer, o.rule};
  return {parameters, o.optimizer, o.rule, measures_of(classifier, parameters)};
}

constexpr std::uint64_t kSeedsOfRank = std::uint64_t{1} << 48;
constexpr Index kStartPictures = 2048, kStartPiece = 256;

// L0 / ||G0||_2 of outputs that are 0; 1 where the gradient says nothing.
double first_weight(const Classifier& classifier) {
  ImageBatches& pictures = classifier.training();
  pictures.start_epoch(classifier.options().training.seed, 0);
  classifier.network().set_training(false);
  const Index count = std::min(kStartPictures, pictures.size());
  const Index classes = classifier.head()->options().outputs;
  const double c = static_cast<double>(classes);
  Tensor G;  // sum of (1/c - y) h^T
  for (Index at = 0; at < count; at += kStartPiece) {
    const auto [x, labels] = pictures.training(at, std::min(count, at + kStartPiece));
    const Tensor h = classifier.network().forward(x);
    const Tensor slopes = 1 / c - torch::one_hot(labels, classes).to(h.scalar_type());
    const Tensor part = torch::matmul(slopes.t(), h);
    G = G.defined() ? G + part : part;
  }
  const double weight = std::log(c) * static_cast<double>(count) / spectral_norm(G);
  return std::isfinite(weight) && weight > 0 ? weight : 1;
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
  if (classifier.processes() == nullptr) return;
  Tensors all = network_parameters_;
  for (const Tensor& values : classifier.head()->parameters()) all.push_back(values);
  buckets_ = std::make_unique<GradientBuckets>(classifier.options().placement.processes, all);
}

void Learner::start() {
  const FinetuneOptions& o = classifier_.options();
  if (o.training.optimizer != "relative" || !classifier_.has_fresh_head()) return;
  const torch::NoGradGuard no_grad;
  const net::Variant& variant = classifier_.head()->variant();
  double weight = first_weight(classifier_);
  if (variant.has(net::LayerKind::kRelu)) weight *= 2;
  for (const UDVLinearImpl::Array& array : classifier_.head()->arrays()) {
    const Tensor values = array.values.detach();
    const bool neurons = array.block.constraint == net::Constraint::kNeuronBalls;
    if (array.block.constraint == net::Constraint::kBall) values.div_(values.norm());
    if (neurons) values.mul_(1e3);  // the projection puts them onto their spheres
    if (neurons && !array.block.is_bias && array.block.neurons == net::Neurons::kRows)
      weight /= static_cast<double>(array.block.rows);
  }
  if (const Tensor* const w = classifier_.head()->find("D.weight")) w->detach().fill_(weight);
  projector_.project();
}

void Learner::take_state_of_first() {
  if (classifier_.processes() == nullptr) return;
  Tensors all = state();
  take_from_first(*classifier_.processes(), all);
  load_state(all);
}

Tensor Learner::mean_loss(Index begin, Index end) {
  const auto [x, labels] = classifier_.training().training(begin, end);
  const Tensor loss = torch::cross_entropy_loss(
      classifier_.head()->forward(classifier_.network().forward(x)), labels);
  loss.backward();
  return loss.detach();
}

// Every process has the sum over its pictures divided by the number of all; a process without
// pictures takes part where the network normalises over all of them.
Tensor Learner::mean_loss_of_all(Processes& processes, Index begin, Index end) {
  const auto [first, last] = processes.share(begin, end);
  Tensor sum = torch::zeros({}, torch::TensorOptions(torch::kFloat32).device(classifier_.device()));
  const bool takes_part = first < last || classifier_.network().normalises_together();
  buckets_->start(takes_part ? 1 : 0);
  if (takes_part) {
    const auto [x, labels] = classifier_.training().training(first, last);
    const Tensor loss =
        torch::cross_entropy_loss(classifier_.head()->forward(classifier_.network().forward(x)),
                                  labels, {}, at::Reduction::Sum) /
        static_cast<double>(end - begin);
    loss.backward();
    sum.copy_(loss.detach());
  }
  buckets_->finish();
  processes.group().sum(sum);
  if (!classifier_.network().normalises_together()) average_buffers(processes);
  return sum;
}

// Backbones normalise over the pictures of one process; their running means are those of all.
void Learner::average_buffers(Processes& processes) {
  const torch::NoGradGuard no_grad;
  for (const Tensor& buffer : classifier_.network().buffers()) {
    if (!buffer.is_floating_point()) continue;
    const Tensor mean = buffer.detach().to(torch::kFloat32, false, true).contiguous();
    processes.group().sum(mean.div_(processes.size()));
    buffer.detach().copy_(mean);
  }
}

Tensor Learner::step(Index begin, Index end, double rate) {
  const FinetuneOptions& o = classifier_.options();
  Processes* const processes = classifier_.processes();
  const int rank = processes ? processes->rank() : 0;
  torch::manual_seed(o.training.seed * 1000003 + static_cast<std::uint64_t>(steps()) +
                     kSeedsOfRank * static_cast<std::uint64_t>(rank));  // dropout in the backbone
  head_rule_.zero_grad();
  network_rule_.zero_grad();
  const Tensor loss = processes ? mean_loss_of_all(*processes, begin, end) : mean_loss(begin, end);
  if (o.clip > 0) network_rule_.clip_gradients(o.clip);
  const double share = o.backbone_rate / o.training.learning_rate;
  if (o.training.optimizer == "relative") {
    head_rule_.step(rate, rate * share);  // biases outside of balls move as the backbone does
    network_rule_.step(rate, rate * share);
  } else {
    head_rule_.step(rate);
    network_rule_.step(rate * share);
  }
  projector_.project();
  return loss;
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
