// SPDX-License-Identifier: MIT
#include "udv/net/preprocessing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "core/require.hpp"
#include "io/names.hpp"
#include "net/column_reading.hpp"

namespace udv::net {
namespace {

constexpr Index kFewestIdentifiers = 50;  // distinct texts that are taken for numbers of rows
constexpr Index kMostWords = 200;         // of a column with one feature for each
constexpr Index kMostClasses = 10'000;
constexpr double kBendAt = 0.9;                  // quantile of the targets where the logarithm ends
constexpr double kClip = 3, kQuartiles = 1.349;  // distance of a normal distribution's quartiles

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Every row another value: a text that names rows, or a number column with the name of an index.
bool numbers_rows(const io::TextTable& table, Index column, const ColumnFacts& facts) {
  if (facts.distinct < table.rows() || table.rows() < kFewestIdentifiers) return false;
  const std::string name = io::detail::lower_case(table.columns()[static_cast<size_t>(column)]);
  const bool index =
      name == "id" || name.empty() || name == "index" || name.starts_with("unnamed:");
  return facts.kind == ColumnKind::kCategory || (facts.kind == ColumnKind::kNumber && index);
}

double mean_of_present(const std::vector<double>& values) {
  double sum = 0;
  Index count = 0;
  for (const double value : values)
    if (!std::isnan(value)) sum += value, ++count;
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

void fit_number(const io::TextTable& table, Index column, const std::vector<Index>& rows,
                ColumnCoding& coding) {
  std::vector<double> values;
  for (const Index row : rows) values.push_back(number_at(table, row, column, coding.style));
  coding.fills = {mean_of_present(values)};
}

// Too many words for one column each: the commonest keep theirs, the others count as missing.
void keep_commonest(std::map<std::string, Index>& counts) {
  if (static_cast<Index>(counts.size()) <= kMostWords) return;
  std::vector<std::pair<Index, std::string>> order;
  for (const auto& [word, count] : counts) order.emplace_back(-count, word);
  std::sort(order.begin(), order.end());
  Index rest = 0;
  for (size_t i = static_cast<size_t>(kMostWords); i < order.size(); ++i) {
    rest += counts[order[i].second];
    counts.erase(order[i].second);
  }
  counts[""] += rest;
}

void fit_categories(const io::TextTable& table, Index column, const std::vector<Index>& rows,
                    const TableOptions& options, ColumnCoding& coding) {
  std::map<std::string, Index> counts;
  for (const Index row : rows) {
    const std::string_view field = table.field(row, column);
    if (is_missing(field) && options.missing == "mean") continue;
    ++counts[is_missing(field) ? std::string() : std::string(field)];
  }
  if (options.encoding == "onehot") keep_commonest(counts);
  Index most = -1;
  for (const auto& [category, count] : counts) {
    if (count > most) {
      most = count;
      coding.fallback = static_cast<std::int64_t>(coding.categories.size());
    }
    coding.categories.push_back(category);
  }
  // What is unknown is as good as missing, where that is a category.
  if (counts.contains("")) coding.fallback = 0;
  coding.onehot = options.encoding == "onehot";
}

// Parts that never change in the table say nothing.
void fit_date(const io::TextTable& table, Index column, const std::vector<Index>& rows,
              ColumnCoding& coding) {
  Date date;
  for (const DatePart& part : date_parts()) {
    std::set<int> found;
    for (Index row = 0; row < table.rows(); ++row)
      if (parse_date_as(table.field(row, column), coding.style, date)) found.insert(part.of(date));
    if (found.size() < 2) continue;
    std::vector<double> values;
    for (const Index row : rows)
      if (parse_date_as(table.field(row, column), coding.style, date))
        values.push_back(part.of(date));
    coding.parts.emplace_back(part.name);
    coding.fills.push_back(mean_of_present(values));
  }
}

// Raw numbers of one field, into consecutive features.
void encode(const io::TextTable& table, Index row, Index column, const ColumnCoding& coding,
            double* out) {
  const std::string_view field = table.field(row, column);
  switch (coding.kind) {
    case ColumnKind::kNumber: {
      const double value = number_at(table, row, column, coding.style);
      out[0] = std::isnan(value) ? coding.fills[0] : value;
      break;
    }
    case ColumnKind::kCategory: {
      const std::string key = is_missing(field) ? std::string() : std::string(field);
      const auto at = std::lower_bound(coding.categories.begin(), coding.categories.end(), key);
      const bool known = at != coding.categories.end() && *at == key;
      const std::int64_t code = known ? at - coding.categories.begin() : coding.fallback;
      if (!coding.onehot)
        out[0] = static_cast<double>(code);
      else if (!coding.categories.empty())  // a column without words has no features
        out[code] = 1;
      break;
    }
    case ColumnKind::kDate: {
      Date date;
      const bool known = parse_date_as(field, coding.style, date);
      require<IoError>(known || is_missing(field), table.where(row, column), ": ",
                       io::quoted(field), " found, a date (year-month-day hour:minute) expected");
      for (size_t p = 0; p < coding.parts.size(); ++p)
        out[p] = known ? date_part_named(coding.parts[p]).of(date) : coding.fills[p];
      break;
    }
  }
}

RowMatrix<double> raw_features(const Preprocessing& how, const io::TextTable& table,
                               const std::vector<Index>& rows) {
  std::vector<Index> places;
  for (const ColumnCoding& coding : how.columns) {
    places.push_back(table.find(coding.column));
    require<IoError>(places.back() >= 0, table.name(), ": no column ", io::quoted(coding.column),
                     ", which the model reads");
  }
  RowMatrix<double> X = RowMatrix<double>::Zero(static_cast<Index>(rows.size()), how.inputs);
  for (size_t i = 0; i < rows.size(); ++i) {
    double* out = X.row(static_cast<Index>(i)).data();
    for (size_t c = 0; c < places.size(); ++c) {
      encode(table, rows[i], places[c], how.columns[c], out);
      out += how.columns[c].features();
    }
  }
  return X;
}

double target_at(const io::TextTable& table, Index row, Index column, const std::string& style) {
  double value = 0;
  const std::string_view field = table.field(row, column);
  require<IoError>(!is_missing(field), table.where(row, column), ": ", io::quoted(field),
                   " found, a number expected (the target is missing in this row)");
  require<IoError>(parse_number_as(field, style, value), table.where(row, column), ": ",
                   io::quoted(field), " found, a number", in_unit(style),
                   " expected (the target; for classes set the option task to "
                   "classification)");
  return value;
}

RowMatrix<double> raw_targets(const io::TextTable& table, const Preprocessing& how,
                              const std::vector<Index>& rows) {
  const std::vector<std::string> names = target_names(table, how.target);
  const std::vector<std::string> styles = styles_in(how.target_style);
  RowMatrix<double> Y(static_cast<Index>(rows.size()), static_cast<Index>(names.size()));
  for (size_t k = 0; k < names.size(); ++k) {
    const Index column = table.find(names[k]);
    const std::string& style = styles[std::min(k, styles.size() - 1)];
    for (size_t i = 0; i < rows.size(); ++i)
      Y(static_cast<Index>(i), static_cast<Index>(k)) = target_at(table, rows[i], column, style);
  }
  return Y;
}

std::vector<std::string> fit_classes(const io::TextTable& table, Index column) {
  std::set<std::string> names;
  for (Index row = 0; row < table.rows(); ++row) {
    require<IoError>(!is_missing(table.field(row, column)), table.where(row, column),
                     ": no class found, the target expected");
    names.emplace(table.field(row, column));
  }
  require<IoError>(names.size() > 1, table.name(), ": column ",
                   io::quoted(table.columns()[static_cast<size_t>(column)]),
                   ": one class only, at least two expected");
  require<IoError>(static_cast<Index>(names.size()) <= kMostClasses, table.name(), ": column ",
                   io::quoted(table.columns()[static_cast<size_t>(column)]), ": ", names.size(),
                   " classes found, at most ", kMostClasses, " expected");
  std::vector<std::string> sorted(names.begin(), names.end());
  // 2 before 10 where all names are numbers.
  double number = 0;
  if (std::all_of(sorted.begin(), sorted.end(),
                  [&](const auto& name) { return io::parse_number(name, number); }))
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      double x = 0, y = 0;
      io::parse_number(a, x);
      io::parse_number(b, y);
      return x < y;
    });
  return sorted;
}

void require_columns(const io::TextTable& table, const std::vector<std::string>& names) {
  for (const auto& name : names)
    require<IoError>(table.find(name) >= 0, table.name(), ": no column ", io::quoted(name));
}

template <typename Real>
RowMatrix<Real> scaled(RowMatrix<double> values, const ColumnTransform& how) {
  apply(how, values);
  return values.template cast<Real>();
}

// The value below which this share of the sorted values lies, between neighbours in proportion.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

void fit_robust(const RowMatrix<double>& X, Index j, ColumnTransform& how) {
  std::vector<double> sorted(static_cast<size_t>(X.rows()));
  for (Index i = 0; i < X.rows(); ++i) sorted[static_cast<size_t>(i)] = X(i, j);
  std::sort(sorted.begin(), sorted.end());
  how.offset(j) = quantile(sorted, 0.5);
  double spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / kQuartiles;
  if (!(spread > 0)) spread = (sorted.back() - sorted.front()) / 2;
  if (spread > 0) how.factor(j) = 1 / spread;
  how.clip(j) = kClip;
}

// One feature per word is centred and keeps its size.
void centre_words(const Preprocessing& how, const RowMatrix<double>& X, ColumnTransform& scaling) {
  Index at = 0;
  for (const ColumnCoding& coding : how.columns) {
    const Index count = coding.features();
    if (coding.kind == ColumnKind::kCategory && coding.onehot)
      for (Index j = at; j < at + count; ++j) {
        scaling.offset(j) = X.col(j).mean();
        scaling.factor(j) = 1;
        scaling.clip(j) = 0;
      }
    at += count;
  }
}

// "columns 'a', 'b' and 12 more are constant: left out".
void note_constant(const std::vector<std::string>& names, std::vector<std::string>& notes) {
  constexpr size_t kShown = 5;
  if (names.empty()) return;
  std::string text = names.size() == 1 ? "column " : "columns ";
  for (size_t i = 0; i < std::min(kShown, names.size()); ++i)
    text += message(i == 0 ? "" : ", ", io::quoted(names[i]));
  if (names.size() > kShown) text += message(" and ", names.size() - kShown, " more");
  notes.push_back(text + (names.size() == 1 ? " is" : " are") + " constant: left out");
}

}  // namespace

void TableOptions::validate() const {
  const auto one_of = [](const char* what, const std::string& found,
                         std::initializer_list<const char*> known) {
    std::string names;
    for (const char* name : known) names += message(names.empty() ? "" : ", ", name);
    require(std::find(known.begin(), known.end(), found) != known.end(), what, " '", found,
            "' found, one of ", names, " expected");
  };
  one_of("encoding", encoding, {"label", "onehot"});
  one_of("missing", missing, {"category", "mean"});
  one_of("scaling", scaling, {"robust", "minmax", "standard", "none"});
  one_of("target scaling", target_scaling, {"minmax", "standard", "none"});
  one_of("target transform", target_transform, {"none", "log"});
}

Index ColumnCoding::features() const {
  if (kind == ColumnKind::kDate) return static_cast<Index>(parts.size());
  return kind == ColumnKind::kCategory && onehot ? static_cast<Index>(categories.size()) : 1;
}

ColumnTransform fit_scaling(const std::string& name, const RowMatrix<double>& X) {
  const Index d = X.cols();
  ColumnTransform how{Vector<double>::Zero(d), Vector<double>::Ones(d), {}};
  if (name == "none") return how;
  const bool standard = name == "standard", robust = name == "robust";
  require(standard || robust || name == "minmax", "scaling '", name,
          "' found, one of robust, minmax, standard, none expected");
  if (robust) how.clip = Vector<double>::Zero(d);
  for (Index j = 0; j < d; ++j) {
    if (robust) {
      fit_robust(X, j, how);
      continue;
    }
    const auto x = X.col(j).array();
    how.offset(j) = standard ? x.mean() : x.minCoeff();
    const double spread =
        standard ? std::sqrt((x - how.offset(j)).square().mean()) : x.maxCoeff() - how.offset(j);
    if (spread > 0) how.factor(j) = 1 / spread;
  }
  return how;
}

void require_scaled(const ColumnTransform& how, const std::function<std::string(Index)>& name_of) {
  for (Index j = 0; j < how.offset.size(); ++j)
    require<IoError>(
        std::isfinite(how.offset(j)) && std::isfinite(how.factor(j)) && how.factor(j) != 0,
        name_of(j), ": numbers that differ by up to 1e150 expected, larger differences found");
}

ColumnTransform fit_targets(const std::string& name, bool bent, const RowMatrix<double>& Y) {
  if (!bent) return fit_scaling(name, Y);
  Vector<double> bends(Y.cols());
  RowMatrix<double> T = Y;
  for (Index k = 0; k < Y.cols(); ++k) {
    std::vector<double> sorted(Y.col(k).begin(), Y.col(k).end());
    std::sort(sorted.begin(), sorted.end());
    require(sorted.front() > 0, "target ", sorted.front(),
            " found, numbers above 0 expected for a logarithm (option target-transform)");
    bends(k) = quantile(sorted, kBendAt);
    T.col(k) = Y.col(k).unaryExpr([&](double y) { return bend(y, bends(k)); });
  }
  ColumnTransform how = fit_scaling(name, T);
  how.bend = bends;
  return how;
}

double bend(double x, double c) {
  const double lowest = c * std::exp(-kBendDepth);
  if (x >= c) return (x - c) / c;
  return x >= lowest ? std::log(x / c) : (x - lowest) / lowest - kBendDepth;
}

double unbend(double t, double c) {
  if (t >= 0) return c * (1 + t);
  return t >= -kBendDepth ? c * std::exp(t) : c * std::exp(-kBendDepth) * (1 + t + kBendDepth);
}

template <typename Real>
void apply(const ColumnTransform& how, RowMatrix<Real>& X) {
  for (Index j = 0; j < how.bend.size(); ++j)
    for (Index i = 0; i < X.rows(); ++i)
      X(i, j) = static_cast<Real>(bend(static_cast<double>(X(i, j)), how.bend(j)));
  using Row = Eigen::Array<Real, 1, Eigen::Dynamic>;
  const Row offset = how.offset.transpose().cast<Real>(),
            factor = how.factor.transpose().cast<Real>();
  // z / sqrt(1 + (z / clip)^2), with 1 / clip = 0 where nothing is clipped.
  const Row inverse = how.clip.transpose()
                          .array()
                          .unaryExpr([](double c) { return c > 0 ? 1 / c : 0.0; })
                          .template cast<Real>();
  for (Index i = 0; i < X.rows(); ++i) {
    auto row = X.row(i).array();
    row = (row - offset) * factor;
    if (inverse.size() > 0) row /= (1 + (row * inverse).square()).sqrt();
  }
}

namespace {

// How one column becomes features; nothing where it is left out.
std::optional<ColumnCoding> code_column(const io::TextTable& table, Index column,
                                        const std::vector<Index>& training,
                                        const TableOptions& options, const ColumnFacts& facts,
                                        std::vector<std::string>& notes) {
  ColumnCoding coding;
  coding.column = table.columns()[static_cast<size_t>(column)];
  coding.kind = facts.kind;
  coding.style = facts.style;
  note_reading(table, column, facts, notes);
  if (numbers_rows(table, column, facts) && !contains(options.keep, coding.column)) {
    notes.push_back(message("column ", io::quoted(coding.column),
                            " numbers the rows: left out (option keep uses it)"));
    return std::nullopt;
  }
  if (facts.kind == ColumnKind::kNumber) fit_number(table, column, training, coding);
  if (facts.kind == ColumnKind::kCategory) fit_categories(table, column, training, options, coding);
  if (facts.kind == ColumnKind::kDate) fit_date(table, column, training, coding);
  if (coding.features() == 0) {
    notes.push_back(
        message("column ", io::quoted(coding.column), " has no usable values: left out"));
    return std::nullopt;
  }
  return coding;
}

void fit_target(const io::TextTable& table, const std::vector<Index>& training,
                const TableOptions& options, Preprocessing& how, std::vector<std::string>& notes) {
  const std::vector<std::string> names = target_names(table, how.target);
  const Index first = table.find(names[0]);
  if (how.task == Task::kClassification) {
    require<IoError>(names.size() == 1, table.name(), ": ", names.size(),
                     " target columns found, one expected for classes");
    how.classes = fit_classes(table, first);
    how.outputs = static_cast<Index>(how.classes.size());
    return;
  }
  for (const std::string& name : names) {
    const Index column = table.find(name);
    const ColumnFacts facts = facts_of(table, column);
    if (&name != &names.front()) how.target_style += '|';
    if (facts.kind != ColumnKind::kNumber) continue;  // said where the target is read
    how.target_style += facts.style;
    note_reading(table, column, facts, notes);
  }
  if (how.target_style.find_first_not_of('|') == std::string::npos) how.target_style.clear();
  how.targets = fit_targets(options.target_scaling, options.target_transform == "log",
                            raw_targets(table, how, training));
  how.outputs = static_cast<Index>(names.size());
  require_scaled(how.targets, [&](Index k) {
    return message(table.name(), ": column ", io::quoted(names[static_cast<size_t>(k)]));
  });
}

}  // namespace

Preprocessing fit_table(const io::TextTable& table, const std::vector<Index>& training,
                        const TableOptions& options, std::vector<std::string>& notes) {
  options.validate();
  Preprocessing how;
  how.task = options.task;
  how.target = options.target;
  const std::vector<std::string> targets = target_names(table, options.target);
  require_columns(table, options.drop);
  require_columns(table, options.keep);
  std::vector<std::string> constant;
  for (Index column = 0; column < static_cast<Index>(table.columns().size()); ++column) {
    const std::string& name = table.columns()[static_cast<size_t>(column)];
    if (contains(targets, name) || contains(options.drop, name)) continue;
    const ColumnFacts facts = facts_of(table, column);
    if (facts.distinct == 1) {
      constant.push_back(name);
      continue;
    }
    auto coding = code_column(table, column, training, options, facts, notes);
    if (!coding) continue;
    how.inputs += coding->features();
    how.columns.push_back(std::move(*coding));
  }
  note_constant(constant, notes);
  require<IoError>(how.inputs > 0, table.name(), ": no column left besides the target");
  const RowMatrix<double> X = raw_features(how, table, training);
  how.features = fit_scaling(options.scaling, X);
  if (options.scaling == "robust") centre_words(how, X, how.features);
  require_scaled(how.features, [&](Index j) {
    auto coding = how.columns.begin();
    for (Index left = j; left >= coding->features(); ++coding) left -= coding->features();
    return message(table.name(), ": column ", io::quoted(coding->column));
  });
  fit_target(table, training, options, how, notes);
  return how;
}

template <typename Real>
RowMatrix<Real> Preprocessing::features_of(const io::TextTable& table,
                                           const std::vector<Index>& rows) const {
  return scaled<Real>(raw_features(*this, table, rows), features);
}

template <typename Real>
Dataset<Real> Preprocessing::dataset_of(const io::TextTable& table,
                                        const std::vector<Index>& rows) const {
  Dataset<Real> data;
  data.task = task;
  data.X = features_of<Real>(table, rows);
  if (task == Task::kRegression) {
    data.Y = scaled<Real>(raw_targets(table, *this, rows), targets);
    return data;
  }
  data.classes = outputs;
  const Index column = table.find(target_names(table, target)[0]);
  for (const Index row : rows) {
    const std::string_view field = table.field(row, column);
    const auto at = std::find(classes.begin(), classes.end(), field);
    require<IoError>(at != classes.end(), table.where(row, column), ": class ", io::quoted(field),
                     " found, one of the ", classes.size(), " of the training data expected");
    data.labels.push_back(static_cast<std::int32_t>(at - classes.begin()));
  }
  return data;
}

template <typename Real>
RowMatrix<double> Preprocessing::in_target_units(const RowMatrix<Real>& values) const {
  RowMatrix<double> result = values.template cast<double>();
  if (task == Task::kRegression && targets.factor.size() > 0)
    result = (result.array().rowwise() / targets.factor.transpose().array()).matrix().rowwise() +
             targets.offset.transpose();
  for (Index k = 0; task == Task::kRegression && k < targets.bend.size(); ++k)
    result.col(k) = result.col(k).unaryExpr([&](double t) { return unbend(t, targets.bend(k)); });
  return result;
}

#define UDV_INSTANTIATE(Real)                                                                 \
  template RowMatrix<Real> Preprocessing::features_of<Real>(const io::TextTable&,             \
                                                            const std::vector<Index>&) const; \
  template Dataset<Real> Preprocessing::dataset_of<Real>(const io::TextTable&,                \
                                                         const std::vector<Index>&) const;    \
  template void apply(const ColumnTransform&, RowMatrix<Real>&);                              \
  template RowMatrix<double> Preprocessing::in_target_units<Real>(const RowMatrix<Real>&) const;
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net
