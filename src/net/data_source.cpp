// SPDX-License-Identifier: MIT
#include "udv/net/data_source.hpp"

#include <numeric>

#include "core/require.hpp"
#include "net/files/array_files.hpp"

namespace udv::net {
namespace {

constexpr double kPixelFactor = 1.0 / 255;

std::vector<Index> all_rows(Index count) {
  std::vector<Index> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// X <- (X - offset) factor, in place.
template <typename Real>
void apply(const Affine& how, RowMatrix<Real>& X) {
  const Eigen::Matrix<Real, 1, Eigen::Dynamic> offset = how.offset.transpose().cast<Real>(),
                                               factor = how.factor.transpose().cast<Real>();
  for (Index i = 0; i < X.rows(); ++i) X.row(i) = (X.row(i) - offset).cwiseProduct(factor);
}

template <typename Real>
Affine array_scaling(const std::string& wanted, const ArrayData<Real>& arrays,
                     const RowMatrix<Real>& X) {
  const Index d = X.cols();
  if (wanted == "auto" && arrays.is_image)
    return {Vector<double>::Zero(d), Vector<double>::Constant(d, kPixelFactor)};
  if (wanted == "auto" || wanted == "none")
    return {Vector<double>::Zero(d), Vector<double>::Ones(d)};
  return fit_scaling(wanted, X.template cast<double>());
}

// At least two classes have to be there, or nothing can be learned.
template <typename Real>
void require_classes(const std::string& name, const Dataset<Real>& data) {
  if (data.task != Task::kClassification) return;
  const auto& labels = data.labels;
  const bool several = std::any_of(labels.begin(), labels.end(),
                                   [&](std::int32_t label) { return label != labels.front(); });
  require<IoError>(several, name, ": one class only in the training part, at least two expected");
}

}  // namespace

void DataOptions::validate() const {
  table.validate();
  require(task == "auto" || task == "regression" || task == "classification", "task '", task,
          "' found, one of auto, regression, classification expected");
  require(scaling == "auto" || scaling == "minmax" || scaling == "standard" || scaling == "none",
          "scaling '", scaling, "' found, one of auto, minmax, standard, none expected");
  require(test_share > 0 && test_share < 1, "test share ", test_share,
          " found, a number between 0 and 1 expected");
}

void describe(OptionTable& table, DataOptions& o) {
  table.group("Data");
  table.add("target", o.table.target, "Column of a table that is predicted").called("COLUMN");
  table.add("task", o.task, "What is predicted: values or classes; auto: classes for images")
      .one_of({"auto", "regression", "classification"});
  table.add("targets", o.targets, "File with the targets of a .npy or IDX file of features")
      .called("FILE");
  table.add("encoding", o.table.encoding, "Text columns become one number (label) or several")
      .one_of({"label", "onehot"});
  table.add("missing", o.table.missing, "Missing text: a category of its own, or the commonest")
      .one_of({"category", "mean"});
  table.add("scaling", o.scaling, "Scaling of the features")
      .one_of({"auto", "minmax", "standard", "none"});
  table.add("target-scaling", o.table.target_scaling, "Scaling of the targets")
      .one_of({"minmax", "standard", "none"});
  table.add("drop", o.table.drop, "Columns to leave out");
  table.add("keep", o.table.keep, "Columns to use although they seem to number the rows");
  table.add("test", o.test, "File with the test part")
      .called("FILE")
      .default_is("a share of the data");
  table.add("test-share", o.test_share, "Share of the rows that are the test part").positive();
  table.add("split-seed", o.split_seed, "Seed of the split");
}

template <typename Real>
DataSource<Real>::DataSource(const std::filesystem::path& path, const DataOptions& options)
    : options_(options), name_(path.string()) {
  options_.validate();
  const bool table = is_table(path);
  require<IoError>(options_.test.empty() || is_table(options_.test) == table, options_.test,
                   ": another kind of file than ", name_);
  if (table) {
    require<InvalidArgument>(!options_.table.target.empty(), name_,
                             ": the name of the target column is missing (option target)");
    options_.table.task =
        options_.task == "classification" ? Task::kClassification : Task::kRegression;
    if (options_.scaling != "auto") options_.table.scaling = options_.scaling;
    table_.emplace(path);
    if (!options_.test.empty()) test_table_.emplace(options_.test);
  } else {
    auto files = read_arrays<Real>(path, options_.targets, options_.task);
    require<IoError>(
        files.main.has_targets, name_,
        ": no targets found (y, targets or labels, or a file of them with the option targets)");
    arrays_ = std::move(files.main);
    test_arrays_ = std::move(files.test);
    if (!options_.test.empty())
      test_arrays_ = std::move(read_arrays<Real>(options_.test, "", options_.task).main);
  }
}

template <typename Real>
PreparedData<Real> DataSource<Real>::prepare(std::uint64_t split_seed) const {
  try {
    return table_ ? prepare_table(split_seed) : prepare_arrays(split_seed);
  } catch (const InvalidArgument& error) {
    throw IoError(message(name_, ": ", error.what()));
  }
}

template <typename Real>
std::uint64_t PreparedData<Real>::content_hash() const {
  return test.content_hash(training.content_hash());
}

template <typename Real>
PreparedData<Real> DataSource<Real>::prepare_table(std::uint64_t split_seed) const {
  PreparedData<Real> result;
  const Split split = test_table_ ? Split{all_rows(table_->rows()), all_rows(test_table_->rows())}
                                  : split_rows(table_->rows(), options_.test_share, split_seed);
  result.preprocessing = fit_table(*table_, split.train, options_.table, result.notes);
  result.training = result.preprocessing.template dataset_of<Real>(*table_, split.train);
  result.test = result.preprocessing.template dataset_of<Real>(test_table_ ? *test_table_ : *table_,
                                                               split.test);
  require_classes(name_, result.training);
  return result;
}

template <typename Real>
PreparedData<Real> DataSource<Real>::prepare_arrays(std::uint64_t split_seed) const {
  PreparedData<Real> result;
  if (test_arrays_) {
    require<IoError>(test_arrays_->has_targets, options_.test, ": no targets found");
    result.training = arrays_->data;
    result.test = test_arrays_->data;
    result.training.classes = result.test.classes =
        std::max(result.training.classes, result.test.classes);
  } else {
    const Split split = split_rows(arrays_->data.size(), options_.test_share, split_seed);
    result.training = arrays_->data.subset(split.train);
    result.test = arrays_->data.subset(split.test);
  }
  require<IoError>(result.test.X.cols() == result.training.X.cols(), options_.test, ": ",
                   result.test.X.cols(), " features found, ", result.training.X.cols(),
                   " expected, as in ", name_);
  require_classes(name_, result.training);
  Preprocessing& how = result.preprocessing;
  how.task = result.training.task;
  how.inputs = result.training.X.cols();
  how.outputs = result.training.outputs();
  how.features = array_scaling(options_.scaling, *arrays_, result.training.X);
  apply(how.features, result.training.X);
  apply(how.features, result.test.X);
  if (how.task == Task::kRegression) {
    how.targets =
        fit_scaling(options_.table.target_scaling, result.training.Y.template cast<double>());
    apply(how.targets, result.training.Y);
    apply(how.targets, result.test.Y);
  }
  return result;
}

namespace {

// Names the first row that the scales of the model, or a target of it, lead out of all numbers.
template <typename Real>
void require_finite(const std::string& name, const Dataset<Real>& data) {
  for (Index i = 0; i < data.X.rows(); ++i)
    require<IoError>(data.X.row(i).allFinite() && (data.Y.size() == 0 || data.Y.row(i).allFinite()),
                     name, ": row ", i + 1, " holds a number that is too large for the model");
}

template <typename Real>
Dataset<Real> read_any(const std::filesystem::path& path, const std::string& targets,
                       const Preprocessing& preprocessing, bool with_targets, FolderPart part) {
  require<IoError>(is_table(path) == !preprocessing.columns.empty(), path.string(),
                   ": the model was trained on ",
                   preprocessing.columns.empty() ? "arrays of features" : "a table",
                   ", the same kind of file expected");
  if (is_table(path)) {
    const io::TextTable table(path);
    if (with_targets) return preprocessing.dataset_of<Real>(table, all_rows(table.rows()));
    Dataset<Real> data;
    data.task = preprocessing.task;
    data.X = preprocessing.features_of<Real>(table, all_rows(table.rows()));
    return data;
  }
  const bool classes = preprocessing.task == Task::kClassification;
  auto files =
      read_arrays<Real>(path, targets, classes ? "classification" : "regression", with_targets);
  const bool test = files.test && part == FolderPart::kTest;
  ArrayData<Real> arrays = test ? std::move(*files.test) : std::move(files.main);
  require<IoError>(!with_targets || arrays.has_targets, path.string(), ": no targets found");
  Dataset<Real> data = std::move(arrays.data);
  require<IoError>(data.X.cols() == preprocessing.inputs, path.string(), ": ", data.X.cols(),
                   " features found, ", preprocessing.inputs, " expected, as the model has them");
  apply(preprocessing.features, data.X);
  if (with_targets && classes) {
    data.classes = preprocessing.outputs;
    data.validate(path.string());
  } else if (with_targets) {
    require<IoError>(data.Y.cols() == preprocessing.outputs, path.string(), ": ", data.Y.cols(),
                     " targets a row found, ", preprocessing.outputs, " expected");
    apply(preprocessing.targets, data.Y);
  }
  return data;
}

}  // namespace

template <typename Real>
Dataset<Real> read_for_model(const std::filesystem::path& path, const std::string& targets,
                             const Preprocessing& preprocessing, bool with_targets,
                             FolderPart part) {
  Dataset<Real> data = read_any<Real>(path, targets, preprocessing, with_targets, part);
  require_finite(path.string(), data);
  return data;
}

template <typename Real>
DataSource<Real>::DataSource(std::string name, ArrayData<Real> arrays,
                             std::optional<ArrayData<Real>> test, const DataOptions& options)
    : options_(options),
      name_(std::move(name)),
      arrays_(std::move(arrays)),
      test_arrays_(std::move(test)) {
  options_.validate();
}

template <typename Real>
RowMatrix<Real> features_for_model(const std::string& name, RowMatrix<Real> X,
                                   const Preprocessing& preprocessing) {
  require(preprocessing.columns.empty(), name,
          ": an array found, the model was trained on a table of named columns");
  require(X.cols() == preprocessing.inputs, name, ": ", X.cols(), " features found, ",
          preprocessing.inputs, " expected, as the model has them");
  apply(preprocessing.features, X);
  return X;
}

#define UDV_INSTANTIATE(Real)                                                             \
  template struct PreparedData<Real>;                                                     \
  template class DataSource<Real>;                                                        \
  template RowMatrix<Real> features_for_model(const std::string&, RowMatrix<Real>,        \
                                              const Preprocessing&);                      \
  template Dataset<Real> read_for_model(const std::filesystem::path&, const std::string&, \
                                        const Preprocessing&, bool, FolderPart);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net
