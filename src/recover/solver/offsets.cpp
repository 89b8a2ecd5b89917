// SPDX-License-Identifier: MIT
#include "recover/solver/offsets.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "recover/operators/measured_sums.hpp"
#include "recover/solver/balance.hpp"
#include "recover/solver/determined_part.hpp"
#include "udv/recover/solver/levenberg_marquardt.hpp"

namespace udv {
namespace {

constexpr double kDominance = 30;   // below, offsets cost no digits that matter
constexpr double kInSpan = 1e-5;    // distance of 1 / |1| from a space that contains it
constexpr double kNoColumn = 1e-8;  // share of a singular value that an exact fit may have

std::vector<Centering> kinds_within(Centering allowed) {
  switch (allowed) {
    case Centering::kNone:
      return {Centering::kNone};
    case Centering::kGlobal:
      return {Centering::kNone, Centering::kGlobal};
    case Centering::kRows:
      return {Centering::kNone, Centering::kGlobal, Centering::kRows};
    case Centering::kCols:
      return {Centering::kNone, Centering::kGlobal, Centering::kCols};
    default:
      return {Centering::kNone, Centering::kGlobal, Centering::kRows, Centering::kCols,
              Centering::kBoth};
  }
}

// Every model of kind `small` is one of kind `large`.
bool includes(Centering large, Centering small) {
  const std::vector<Centering> kinds = kinds_within(large);
  return std::find(kinds.begin(), kinds.end(), small) != kinds.end();
}

// Mean of the listed rows.
Vector<double> mean_row(const RowMatrix<double>& factor, const std::vector<Index>& lines) {
  Vector<double> sum = Vector<double>::Zero(factor.cols());
  for (const Index i : lines) sum += factor.row(i).transpose();
  return sum / std::max(1.0, static_cast<double>(lines.size()));
}

// 1 is in the space of these orthonormal columns.
bool holds_ones(const RowMatrix<double>& Q) {
  const double unit = 1 / std::sqrt(static_cast<double>(Q.rows()));
  const Vector<double> ones = Vector<double>::Constant(Q.rows(), unit);
  return (ones - Q * (Q.transpose() * ones)).norm() <= kInSpan;
}

void add_to(Vector<double>& bias, const Vector<double>& more) {
  if (bias.size() == 0)
    bias = more;
  else
    bias += more;
}

// U V^T + biases as one product: two more columns.
StackedFactors<double> with_biases(const OffsetModel& model) {
  const Index k = model.Z.rank(), q = model.Z.V().rows();
  StackedFactors<double> total(model.Z.rows, q, false, k + 2);
  total.Z.leftCols(k) = model.Z.Z;
  total.U().col(k).setConstant(model.biases.global);
  if (model.biases.row.size() > 0) total.U().col(k) += model.biases.row;
  total.V().col(k).setOnes();
  total.U().col(k + 1).setOnes();
  if (model.biases.col.size() > 0) total.V().col(k + 1) = model.biases.col;
  return total;
}

// Moves the row means of U V^T, taken over these columns, into the biases; then the same for the
// columns. What is left is U (V - 1 m^T)^T.
void move_row_means(OffsetModel& model, const DeterminedLines& lines) {
  const Vector<double> mean = mean_row(model.Z.V(), lines.cols);
  add_to(model.biases.row, model.Z.U() * mean);
  model.Z.V().rowwise() -= mean.transpose();
}
void move_col_means(OffsetModel& model, const DeterminedLines& lines) {
  const Vector<double> mean = mean_row(model.Z.U(), lines.rows);
  add_to(model.biases.col, model.Z.V() * mean);
  model.Z.U().rowwise() -= mean.transpose();
}

// U V^T - offset 1 1^T, one column more.
void move_offset(OffsetModel& model, double offset) {
  const Index k = model.Z.rank();
  model.biases.global += offset;
  model.Z.Z.conservativeResize(Eigen::NoChange, k + 1);
  model.Z.U().col(k).setConstant(-offset);
  model.Z.V().col(k).setOnes();
}

void keep_columns(OffsetModel& model, Index rank) {
  model.Z = leading_columns(balanced(model.Z), rank);
}

// The mean of a bias belongs to the global one.
void center_biases(Biases& biases) {
  for (Vector<double>* bias : {&biases.row, &biases.col}) {
    if (bias->size() == 0) continue;
    const double mean = bias->mean();
    biases.global += mean;
    bias->array() -= mean;
  }
}

class ExactModels {
 public:
  ExactModels(const MeasurementOperator<double>& op, const OffsetModel& start)
      : op_(op),
        start_(start),
        lines_(determined_lines(op, std::max<Index>(1, start.Z.rank()))),
        svd_(svd_of_part(start.Z, lines_)) {}

  // Of the smallest rank that this kind allows; nothing where it lacks offsets of the start.
  std::optional<OffsetModel> of(Centering kind) const {
    if (kind == Centering::kNone) return without_offsets();
    if (!includes(kind, start_.center)) return std::nullopt;
    return kind == Centering::kGlobal ? with_global() : with_lines(kind);
  }

 private:
  OffsetModel without_offsets() const {
    if (start_.center == Centering::kNone) return start_;
    OffsetModel model;
    model.Z = with_biases(start_);
    const Vector<double> s = svd_of_part(model.Z, lines_).s;
    const double smallest = std::max(kNoColumn * svd_.s(0), 1e-14 * s(0));
    keep_columns(model, (s.array() > smallest).count());
    return model;
  }

  // U V^T - m 1 1^T has a lower rank for one m alone, 1 / (1^T (U V^T)^+ 1).
  OffsetModel with_global() const {
    OffsetModel model = start_;
    model.center = Centering::kGlobal;
    if (!holds_ones(svd_.U) || !holds_ones(svd_.V)) return model;
    const Vector<double> left = svd_.U.colwise().sum().transpose();
    const Vector<double> right = svd_.V.colwise().sum().transpose();
    const Vector<double> terms = left.cwiseProduct(right).cwiseQuotient(svd_.s);
    const double inverse = terms.sum();
    if (!(std::abs(inverse) > kNoColumn * terms.lpNorm<1>())) return model;
    move_offset(model, 1 / inverse);
    keep_columns(model, start_.Z.rank() - 1);
    return model;
  }

  OffsetModel with_lines(Centering kind) const {
    OffsetModel model = start_;
    model.center = kind;
    if (has_rows(kind)) {
      const bool lower = holds_ones(svd_.V);
      move_row_means(model, lines_);
      keep_columns(model, start_.Z.rank() - (lower ? 1 : 0));
    }
    if (has_cols(kind) && model.Z.rank() > 0) {
      const bool lower = holds_ones(svd_of_part(model.Z, lines_).U);
      move_col_means(model, lines_);
      keep_columns(model, model.Z.rank() - (lower ? 1 : 0));
    }
    center_biases(model.biases);
    return model;
  }

  const MeasurementOperator<double>& op_;
  const OffsetModel& start_;
  DeterminedLines lines_;
  FactoredSvd<double> svd_;
};

double parameters(const MeasurementOperator<double>& op, const OffsetModel& model) {
  const auto k = static_cast<double>(model.Z.rank());
  const auto lines = static_cast<double>(op.rows() + op.cols());
  return k * (lines - k) + bias_parameters(model.center, op.rows(), op.cols());
}

// Factors for the data less the biases; false where that is no exact fit.
bool refit(const MeasurementOperator<double>& op, const Vector<double>& b, double zero,
           OffsetModel& model) {
  const Vector<double> rest = b - measured(op, model.biases);
  return std::sqrt(2 * fit_factors(op, rest, model.Z, FitOptions{}).objective) <= zero;
}

}  // namespace

OffsetModel dominant_offsets(const MeasurementOperator<double>& op, const Vector<double>& b,
                             Centering allowed) {
  OffsetModel model;
  const std::vector<Centering> kinds = kinds_within(allowed);
  if (kinds.size() == 1) return model;
  BiasFit all(op, kinds.back());
  all.converge(b, 3, 0);
  const double size = measured_stable_norm(op, b);
  if (size <= kDominance * all.left(b)) return model;
  all.converge(b, 60, 1e-10);
  const double least = all.left(b);
  if (least <= 1e-12 * size) return model;
  // The simplest kind that leaves about as little as all offsets together; of rows and columns the
  // one that leaves less.
  double most = kDominance * least;
  for (const Centering kind : kinds) {
    if (kind == Centering::kBoth && model.center == Centering::kRows) break;
    BiasFit fit(op, kind);
    fit.converge(b, 60, 1e-10);
    const double now = fit.left(b);
    if (now > most) continue;
    model.center = kind;
    model.biases = fit.biases;
    if (kind != Centering::kRows) break;
    most = now;
  }
  return model;
}

OffsetModel exact_offsets(const MeasurementOperator<double>& op, const Vector<double>& b,
                          const OffsetModel& start, Centering wanted, double zero) {
  if (start.Z.rank() == 0) return start;
  const ExactModels models(op, start);
  std::vector<OffsetModel> candidates;
  for (const Centering kind : kinds_within(Centering::kAuto)) {
    if (wanted != Centering::kAuto && kind != wanted) continue;
    if (auto model = models.of(kind)) candidates.push_back(std::move(*model));
  }
  std::stable_sort(candidates.begin(), candidates.end(), [&](const auto& a, const auto& c) {
    return parameters(op, a) < parameters(op, c);
  });
  if (wanted == Centering::kAuto && !candidates.empty() && candidates.front().Z.rank() == 0) {
    const auto none = models.of(Centering::kNone);
    candidates = {*none};
  }
  for (OffsetModel& model : candidates) {
    if (model.Z.rank() == 0) continue;
    if (model.center == start.center && model.Z.rank() == start.Z.rank()) return start;
    if (refit(op, b, zero, model)) return model;
  }
  OffsetModel model = start;
  if (wanted != Centering::kAuto) model.center = wanted;
  return model;
}

Centering joined(Centering a, Centering b) {
  const bool rows = has_rows(a) || has_rows(b), cols = has_cols(a) || has_cols(b);
  if (rows || cols)
    return rows && cols ? Centering::kBoth : rows ? Centering::kRows : Centering::kCols;
  return a == Centering::kGlobal || b == Centering::kGlobal ? Centering::kGlobal : Centering::kNone;
}

Biases sum_of(const Biases& a, Biases b) {
  const auto add = [](const Vector<double>& more, Vector<double>& sum) {
    if (sum.size() == 0)
      sum = more;
    else if (more.size() > 0)
      sum += more;
  };
  b.global += a.global;
  add(a.row, b.row);
  add(a.col, b.col);
  return b;
}

Biases difference(const Biases& a, Biases b) {
  b.global = -b.global;
  b.row = -b.row;
  b.col = -b.col;
  return sum_of(a, std::move(b));
}

}  // namespace udv
