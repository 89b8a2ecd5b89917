// SPDX-License-Identifier: MIT
#include "udv/recover/posterior.hpp"

#include <algorithm>
#include <cmath>

namespace udv {
namespace {

Index packed_at(Index r, Index c) {
  return r * (r + 1) / 2 + c;
}

Index stride_of(Index width, bool diagonal) {
  return diagonal ? 2 * width : width * (width + 3) / 2;
}

// Means and variances alone.
void reduce_to_diagonal(Posterior::Side& side) {
  const Index D = side.width, from = stride_of(D, false), to = stride_of(D, true);
  for (Index i = 0; i < side.lines; ++i) {
    const float* const old = side.records.data() + i * from;
    float* const now = side.records.data() + i * to;
    std::copy(old, old + D, now);
    for (Index c = 0; c < D; ++c) now[D + c] = old[D + packed_at(c, c)];
  }
  side.records.resize(static_cast<size_t>(side.lines * to));
  side.records.shrink_to_fit();
}

}  // namespace

Posterior::Posterior(Side rows, Side cols, Noise noise)
    : rows_(std::move(rows)), cols_(std::move(cols)), noise_(std::move(noise)) {
  diagonal_ = keeps_diagonals_only(rows_.lines + cols_.lines, rows_.width);
  if (!diagonal_) return;
  reduce_to_diagonal(rows_);
  reduce_to_diagonal(cols_);
}

Posterior::Posterior(Side rows, Side cols, Noise noise, bool is_diagonal)
    : rows_(std::move(rows)),
      cols_(std::move(cols)),
      noise_(std::move(noise)),
      diagonal_(is_diagonal) {}

double Posterior::variance(Index i, Index j) const {
  const Index D = rows_.width, stride = stride_of(D, diagonal_);
  const float* const row = rows_.records.data() + i * stride;
  const float* const col = cols_.records.data() + j * stride;
  const auto part = [](const float* mean, Index c) {
    return c == 0 ? 1.0 : static_cast<double>(mean[c]);
  };
  double sum = 0;
  for (Index r = 0; r < D; ++r)
    for (Index c = diagonal_ ? r : 0; c <= r; ++c) {
      const Index at = D + (diagonal_ ? r : packed_at(r, c));
      const double S = static_cast<double>(row[at]), T = static_cast<double>(col[at]);
      const double both = part(col, r) * S * part(col, c) + part(row, r) * T * part(row, c) +
                          (r > 0 && c > 0 ? S * T : 0.0);
      sum += r == c ? both : 2 * both;
    }
  return std::max(sum, 0.0);
}

Vector<double> Posterior::line_deviations(bool rows) const {
  const Side &own = rows ? rows_ : cols_, &other = rows ? cols_ : rows_;
  const Index D = own.width, stride = stride_of(D, diagonal_);
  const auto covariance = [&](const float* record, Index r, Index c) {
    if (diagonal_) return r == c ? static_cast<double>(record[D + r]) : 0.0;
    return static_cast<double>(record[D + packed_at(std::max(r, c), std::min(r, c))]);
  };
  Matrix<double> M = Matrix<double>::Zero(D, D);
  for (Index j = 0; j < other.lines; ++j) {
    const float* const record = other.records.data() + j * stride;
    for (Index r = 0; r < D; ++r)
      for (Index c = 0; c < D; ++c) {
        const double a = r == 0 ? 1 : static_cast<double>(record[r]);
        const double b = c == 0 ? 1 : static_cast<double>(record[c]);
        M(r, c) += a * b + (r > 0 && c > 0 ? covariance(record, r, c) : 0);
      }
  }
  M /= static_cast<double>(std::max<Index>(other.lines, 1));
  Vector<double> result(own.lines);
  for (Index i = 0; i < own.lines; ++i) {
    const float* const record = own.records.data() + i * stride;
    double sum = 0;
    for (Index r = 0; r < D; ++r)
      for (Index c = 0; c < D; ++c) sum += covariance(record, r, c) * M(r, c);
    result(i) = std::sqrt(std::max(sum, 0.0));
  }
  return result;
}

double Posterior::deviation(Index i, Index j, double value) const {
  double noise = noise_.variance;
  if (noise_.row.size() > 0) noise *= noise_.row(i);
  if (noise_.col.size() > 0) noise *= noise_.col(j);
  if (noise_.smallest_count > 0) noise *= std::max(value, noise_.smallest_count);
  return std::sqrt(variance(i, j) + noise);
}

}  // namespace udv
