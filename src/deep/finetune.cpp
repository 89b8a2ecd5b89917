// SPDX-License-Identifier: MIT
#include "udv/deep/finetune.hpp"

#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "deep/finetune_run.hpp"
#include "deep/runtime.hpp"
#include "udv/deep/optimizer.hpp"

namespace udv::deep {

using torch::Tensor;

namespace {

constexpr double kPlainRate = 1e-3;
constexpr double kRelativeRate = 2.3;  // over sqrt(steps)

}  // namespace

FinetuneOptions FinetuneOptions::with_steps(Index pictures) const {
  FinetuneOptions o = *this;
  net::TrainOptions& t = o.training;
  const bool paper = preset == "paper", balls = net::variant_named(t.variant).has_balls();
  require(paper || preset == "auto", "finetune: preset '", preset,
          "' found, auto or paper expected");
  require(!paper || t.optimizer != "relative",
          "preset paper found together with optimizer relative, which the paper does not have");
  if (t.optimizer == "auto") t.optimizer = !paper && balls ? "relative" : "adam";
  const bool relative = t.optimizer == "relative";
  require(!relative || balls, "finetune: optimizer relative with ", t.variant,
          " found, a variant with balls expected");
  require(!t.is_strong() || (relative && frozen()),
          "finetune: bias-to-low-rank strong found, a frozen backbone and a variant with balls "
          "expected");
  if (relative && frozen()) {  // the head learns alone: everything as `train` has it
    t.preset = t.initialisation = t.moments = "auto";
    t.average.reset();
    t.smoothing = -1;
    t = t.resolved({net::Task::kClassification, pictures});
    return o;
  }
  const Index batch = t.batch > 0 ? t.batch : std::max<Index>(1, pictures);
  const Index steps = t.epochs * ((pictures + batch - 1) / batch);
  if (t.schedule.name == "auto") t.schedule.name = relative ? "cosine-step" : "cosine";
  if (t.learning_rate == 0)
    t.learning_rate = relative ? relative_rate(kRelativeRate, steps) : kPlainRate;
  if (o.backbone_rate == 0) o.backbone_rate = relative ? kPlainRate : t.learning_rate;
  return o;
}

void FinetuneOptions::validate() const {
  with_steps(1).training.validate();
  require(!training.shrink, "finetune: shrink is a setting of train alone");
  require(backbone_rate >= 0 && std::isfinite(backbone_rate), "finetune: backbone rate is ",
          backbone_rate, ", a number of at least 0 expected");
  require(clip >= 0 && std::isfinite(clip), "finetune: clip is ", clip,
          ", a number of at least 0 expected");
  require(image_size >= 0, "finetune: image size is ", image_size, ", at least 0 expected");
  const std::string& precision = placement.precision;
  require(precision == "auto" || precision == "single" || precision == "bf16",
          "finetune: precision '", precision, "' found, one of auto, single, bf16 expected");
  require(replace.empty() || backbone.empty(),
          "finetune: blocks can be put into the built-in network, not into a TorchScript file");
  net::variant_named(replace_variant);
}

struct Finetuner::Parts {
  Classifier classifier;
  std::unique_ptr<Learner> learner;  ///< of the latest training

  FeatureNetwork& network() const { return classifier.network(); }
  Tensors network_values() const {
    return learner ? learner->network_values() : network().parameters();
  }
};

namespace {

void check_data(const ImageData& data) {
  require(data.training.count > 0 && data.test.count > 0, "finetune: ", data.training.count,
          " pictures to learn from and ", data.test.count,
          " to test found, at least one each expected");
  require(data.training.classes > 1, "finetune: ", data.training.classes,
          " class found, at least two expected");
}

}  // namespace

Finetuner::Finetuner(const FinetuneOptions& options, const ImageData& data) {
  options.validate();
  check_data(data);
  parts_ = std::make_unique<Parts>(Parts{Classifier(options, data), nullptr});
}

Finetuner::~Finetuner() = default;
Finetuner::Finetuner(Finetuner&&) noexcept = default;

Index Finetuner::num_features() const {
  return parts_->network().num_features();
}

Index Finetuner::num_parameters() const {
  Index count = 0;
  for (const Tensor& values : parts_->network().parameters()) count += values.numel();
  for (const Tensor& values : parts_->classifier.head()->parameters()) count += values.numel();
  return count;
}

const std::string& Finetuner::device() const {
  return parts_->classifier.options().placement.device;
}

RowMatrix<float> Finetuner::features(const ImageSet& set, Index first, Index count) {
  const BlasThreads threads;
  return guarded("finetune",
                 [&] { return to_rows(parts_->classifier.features(set, first, count)); });
}

FinetuneResult Finetuner::train(const FinetuneHooks& hooks) {
  Classifier& classifier = parts_->classifier;
  require(!classifier.options().frozen(),
          "finetune: a frozen backbone gives features, its head is trained by net");
  const BlasThreads threads;
  return guarded("finetune", [&] {
    parts_->learner = std::make_unique<Learner>(classifier);
    if (hooks.resume.empty()) parts_->learner->start();
    parts_->learner->take_state_of_first();
    return run_finetuning(classifier, *parts_->learner, hooks);
  });
}

net::Score Finetuner::evaluate() {
  const BlasThreads threads;
  const Classifier& classifier = parts_->classifier;
  return guarded("finetune", [&] { return classifier.score(classifier.test_features()); });
}

const net::Network<float>& Finetuner::head() const {
  return parts_->classifier.head_network();
}

void Finetuner::set_head(const net::Network<float>& head) {
  parts_->classifier.set_head(head);
}

std::vector<NamedArray> Finetuner::arrays() const {
  return parts_->network().arrays(parts_->network_values());
}

void Finetuner::load_arrays(const std::vector<NamedArray>& arrays,
                            const std::vector<BlockInfo>& blocks) {
  parts_->network().load(arrays, blocks);
  parts_->learner.reset();
}

std::vector<BlockInfo> Finetuner::blocks() const {
  return parts_->network().blocks();
}

void Finetuner::save_backbone(const std::string& path) const {
  parts_->network().save(path, parts_->network_values());
}

}  // namespace udv::deep
