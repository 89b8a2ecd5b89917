// SPDX-License-Identifier: MIT
#include "recover/solver/equilibrate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace udv {
namespace {

// Rounds, and how many of them show whether lines are alike; one side alone converges slowly.
constexpr int kRounds = 10, kFirstRounds = 2;
constexpr int kSymmetricRounds = 30, kFirstSymmetricRounds = 10;
// Against the median: the largest, the one at 5 %, the smallest. The smallest of N Gaussian
// numbers is about 1 / N of the median, so that it may be much smaller by chance.
constexpr double kLargest = 30, kSmall = 30, kSmallest = 1e5;

bool spread_matters(const Vector<double>& scales) {
  Vector<double> sorted = scales;
  std::sort(sorted.begin(), sorted.end());
  const Index n = sorted.size();
  if (n == 0) return false;
  const double median = sorted(n / 2);
  return sorted(n - 1) > kLargest * median || median > kSmall * sorted(n / 20) ||
         median > kSmallest * sorted(0);
}

// A(r c^T).
Vector<double> products(const MeasurementOperator<double>& op, const LineScales& scales) {
  const RowMatrix<double> r = scales.rows;
  const RowMatrix<double> c = scales.cols;
  Vector<double> y;
  op.apply(r, Vector<double>::Ones(1), op.symmetric() ? r : c, y);
  return y;
}

// x_ij / (r_i c_j); the weight of an entry, where it has one, is in both.
Vector<double> quotients(const MeasurementOperator<double>& op, const Vector<double>& b,
                         const LineScales& scales) {
  const Vector<double> y = products(op, scales);
  return (y.array() != 0).select(b.array() / y.array(), 0.0);
}

// Mean of z in each row (or column); 0 where there are no entries.
class LineMeans {
 public:
  explicit LineMeans(const MeasurementOperator<double>& op) : op_(op) {
    const Vector<double> ones = Vector<double>::Ones(op.num_measurements());
    row_counts_ = row_sums(ones);
    col_counts_ = col_sums(ones);
  }

  Vector<double> of_rows(const Vector<double>& z) const {
    return row_sums(z).cwiseQuotient(row_counts_.cwiseMax(1e-300));
  }
  Vector<double> of_cols(const Vector<double>& z) const {
    return col_sums(z).cwiseQuotient(col_counts_.cwiseMax(1e-300));
  }

 private:
  Vector<double> row_sums(const Vector<double>& z) const {
    RowMatrix<double> sums(op_.rows(), 1);
    op_.adjoint_times(z, RowMatrix<double>::Ones(op_.cols(), 1), sums);
    return sums;
  }
  Vector<double> col_sums(const Vector<double>& z) const {
    RowMatrix<double> sums(op_.cols(), 1);
    op_.adjoint_transpose_times(z, RowMatrix<double>::Ones(op_.rows(), 1), sums);
    return sums;
  }

  const MeasurementOperator<double>& op_;
  Vector<double> row_counts_, col_counts_;
};

// scales *= mean^power, where there is something to measure; elsewhere the median of the others.
void rescale(Vector<double>& scales, const Vector<double>& mean_squares, double power) {
  std::vector<double> measured;
  for (Index i = 0; i < scales.size(); ++i)
    if (mean_squares(i) > 0) {
      scales(i) *= std::pow(mean_squares(i), power);
      measured.push_back(scales(i));
    }
  if (measured.empty()) return;
  const auto middle = measured.begin() + static_cast<std::ptrdiff_t>(measured.size() / 2);
  std::nth_element(measured.begin(), middle, measured.end());
  for (Index i = 0; i < scales.size(); ++i)
    if (!(mean_squares(i) > 0)) scales(i) = *middle;
}

}  // namespace

bool LineScales::matter() const {
  return spread_matters(rows) || spread_matters(cols);
}

LineScales line_scales(const MeasurementOperator<double>& op, const Vector<double>& b) {
  const LineMeans means(op);
  LineScales scales{Vector<double>::Ones(op.rows()), Vector<double>::Ones(op.cols())};
  // Line by line, squares of very different numbers neither overflow nor vanish before the
  // division: it comes first.
  const int rounds = op.symmetric() ? kSymmetricRounds : kRounds;
  const int first = op.symmetric() ? kFirstSymmetricRounds : kFirstRounds;
  for (int round = 0; round < rounds; ++round) {
    if (round == first && !scales.matter()) break;
    Vector<double> squares = quotients(op, b, scales).cwiseAbs2();
    rescale(scales.rows, means.of_rows(squares), op.symmetric() ? 0.25 : 0.5);
    if (op.symmetric()) {
      scales.cols = scales.rows;
      continue;
    }
    squares = quotients(op, b, scales).cwiseAbs2();
    rescale(scales.cols, means.of_cols(squares), 0.5);
  }
  return scales;
}

LineScales LineScales::beyond(double factor) const {
  const auto shrunken = [factor](Vector<double> scales) {
    if (scales.size() == 0) return scales;
    Vector<double> sorted = scales;
    std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
    const double median = sorted(sorted.size() / 2);
    for (double& scale : scales) {
      const double ratio = scale / median;
      scale = ratio > factor ? ratio / factor : ratio < 1 / factor ? ratio * factor : 1;
    }
    return scales;
  };
  return {shrunken(rows), shrunken(cols)};
}

Vector<double> divided(const MeasurementOperator<double>& op, const Vector<double>& b,
                       const LineScales& scales) {
  const LineScales none{Vector<double>::Ones(op.rows()), Vector<double>::Ones(op.cols())};
  return quotients(op, b, scales).cwiseProduct(products(op, none));
}

StackedFactors<double> multiplied(StackedFactors<double> Z, const LineScales& scales) {
  Z.U() = scales.rows.asDiagonal() * Z.U();
  if (!Z.symmetric) Z.V() = scales.cols.asDiagonal() * Z.V();
  return Z;
}

}  // namespace udv
