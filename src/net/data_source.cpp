// SPDX-License-Identifier: MIT
#include "udv/net/data_source.hpp"

#include <algorithm>
#include <map>
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

template <typename Real>
ColumnTransform array_scaling(const std::string& wanted, const ArrayData<Real>& arrays,
                              const RowMatrix<Real>& X) {
  const Index d = X.cols();
  if (wanted == "auto" && arrays.is_image)
    return {Vector<double>::Zero(d), Vector<double>::Constant(d, kPixelFactor), {}};
  return fit_scaling(wanted == "auto" ? "robust" : wanted, X.template cast<double>());
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

double share_of(const DataOptions& options) {
  constexpr double kShare = 0.1;
  return options.validation_share < 0 ? kShare : options.validation_share;
}

const char* task_word(Task task) {
  return task == Task::kClassification ? "classification" : "regression";
}

// Where nobody says it and the paper counts, arrays have labels by their name alone.
std::string array_task(const DataOptions& options) {
  return options.task == "auto" && options.plain_arrays ? "names" : options.task;
}

std::vector<Index> at(const std::vector<Index>& rows, const std::vector<Index>& places) {
  std::vector<Index> found;
  found.reserve(places.size());
  for (const Index place : places) found.push_back(rows[static_cast<size_t>(place)]);
  return found;
}

// Numbers of the classes of some rows of a table, in the order of first appearance: enough to give
// each its share of the validation part. Nothing for values.
std::vector<std::int32_t> table_labels(const io::TextTable& table, const TableOptions& options,
                                       const std::vector<Index>& rows) {
  std::vector<std::int32_t> labels;
  if (options.task != Task::kClassification) return labels;
  const Index column = table.find(options.target);
  if (column < 0) return labels;  // said where the target is read
  std::map<std::string_view, std::int32_t> known;
  for (Index row = 0; row < table.rows(); ++row) known.try_emplace(table.field(row, column), 0);
  std::int32_t next = 0;
  for (auto& each : known) each.second = next++;
  for (const Index row : rows) labels.push_back(known[table.field(row, column)]);
  return labels;
}

// A class that the training part has once or not at all cannot be learned.
template <typename Real>
void note_rare_classes(PreparedData<Real>& data) {
  if (data.training.task != Task::kClassification) return;
  std::vector<Index> counts(static_cast<size_t>(data.training.classes), 0);
  for (const std::int32_t label : data.training.labels) ++counts[static_cast<size_t>(label)];
  const auto rare = std::count_if(counts.begin(), counts.end(), [](Index n) { return n < 2; });
  if (rare == 0) return;
  const auto first = std::find_if(counts.begin(), counts.end(), [](Index n) { return n < 2; });
  const auto label = static_cast<size_t>(first - counts.begin());
  const auto& names = data.preprocessing.classes;
  data.notes.push_back(message(rare == 1 ? "1 class has" : message(rare, " classes have"),
                               " fewer than two rows in the training part, such as ",
                               io::quoted(names.empty() ? std::to_string(label) : names[label]),
                               ": too few to learn"));
}

}  // namespace

void DataOptions::validate() const {
  TableOptions filled = table;  // auto is filled in by the data
  if (filled.encoding == "auto") filled.encoding = "onehot";
  if (filled.target_scaling == "auto") filled.target_scaling = "standard";
  if (filled.target_transform == "auto") filled.target_transform = "none";
  filled.validate();
  require(task == "auto" || task == "regression" || task == "classification", "task '", task,
          "' found, one of auto, regression, classification expected");
  const char* const known[] = {"auto", "robust", "minmax", "standard", "none"};
  require(std::find(std::begin(known), std::end(known), scaling) != std::end(known), "scaling '",
          scaling, "' found, one of auto, robust, minmax, standard, none expected");
  require(test_share > 0 && test_share < 1, "test share ", test_share,
          " found, a number between 0 and 1 expected");
  require(validation_share < 1, "validation share ", validation_share,
          " found, a number from 0 to 1 expected");
}

DataOptions DataOptions::for_paper() const {
  require(scaling != "robust", "preset paper found together with scaling robust, which the paper ",
          "does not have");
  require(!(validation_share > 0), "preset paper found together with validation-share ",
          validation_share, ", and the paper has no validation part");
  require(table.target_transform != "log",
          "preset paper found together with target-transform log, which the paper does not have");
  DataOptions options = *this;
  options.table.target_transform = "none";
  options.validation_share = 0;
  options.table.scaling = "minmax";
  options.plain_arrays = true;
  if (table.encoding == "auto") options.table.encoding = "label";
  if (table.target_scaling == "auto") options.table.target_scaling = "minmax";
  return options;
}

void describe(OptionTable& table, DataOptions& o) {
  table.group("Data");
  table
      .add("target", o.table.target,
           "Column of a table that is predicted; several with commas between them")
      .called("COLUMN");
  table
      .add(
          "task", o.task,
          "What is predicted: values or classes; auto: words, few whole numbers, labels and images "
          "have classes")
      .one_of({"auto", "regression", "classification"});
  table.add("targets", o.targets, "File with the targets of a .npy or IDX file of features")
      .called("FILE");
  table
      .add("encoding", o.table.encoding,
           "Text columns become one number (label) or one column per word; auto: onehot")
      .one_of({"auto", "label", "onehot"});
  table.add("missing", o.table.missing, "Missing text: a category of its own, or the commonest")
      .one_of({"category", "mean"});
  table
      .add("scaling", o.scaling,
           "Scaling of the features; auto: robust (median, quartiles, soft clipping), 1/255 for "
           "images")
      .one_of({"auto", "robust", "minmax", "standard", "none"});
  table.add("target-scaling", o.table.target_scaling, "Scaling of the targets; auto: standard")
      .one_of({"auto", "minmax", "standard", "none"});
  table
      .add(
          "target-transform", o.table.target_transform,
          "Transform of the targets before scaling: none, or the logarithm of positive targets (up "
          "to their 90 % quantile, its tangent above); auto: the better one in cross-validation")
      .one_of({"auto", "none", "log"});
  table.add("drop", o.table.drop, "Columns to leave out");
  table.add("keep", o.table.keep, "Columns to use although they seem to number the rows");
  table.add("test", o.test, "File with the test part")
      .called("FILE")
      .default_is("a share of the data");
  table.add("test-share", o.test_share, "Share of the rows that are the test part").positive();
  table
      .add("validation-share", o.validation_share,
           "Share of the other rows that is never trained on and decides when to stop; auto: 0.1")
      .between(0, 0.9)
      .word("auto", -1);
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
    if (options_.scaling != "auto") options_.table.scaling = options_.scaling;
    table_.emplace(path);
    find_table_task();
    if (!options_.test.empty()) test_table_.emplace(options_.test);
  } else {
    auto files = read_arrays<Real>(path, options_.targets, array_task(options_));
    require<IoError>(
        files.main.has_targets, name_,
        ": no targets found (y, targets or labels, or a file of them with the option targets)");
    arrays_ = std::move(files.main);
    test_arrays_ = std::move(files.test);
    if (!options_.test.empty())
      test_arrays_ =
          std::move(read_arrays<Real>(options_.test, "", task_word(arrays_->data.task)).main);
    if (options_.task == "auto" && !arrays_->is_image)
      task_reason_ = arrays_->data.task == Task::kClassification
                         ? "the targets are labels or few different whole numbers"
                         : "the targets are numbers";
  }
}

template <typename Real>
void DataSource<Real>::find_table_task() {
  TableOptions& table = options_.table;
  if (table.encoding == "auto") table.encoding = "onehot";
  if (table.target_scaling == "auto") table.target_scaling = "standard";
  may_bend_ = table.target_transform == "auto";
  if (may_bend_) table.target_transform = "none";
  table.task = options_.task == "classification" ? Task::kClassification : Task::kRegression;
  if (options_.task != "auto" || options_.plain_arrays) return;
  const FoundTask found = find_task(*table_, table.target);
  table.task = found.task;
  task_reason_ = found.reason;
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
  const std::uint64_t hash = test.content_hash(training.content_hash());
  return validation.size() > 0 ? validation.content_hash(hash) : hash;
}

template <typename Real>
PreparedData<Real> DataSource<Real>::prepare_table(std::uint64_t split_seed) const {
  PreparedData<Real> result;
  const Split split = test_table_ ? Split{all_rows(table_->rows()), all_rows(test_table_->rows())}
                                  : split_rows(table_->rows(), options_.test_share, split_seed);
  const Split parts = validation_split(static_cast<Index>(split.train.size()),
                                       table_labels(*table_, options_.table, split.train),
                                       share_of(options_), split_seed);
  const std::vector<Index> training = at(split.train, parts.train);
  result.preprocessing = fit_table(*table_, training, options_.table, result.notes);
  const auto rows = [&](const io::TextTable& table, const std::vector<Index>& which) {
    return result.preprocessing.template dataset_of<Real>(table, which);
  };
  result.training = rows(*table_, training);
  result.validation = rows(*table_, at(split.train, parts.test));
  result.test = rows(test_table_ ? *test_table_ : *table_, split.test);
  result.may_bend = may_bend_;
  result.task_reason = task_reason_;
  require_classes(name_, result.training);
  note_rare_classes(result);
  return result;
}

template <typename Real>
PreparedData<Real> DataSource<Real>::prepare_arrays(std::uint64_t split_seed) const {
  PreparedData<Real> result;
  Dataset<Real> known;
  if (test_arrays_) {
    require<IoError>(test_arrays_->has_targets, options_.test, ": no targets found");
    known = arrays_->data;
    result.test = test_arrays_->data;
    known.classes = result.test.classes = std::max(known.classes, result.test.classes);
  } else {
    const Split split = split_rows(arrays_->data.size(), options_.test_share, split_seed);
    known = arrays_->data.subset(split.train);
    result.test = arrays_->data.subset(split.test);
  }
  const Split parts = validation_split(known.size(), known.labels, share_of(options_), split_seed);
  result.validation = known.subset(parts.test);
  result.training = parts.test.empty() ? std::move(known) : known.subset(parts.train);
  require<IoError>(result.test.X.cols() == result.training.X.cols(), options_.test, ": ",
                   result.test.X.cols(), " features found, ", result.training.X.cols(),
                   " expected, as in ", name_);
  require_classes(name_, result.training);
  result.task_reason = task_reason_;
  scale_arrays(result);
  note_rare_classes(result);
  return result;
}

template <typename Real>
void DataSource<Real>::scale_arrays(PreparedData<Real>& result) const {
  Preprocessing& how = result.preprocessing;
  how.task = result.training.task;
  how.inputs = result.training.X.cols();
  how.outputs = result.training.outputs();
  const bool plain = options_.plain_arrays && options_.scaling == "auto" && !arrays_->is_image;
  how.features = array_scaling(plain ? "none" : options_.scaling, *arrays_, result.training.X);
  const std::string& targets = options_.table.target_scaling;
  if (how.task == Task::kRegression)
    how.targets = fit_targets(targets == "auto" ? "standard" : targets,
                              options_.table.target_transform == "log",
                              result.training.Y.template cast<double>());
  const auto name_of = [&](const char* what) {
    return [this, what](Index j) { return message(name_, ": ", what, " ", j); };
  };
  require_scaled(how.features, name_of("feature"));
  require_scaled(how.targets, name_of("target"));
  result.may_bend = options_.table.target_transform == "auto";
  for (Dataset<Real>* part : {&result.training, &result.validation, &result.test}) {
    apply(how.features, part->X);
    if (how.task == Task::kRegression) apply(how.targets, part->Y);
  }
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
