// SPDX-License-Identifier: MIT
#include "deep/classifier.hpp"

#include <algorithm>

#include "core/require.hpp"
#include "deep/process_group.hpp"
#include "deep/runtime.hpp"
#include "udv/net/initialise.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;

constexpr Index kBackboneSize = 224;
constexpr Index kEvaluationBatch = 256;
constexpr Index kCropShare = 8;  // pictures move by up to this part of their height

DeviceAndType device_and_type(const FinetuneOptions& options) {
  const torch::Device device = device_of(options.placement);
  return {device, type_named(options.placement.precision, device)};
}

}  // namespace

Classifier::Classifier(const FinetuneOptions& options, const ImageData& data)
    : options_(options), data_(data), where_(device_and_type(options)) {
  if (!options_.backbone.empty() && options_.image_size == 0) options_.image_size = kBackboneSize;
  const Index count = data.training.count;
  Index& batch = options_.training.batch;
  batch = batch > 0 ? std::min(batch, count) : count;
  options_ = options_.with_steps(count);
  torch::manual_seed(options_.training.seed);
  network_ = make_feature_network(options_, data.training.channels, where_);
  make_head();
  make_batches();
}

void Classifier::make_head() {
  net::TrainOptions& o = options_.training;
  const net::Variant& variant = net::variant_named(o.variant);
  if (o.hidden == 0) o.hidden = network_->num_features();
  if (!variant.has_hidden()) o.hidden = 0;
  net::Network<float> head(
      variant, net::Sizes{network_->num_features(), o.hidden, data_.training.classes}, *o.bias);
  // A head that learns alone is started anew by its training.
  initialise(head, o.initialisation == "relative" ? "pytorch" : o.initialisation, o.seed);
  set_head(head);
  fresh_head_ = true;
}

void Classifier::make_batches() {
  BatchOptions how;
  how.device = where_.device;
  how.type = where_.type;
  how.channels = network_->channels();
  how.size = options_.image_size;
  how.channels_last = where_.device.is_cuda();
  test_ = std::make_unique<ImageBatches>(data_.test, how);
  how.flip = options_.flip;
  how.crop = options_.crop ? std::max<Index>(1, data_.training.height / kCropShare) : 0;
  training_ = std::make_unique<ImageBatches>(data_.training, how);
}

void Classifier::set_head(const net::Network<float>& head) {
  require(head.sizes().inputs == network_->num_features() &&
              head.sizes().outputs == data_.training.classes,
          "a head of ", to_string(head.sizes()), " found, ", network_->num_features(),
          " inputs and ", data_.training.classes, " outputs expected");
  fresh_head_ = false;
  head_network_ = std::make_unique<net::Network<float>>(head);
  options_.training.variant = head.variant().name;
  options_.training.hidden = head.sizes().hidden;
  head_ = std::make_shared<UDVLinearImpl>(head);
  head_->to(where_.device);
}

Tensor Classifier::features(const ImageSet& set, Index first, Index count) const {
  const torch::NoGradGuard no_grad;
  const ImageBatches& batches = &set == &data_.test ? *test_ : *training_;
  network_->set_training(false);
  Tensors pieces;
  for (Index at = first; at < first + count; at += kEvaluationBatch)
    pieces.push_back(
        network_->forward(batches.plain(at, std::min(first + count, at + kEvaluationBatch))));
  return torch::cat(pieces);
}

Tensor Classifier::test_features() const {
  const Index count = data_.test.count;
  Processes* const all = processes();
  if (all == nullptr) return features(data_.test, 0, count);
  const auto [begin, end] = all->share(0, count);
  const Tensor part =
      begin < end ? features(data_.test, begin, end - begin)
                  : torch::zeros({0, network_->num_features()},
                                 torch::TensorOptions(torch::kFloat32).device(where_.device));
  return gather_rows(*all, part, count);
}

net::Score Classifier::score(const Tensor& seen) const {
  const torch::NoGradGuard no_grad;
  const Tensor outputs = head_->forward(seen);
  const Tensor& labels = test_->labels();
  const Tensor right = (outputs.argmax(1) == labels).sum();
  return {torch::cross_entropy_loss(outputs, labels).item<double>(),
          static_cast<double>(right.item<std::int64_t>()) / static_cast<double>(test_->size())};
}

net::Dataset<float> Classifier::test_dataset(const Tensor& seen) const {
  net::Dataset<float> part;
  part.task = net::Task::kClassification;
  part.classes = data_.test.classes;
  part.labels = data_.test.labels;
  part.X = to_rows(seen);
  return part;
}

RowMatrix<float> to_rows(const Tensor& features) {
  const Tensor here = features.to(torch::kCPU).contiguous();
  return Eigen::Map<const RowMatrix<float>>(here.data_ptr<float>(), here.size(0), here.size(1));
}

}  // namespace udv::deep
