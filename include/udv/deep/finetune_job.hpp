// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "udv/deep/finetune.hpp"
#include "udv/jobs/session.hpp"
#include "udv/net/figures.hpp"
#include "udv/net/files/model_file.hpp"

namespace udv::jobs {

/// Pictures to learn from: a folder of classes, or MNIST or CIFAR files.
struct FinetuneInput {
  std::string data;
};
void describe(OptionTable& table, FinetuneInput& input);

/// Settings of `finetune`; the seed of the session is that of weights and batches.
struct FinetuneJobOptions {
  deep::FinetuneOptions tuning;
  deep::ImageOptions images;                ///< its size is that of `tuning`
  Index limit_train = 0, limit_test = 0;    ///< the first so many pictures; 0: all
  std::string cache = "udv-runs/features";  ///< folder for features of a frozen backbone
  std::string curves = "every";             ///< epochs with a pruning curve: every, last or none
  std::string load;                         ///< run whose weights are the first ones
  bool evaluate = false;                    ///< only test the network of `load`
};
void describe(OptionTable& table, FinetuneJobOptions& options);

/// A network for pictures and how it got there.
struct FinetuneJobResult {
  Outcome outcome = Outcome::kDone;
  net::TrainStop stop = net::TrainStop::kDone;
  std::filesystem::path folder;  ///< of the run; empty where nothing was written
  std::optional<net::Model<float>> head;
  net::TrainFigures figures;  ///< of the head
  std::vector<net::EpochRecord> history;
  std::vector<net::BlockInfo> blocks;  ///< inside the built-in network
  net::Sizes sizes;                    ///< of the head
  std::string variant;                 ///< of the head
  std::string backbone;                ///< empty: the built-in network
  std::string device;
  Index training_images = 0, test_images = 0, classes = 0;
  Index parameters = 0;  ///< of the whole network
  Index averaged_epochs = 0;
  double test_loss = 0, test_accuracy = 0;  ///< means of the last epochs; of `evaluate`: as it is
  double seconds = 0, images_per_second = 0;
};

/// Trains a head on a pretrained backbone, or a small network, on pictures. Throws IoError naming
/// file and place, OptionError naming a setting.
FinetuneJobResult finetune(const FinetuneInput& input, const FinetuneJobOptions& options,
                           Session& session);

/// The same with pictures in memory; limits are for files.
FinetuneJobResult finetune(const deep::ImageData& data, const FinetuneJobOptions& options,
                           Session& session);

}  // namespace udv::jobs
