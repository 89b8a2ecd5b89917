// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/options.hpp"
#include "udv/net/preprocessing.hpp"

namespace udv::net {

/// How a data file is read and cut.
struct UDV_EXPORT DataOptions {
  DataOptions() { table.encoding = table.target_scaling = table.target_transform = "auto"; }

  TableOptions table;  ///< its task is found by `task`
  /// regression, classification; auto: classes for images, labels, words and few whole numbers
  std::string task = "auto";
  std::string targets;           ///< file with the targets of a file of features (.npy)
  std::string scaling = "auto";  ///< auto: robust, 1/255 for images
  std::string test;              ///< file with the test part, instead of a share
  double test_share = 0.2;
  double validation_share = -1;  ///< of the other rows, never trained on; below 0: auto, 0.1
  std::uint64_t split_seed = 0;  ///< chooses the rows of the test part
  bool plain_arrays = false;     ///< paper: arrays as they are, classes by the name of the array

  /// The same as the paper has it: words as numbers, everything scaled to [0, 1], arrays as they
  /// are, no validation part, a table has values. Throws InvalidArgument where a setting
  /// contradicts that.
  DataOptions for_paper() const;
  /// Throws InvalidArgument naming field and value.
  void validate() const;
};
UDV_EXPORT void describe(OptionTable& table, DataOptions& options);

/// Features as numbers, with targets where there are: arrays and images.
template <typename Real>
struct ArrayData {
  Dataset<Real> data;
  bool has_targets = false;
  bool is_image = false;  ///< bytes, 0 to 255
};

/// Both parts as a network sees them.
template <typename Real>
struct UDV_EXPORT PreparedData {
  Dataset<Real> training, test;
  Dataset<Real> validation{};  ///< may be empty
  Preprocessing preprocessing{};
  std::vector<std::string> notes{};
  std::string task_reason{};  ///< why the task is what it is; empty where it was given
  bool may_bend = false;      ///< whether targets are bent (ColumnTransform) is left to choose_head

  /// Of all numbers of all parts: other data, another hash.
  std::uint64_t content_hash() const;
};

/// A data file, read once:
///   .csv .tsv .txt (.gz)      a table with a header
///   .npy                      features, with the targets in a file of their own
///   .npz .mat .h5 .hdf5       features as x, X or features; targets as y, Y, targets or labels
///   IDX images (.gz)          labels in the file of the same name with "labels" and idx1
///   CIFAR .bin                10 or 100 classes, by its size
///   a folder                  with the files of MNIST or CIFAR, both parts of them
/// Throws IoError naming the file and what is wrong with it.
template <typename Real>
class UDV_EXPORT DataSource {
 public:
  DataSource(const std::filesystem::path& path, const DataOptions& options);
  /// The same with arrays in memory; `name` stands for the file in messages.
  DataSource(std::string name, ArrayData<Real> arrays, std::optional<ArrayData<Real>> test,
             const DataOptions& options);

  /// The split by this seed, unless the data has a test part of its own; preprocessing is fitted on
  /// the training part.
  PreparedData<Real> prepare(std::uint64_t split_seed) const;

 private:
  PreparedData<Real> prepare_table(std::uint64_t split_seed) const;
  PreparedData<Real> prepare_arrays(std::uint64_t split_seed) const;
  void find_table_task();
  void scale_arrays(PreparedData<Real>& result) const;

  DataOptions options_;
  std::string name_, task_reason_;
  bool may_bend_ = false;
  std::optional<io::TextTable> table_, test_table_;
  std::optional<ArrayData<Real>> arrays_, test_arrays_;
};

/// Which part of a folder that has two.
enum class FolderPart { kTraining, kTest };

/// Data for a trained model: all rows of a file, one part of a folder. Targets are read where
/// `with_targets` is set, and have to be there then. Throws IoError, also where the number of
/// features is another one than the model's.
template <typename Real>
UDV_EXPORT Dataset<Real> read_for_model(const std::filesystem::path& path,
                                        const std::string& targets,
                                        const Preprocessing& preprocessing, bool with_targets,
                                        FolderPart part = FolderPart::kTest);

/// Features in memory, scaled as the model wants them. Throws InvalidArgument that starts with
/// `name` where their number is another one than the model's.
template <typename Real>
UDV_EXPORT RowMatrix<Real> features_for_model(const std::string& name, RowMatrix<Real> X,
                                              const Preprocessing& preprocessing);

}  // namespace udv::net
