// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/io/text_table.hpp"
#include "udv/net/dataset.hpp"

namespace udv::net {

/// How the columns of a table become features and targets.
struct UDV_EXPORT TableOptions {
  std::string target;  ///< name of the column, or several with commas between them
  Task task = Task::kRegression;
  std::string encoding = "onehot";   ///< of text: label (one number) or onehot
  std::string missing = "category";  ///< of text: a category of its own, or mean: the commonest one
  std::string scaling = "robust";    ///< robust, minmax, standard or none
  std::string target_scaling = "standard";
  std::string target_transform = "none";  ///< before the scaling: none or log
  std::vector<std::string> drop, keep;

  /// Throws InvalidArgument naming field and value.
  void validate() const;
};

enum class ColumnKind { kNumber, kCategory, kDate };

/// One column that is used. Missing are empty fields, NA, N/A, null and ?.
struct UDV_EXPORT ColumnCoding {
  std::string column;
  ColumnKind kind = ColumnKind::kNumber;
  std::vector<double> fills;            ///< number, parts of a date: instead of missing ones
  std::vector<std::string> categories;  ///< sorted; the missing one, where it has its own, is ""
  std::int64_t fallback = 0;            ///< category for what the training part did not have
  bool onehot = false;
  std::vector<std::string> parts;  ///< date: year, month, day, weekday, hour, minute
  std::string style;  ///< how numbers or dates are written: "", thousands, comma; day-first, ...
  Index features() const;
};

/// x -> z = (x - offset) factor, column by column; where a clip above 0 is given, then
/// z / sqrt(1 + (z / clip)^2), which stays within +- clip. Where a bend c > 0 is given (targets), x
/// is bent first: log(x / c) below c, its tangent (x - c) / c above, and the tangent again below
/// c exp(-16), so that every number has its place.
struct ColumnTransform {
  Vector<double> offset, factor;
  Vector<double> clip{};  ///< empty: none
  Vector<double> bend{};  ///< empty: none
};

/// What turns raw data into what a network sees, fitted on a training part and kept with a model.
/// Where no columns are listed, the features come as an array.
struct UDV_EXPORT Preprocessing {
  Task task = Task::kRegression;
  Index inputs = 0, outputs = 0;
  std::vector<ColumnCoding> columns;
  std::string target;
  std::vector<std::string> classes;   ///< names of the labels 0, 1, ... where the file has names
  ColumnTransform features, targets;  ///< targets: regression only
  std::string target_style;           ///< how the numbers of the target are written

  std::string to_json() const;
  /// Throws InvalidArgument where the text is none of to_json.
  static Preprocessing from_json(const std::string& text);

  /// Scaled features (rows x inputs) of some rows of a table. Throws IoError naming line and
  /// column: a column that is not there, text where numbers were.
  template <typename Real>
  RowMatrix<Real> features_of(const io::TextTable& table, const std::vector<Index>& rows) const;
  /// Features and targets.
  template <typename Real>
  Dataset<Real> dataset_of(const io::TextTable& table, const std::vector<Index>& rows) const;

  /// Outputs of a network in the units of the target.
  template <typename Real>
  RowMatrix<double> in_target_units(const RowMatrix<Real>& outputs) const;
};

/// Types of columns by the whole table; means, categories and scales by the rows of the training
/// part alone. Columns that are constant, or that number the rows, are left out; `notes` says so.
UDV_EXPORT Preprocessing fit_table(const io::TextTable& table, const std::vector<Index>& training,
                                   const TableOptions& options, std::vector<std::string>& notes);

/// What a table says about its target: words and few whole numbers are classes. `reason` is a
/// sentence for people.
struct FoundTask {
  Task task = Task::kRegression;
  std::string reason;
};
UDV_EXPORT FoundTask find_task(const io::TextTable& table, const std::string& target);
/// The same for numbers: at most 20 different whole ones, each five times on average, are classes.
UDV_EXPORT bool are_classes(const std::vector<double>& values);

/// The columns of a target, which may be several. Throws IoError naming the one that is not there.
UDV_EXPORT std::vector<std::string> target_names(const io::TextTable& table,
                                                 const std::string& target);

/// Scales the rows of X in place.
template <typename Real>
UDV_EXPORT void apply(const ColumnTransform& how, RowMatrix<Real>& X);

/// Offset and factor of every column of X: minmax to [0, 1], standard to mean 0 and deviation 1,
/// robust to median 0 and a distance of the quartiles of 1.349 (half the range to 1 where the
/// quartiles are equal), clipped at 3. A column without spread keeps the factor 1. Throws
/// InvalidArgument for another name.
UDV_EXPORT ColumnTransform fit_scaling(const std::string& name, const RowMatrix<double>& X);

/// The same for targets; with `bent` every column has its bend at its 90 % quantile. Throws
/// InvalidArgument where a target that is to be bent is not above 0.
UDV_EXPORT ColumnTransform fit_targets(const std::string& name, bool bent,
                                       const RowMatrix<double>& Y);

/// Throws IoError naming the column whose numbers have no spread that could be stored: their
/// squares are beyond double precision.
UDV_EXPORT void require_scaled(const ColumnTransform& how,
                               const std::function<std::string(Index)>& name_of);

/// b of ColumnTransform: log(x / c) up to c, tangents beyond; and its inverse.
UDV_EXPORT double bend(double x, double c);
UDV_EXPORT double unbend(double t, double c);
inline constexpr double kBendDepth = 16;  ///< below c exp(-16) it is straight again

}  // namespace udv::net
