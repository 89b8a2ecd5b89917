// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "udv/core/observer.hpp"
#include "udv/deep/image_set.hpp"
#include "udv/deep/network_arrays.hpp"
#include "udv/deep/placement.hpp"
#include "udv/net/trainer.hpp"

// Nothing of LibTorch shows here: a program that uses this compiles quickly.
namespace udv::deep {

struct FinetuneOptions {
  FinetuneOptions() {
    training = net::TrainOptions::paper();
    training.epochs = 20;
    training.batch = 128;
    training.optimizer = training.schedule.name = "auto";
    training.learning_rate = 0;
  }

  /// Of the head; hidden 0: as many neurons as features. Optimizer, rate (0) and schedule may be
  /// left at auto: with_steps().
  net::TrainOptions training;
  std::string backbone;      ///< TorchScript, images to features; empty: the built-in network
  bool trainable = false;    ///< the backbone learns too; the built-in network always does
  double backbone_rate = 0;  ///< its learning rate; 0: 1e-3 with relative steps, else the head's
  double clip = 0;           ///< largest norm of the gradient of the backbone; 0: none
  Placement placement;
  Index image_size = 0;  ///< what the network sees; 0: 224, the built-in one as they are
  bool flip = true;      ///< pictures are mirrored, every second one
  bool crop = true;      ///< and moved by up to an eighth of their height
  std::string replace;   ///< blocks inside the built-in network: names of its layers
  std::string replace_variant = "UDV";
  Index replace_width = 0;
  bool fuse = false;            ///< let TorchScript rewrite the backbone
  std::string preset = "auto";  ///< or paper: Adam at 1e-3 with a cosine over the epochs

  /// Throws InvalidArgument naming field and value.
  void validate() const;
  /// The same with optimizer, learning rate and schedule that are known. Steps of UDV arrays are
  /// relative: 2.3 / sqrt(steps), with a cosine over the steps that so many pictures make.
  FinetuneOptions with_steps(Index pictures) const;
  /// A backbone that does not learn.
  bool frozen() const { return !backbone.empty() && !trainable; }
};
void describe(OptionTable& table, FinetuneOptions& options);

struct FinetuneResult {
  net::TrainResult<float> training;  ///< with the head
  double images_per_second = 0;      ///< learned from, evaluations left aside
};

/// The observer sees the images so far as iteration, the loss of the batch as objective and the
/// width as rank. States are saved after every epoch, and where the observer stops the training.
struct FinetuneHooks : Hooks {
  /// Called after every epoch with the head, and with the test part as the head sees it.
  std::function<void(const net::EpochRecord&, const net::Network<float>&,
                     const net::Dataset<float>&)>
      epoch;
};

/// A network from images to classes on a device: backbone or built-in network, then a head.
class Finetuner {
 public:
  /// The pictures have to outlive the object. Throws IoError where the backbone cannot be read, its
  /// output is not N x d, or there is no such device; InvalidArgument for options.
  Finetuner(const FinetuneOptions& options, const ImageData& data);
  ~Finetuner();
  Finetuner(Finetuner&&) noexcept;

  Index num_features() const;
  Index num_parameters() const;  ///< all of them
  const std::string& device() const;

  /// Features of pictures first .. first + count - 1, without augmentation.
  RowMatrix<float> features(const ImageSet& set, Index first, Index count);

  /// All layers at once. A loss that is not finite ends the run as diverged.
  FinetuneResult train(const FinetuneHooks& hooks);

  /// Mean loss and accuracy on the test part.
  net::Score evaluate();

  const net::Network<float>& head() const;  ///< as it is after train()
  void set_head(const net::Network<float>& head);

  std::vector<NamedArray> arrays() const;  ///< of the built-in network
  /// Throws InvalidArgument where one is missing or has another shape.
  void load_arrays(const std::vector<NamedArray>& arrays, const std::vector<BlockInfo>& blocks);
  std::vector<BlockInfo> blocks() const;

  /// Writes the backbone as it is now. Throws IoError naming the path.
  void save_backbone(const std::string& path) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace udv::deep
