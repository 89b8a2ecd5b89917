// SPDX-License-Identifier: MIT
#pragma once

#include "deep/feature_network.hpp"
#include "deep/image_batches.hpp"

namespace udv::deep {

/// Pictures to classes: a network that makes features, then a head, on their device, with the
/// pictures to learn from and to test on.
class Classifier {
 public:
  /// The pictures have to outlive the object. Throws IoError where there is no such device.
  Classifier(const FinetuneOptions& options, const ImageData& data);

  const FinetuneOptions& options() const { return options_; }  ///< sizes as they were found to be
  const torch::Device& device() const { return where_.device; }
  /// That train together; nullptr: this one alone.
  Processes* processes() const { return options_.placement.processes.get(); }
  FeatureNetwork& network() const { return *network_; }
  const std::shared_ptr<UDVLinearImpl>& head() const { return head_; }
  ImageBatches& training() const { return *training_; }
  ImageBatches& test() const { return *test_; }

  bool has_fresh_head() const { return fresh_head_; }  ///< none was given
  /// The head as net has it: as it was given, or is after take_head().
  const net::Network<float>& head_network() const { return *head_network_; }
  void set_head(const net::Network<float>& head);
  void take_head() { *head_network_ = head_->to_network(); }

  /// Features of pictures first .. first + count - 1, without augmentation.
  torch::Tensor features(const ImageSet& set, Index first, Index count) const;
  /// Of the test part; every process computes its share.
  torch::Tensor test_features() const;
  /// Mean loss and accuracy of the head on features of the test part.
  net::Score score(const torch::Tensor& test_features) const;
  /// The test part as the head sees it.
  net::Dataset<float> test_dataset(const torch::Tensor& test_features) const;

 private:
  void make_head();
  void make_batches();

  FinetuneOptions options_;
  const ImageData& data_;
  DeviceAndType where_;
  std::unique_ptr<FeatureNetwork> network_;
  std::unique_ptr<net::Network<float>> head_network_;
  std::shared_ptr<UDVLinearImpl> head_;
  bool fresh_head_ = false;
  std::unique_ptr<ImageBatches> training_, test_;
};

/// A CPU matrix of features.
RowMatrix<float> to_rows(const torch::Tensor& features);

}  // namespace udv::deep
