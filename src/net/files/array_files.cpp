// SPDX-License-Identifier: MIT
#include "net/files/array_files.hpp"

#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "udv/io/images.hpp"
#include "udv/io/variables.hpp"

namespace udv::net {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kCifarTen = 3073, kCifarHundred = 3074;
constexpr double kMostClasses = 1e4;

std::string name_of(const fs::path& path) {
  return path.filename().string();
}

bool ends_with_any(const std::string& name, std::initializer_list<const char*> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](const char* ending) { return name.ends_with(ending); });
}

// The file, or the same with .gz, or nothing.
std::optional<fs::path> existing(const fs::path& path) {
  for (const fs::path& candidate : {path, fs::path(path.string() + ".gz")})
    if (fs::is_regular_file(candidate)) return candidate;
  return std::nullopt;
}

template <typename Real>
ArrayData<Real> from_images(io::LabelledImages images) {
  ArrayData<Real> result;
  result.is_image = result.has_targets = true;
  result.data.task = Task::kClassification;
  result.data.classes = images.classes;
  result.data.labels = std::move(images.labels);
  const Eigen::Map<const RowMatrix<std::uint8_t>> bytes(
      reinterpret_cast<const std::uint8_t*>(images.bytes.data()), images.count, images.pixels);
  result.data.X = bytes.template cast<Real>();
  return result;
}

// train-images-idx3-ubyte.gz -> train-labels-idx1-ubyte.gz
std::string with_labels(std::string name) {
  const auto replace = [&](const std::string& from, const std::string& to) {
    const size_t at = name.find(from);
    if (at != name.npos) name.replace(at, from.size(), to);
  };
  replace("images", "labels");
  replace("idx3", "idx1");
  return name;
}

template <typename Real>
ArrayData<Real> read_unlabelled(const fs::path& path) {
  ArrayData<Real> result = from_images<Real>(io::read_idx_images(path));
  result.has_targets = false;
  return result;
}

template <typename Real>
ArrayData<Real> read_idx_images(const fs::path& path, const std::string& targets) {
  const fs::path labels =
      targets.empty() ? path.parent_path() / with_labels(name_of(path)) : fs::path(targets);
  require<IoError>(labels != path, path.string(),
                   ": which file holds the labels? The option targets names it");
  return from_images<Real>(io::read_idx_pair(path, labels));
}

template <typename Real>
ArrayData<Real> read_cifar_file(const fs::path& path) {
  std::error_code failure;
  const std::uintmax_t size = fs::file_size(path, failure);
  const bool ten = !failure && size % kCifarTen == 0;
  require<IoError>(!failure && (ten || size % kCifarHundred == 0), path.string(), ": ",
                   failure ? 0 : size, " bytes found, a multiple of ", kCifarTen, " (CIFAR-10) or ",
                   kCifarHundred, " (CIFAR-100) expected");
  return from_images<Real>(io::read_cifar({path}, !ten));
}

template <typename Real>
ArrayFiles<Real> read_folder(const fs::path& folder) {
  const auto pair = [&](const std::string& part) {
    const auto images = existing(folder / (part + "-images-idx3-ubyte"));
    return images ? std::optional(read_idx_images<Real>(*images, "")) : std::nullopt;
  };
  if (auto training = pair("train")) {
    auto test = pair("t10k");
    // Both parts have the classes of both.
    if (test)
      training->data.classes = test->data.classes =
          std::max(training->data.classes, test->data.classes);
    return {std::move(*training), std::move(test)};
  }
  if (existing(folder / "data_batch_1.bin")) {
    std::vector<fs::path> files;
    for (int b = 1; existing(folder / message("data_batch_", b, ".bin")); ++b)
      files.push_back(*existing(folder / message("data_batch_", b, ".bin")));
    const auto test = existing(folder / "test_batch.bin");
    ArrayFiles<Real> result{from_images<Real>(io::read_cifar(files, false)), std::nullopt};
    if (test) result.test = from_images<Real>(io::read_cifar({*test}, false));
    return result;
  }
  const auto training = existing(folder / "train.bin"), test = existing(folder / "test.bin");
  require<IoError>(training.has_value(), folder.string(),
                   ": no data set found in this folder; train-images-idx3-ubyte (MNIST), "
                   "data_batch_1.bin (CIFAR-10) or train.bin (CIFAR-100) expected");
  ArrayFiles<Real> result{from_images<Real>(io::read_cifar({*training}, true)), std::nullopt};
  if (test) result.test = from_images<Real>(io::read_cifar({*test}, true));
  return result;
}

template <typename Real>
RowMatrix<Real> matrix(const std::string& name, const io::ComplexArray& array) {
  require<IoError>(!array.is_complex, name, ": complex numbers found, real ones expected");
  require<IoError>(!array.shape.empty() && array.shape[0] > 0 && array.size() > 0, name, ": shape ",
                   io::shape_text(array.shape), " found, rows of numbers expected");
  const Index rows = array.shape[0], cols = array.size() / rows;
  RowMatrix<Real> result(rows, cols);
  for (Index i = 0; i < array.size(); ++i) {
    const double value = array.values[static_cast<size_t>(i)].real();
    require<IoError>(std::isfinite(value), name, ": value ", i % cols + 1, " of row ", i / cols + 1,
                     " is not finite");
    result.data()[i] = static_cast<Real>(value);
  }
  return result;
}

template <typename Real>
void set_targets(const std::string& name, const RowMatrix<Real>& Y, Task task,
                 ArrayData<Real>& out) {
  require<IoError>(Y.rows() == out.data.X.rows(), name, ": ", Y.rows(), " targets found, ",
                   out.data.X.rows(), " expected, one for each row of features");
  out.has_targets = true;
  out.data.task = task;
  if (task == Task::kRegression) {
    out.data.Y = Y;
    return;
  }
  require<IoError>(Y.cols() == 1, name, ": ", Y.cols(), " numbers a row found, one label expected");
  for (Index i = 0; i < Y.rows(); ++i) {
    const auto label = static_cast<double>(Y(i, 0));
    require<IoError>(label == std::floor(label) && label >= 0 && label < kMostClasses, name,
                     ": label ", label, " in row ", i + 1, " found, 0, 1, 2, ... expected");
    out.data.labels.push_back(static_cast<std::int32_t>(label));
  }
  out.data.classes = *std::max_element(out.data.labels.begin(), out.data.labels.end()) + 1;
}

// names: classes where the array is called labels; auto: also where it has few whole numbers.
template <typename Real>
Task task_for(const std::string& wanted, bool labels, const RowMatrix<Real>& Y) {
  bool classes = wanted == "classification" || (labels && wanted != "regression");
  if (wanted == "auto" && !labels && Y.cols() == 1 && Y.minCoeff() >= 0)
    classes = are_classes(std::vector<double>(Y.data(), Y.data() + Y.size()));
  return classes ? Task::kClassification : Task::kRegression;
}

template <typename Real>
ArrayData<Real> read_npy_features(const fs::path& path, const std::string& targets,
                                  const std::string& task) {
  ArrayData<Real> result;
  result.data.X = matrix<Real>(path.string(), io::read_complex_npy(path));
  if (!targets.empty()) {
    const RowMatrix<Real> Y = matrix<Real>(targets, io::read_complex_npy(targets));
    const bool labels = name_of(targets).find("label") != std::string::npos;
    set_targets(targets, Y, task_for(task, labels, Y), result);
  }
  return result;
}

template <typename Real>
ArrayData<Real> read_named_arrays(const fs::path& path, const std::string& task,
                                  bool with_targets) {
  const io::VariableFile file(path);
  const auto first_of = [&](std::initializer_list<const char*> names) -> std::string {
    for (const char* name : names)
      if (file.has(name)) return name;
    return "";
  };
  std::string listed;
  for (const auto& variable : file.variables())
    listed += (listed.empty() ? "" : ", ") + io::variable_text(variable);
  const std::string features = first_of({"x", "X", "features"});
  require<IoError>(!features.empty(), path.string(),
                   ": no features (x, X or features) found; it holds ", listed);
  ArrayData<Real> result;
  result.data.X = matrix<Real>(message(path.string(), ": ", features), file.read(features));
  const std::string targets = first_of({"labels", "y", "Y", "targets"});
  if (with_targets && !targets.empty()) {
    const std::string name = message(path.string(), ": ", targets);
    const RowMatrix<Real> Y = matrix<Real>(name, file.read(targets));
    set_targets(name, Y, task_for(task, targets == "labels", Y), result);
  }
  return result;
}

}  // namespace

bool is_table(const fs::path& path) {
  return ends_with_any(name_of(path), {".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"});
}

template <typename Real>
ArrayFiles<Real> read_arrays(const fs::path& path, const std::string& targets,
                             const std::string& task, bool with_targets) {
  const std::string name = name_of(path);
  if (fs::is_directory(path)) return read_folder<Real>(path);
  if (name.find("ubyte") != name.npos || name.find(".idx") != name.npos ||
      name.find("-idx") != name.npos)
    return {with_targets ? read_idx_images<Real>(path, targets) : read_unlabelled<Real>(path),
            std::nullopt};
  if (name.ends_with(".bin")) return {read_cifar_file<Real>(path), std::nullopt};
  if (ends_with_any(name, {".npy", ".npy.gz"}))
    return {read_npy_features<Real>(path, with_targets ? targets : "", task), std::nullopt};
  if (ends_with_any(name, {".npz", ".mat", ".h5", ".hdf5"}))
    return {read_named_arrays<Real>(path, task, with_targets), std::nullopt};
  require<IoError>(fs::exists(path), path.string(), ": no such file, a file to read expected");
  throw IoError(message(path.string(),
                        ": unknown kind of file; .csv, .tsv, .npy, .npz, .mat, .h5, ",
                        "IDX (ubyte), CIFAR (.bin) or a folder of these expected"));
}

template ArrayFiles<float> read_arrays(const fs::path&, const std::string&, const std::string&,
                                       bool);
template ArrayFiles<double> read_arrays(const fs::path&, const std::string&, const std::string&,
                                        bool);

}  // namespace udv::net
