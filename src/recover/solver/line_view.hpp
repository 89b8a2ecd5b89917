// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "udv/core/random.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {

/// The entries of one line against the other side: y ~ F z.
struct Line {
  RowMatrix<double> F;
  Vector<double> y;
  Vector<double> prior;  ///< 1, or less where the other line is doubtful itself

  Vector<double> deviations(const Vector<double>& z) const { return (F * z - y).cwiseAbs(); }
  Index count_beyond(const Vector<double>& z, double threshold) const {
    return (deviations(z).array() > threshold).count();
  }
};

/// Puts k random elements of `order` first.
inline void draw_first(Index k, Random& random, std::vector<Index>& order) {
  const auto size = static_cast<Index>(order.size());
  for (Index c = 0; c < k; ++c)
    std::swap(order[static_cast<size_t>(c)],
              order[static_cast<size_t>(c + random.below(size - c))]);
}

/// Draws of k entries until one of them is free of errors but for a chance of 0.001, where `good`
/// of `size` entries are; good >= k.
inline double draws_needed(Index good, Index size, Index k) {
  constexpr double kFailure = 1e-3;
  double free_of_errors = 1;
  for (Index c = 0; c < k; ++c)
    free_of_errors *= static_cast<double>(good - c) / static_cast<double>(size - c);
  return free_of_errors < 1 ? std::log(kFailure) / std::log1p(-free_of_errors) : 1;
}

/// One side of a factored matrix seen line by line, the other side fixed: rows against V, or
/// columns against U. Where symmetric, a line is a row and a column.
template <typename Scalar>
class LineView {
 public:
  LineView(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b, bool columns)
      : op_(op), b_(b), columns_(columns) {}

  RowMatrix<Scalar> partners_of(const StackedFactors<Scalar>& Z) const {
    return columns_ ? Z.U() : Z.V();
  }
  Rows<Scalar> own_of(StackedFactors<Scalar>& Z) const { return columns_ ? Z.V() : Z.U(); }
  /// Random numbers of line i.
  std::uint64_t stream_of(Index i) const {
    return kStreamLines + 16 * static_cast<std::uint64_t>((columns_ ? op_.rows() : 0) + i);
  }

  /// Calls visit(partner, entry) for the entries of line i. The diagonal of a symmetric matrix is
  /// not linear in its line and is left out.
  template <typename Visit>
  void visit_own(Index i, const Visit& visit) const {
    visit_line(i, columns_, visit);
  }

  /// `doubtful` partners have a small prior weight.
  Line line_of(Index i, const RowMatrix<Scalar>& partners,
               const std::vector<char>& doubtful) const {
    constexpr double kDoubtfulPartner = 1e-3;
    Index size = 0;
    visit_own(i, [&](Index, Index) { ++size; });
    Line line{RowMatrix<double>(size, partners.cols()), Vector<double>(size), Vector<double>(size)};
    Index s = 0;
    visit_own(i, [&](Index partner, Index entry) {
      const double root = op_.root_weights().size() > 0 ? op_.root_weights()(entry) : 1.0;
      line.F.row(s) = root * partners.row(partner).template cast<double>();
      line.y(s) = b_(entry);
      line.prior(s) = doubtful[static_cast<size_t>(partner)] ? kDoubtfulPartner : 1.0;
      ++s;
    });
    return line;
  }

  /// 1 for entries beyond the threshold.
  std::vector<char> bad_entries(double threshold, const StackedFactors<Scalar>& Z) const {
    Reals<Scalar> residual;
    apply_stack(op_, Z, residual);
    residual -= b_;
    std::vector<char> bad(static_cast<size_t>(residual.size()));
    for (size_t t = 0; t < bad.size(); ++t)
      bad[t] = std::abs(residual(static_cast<Index>(t))) > threshold;
    return bad;
  }

  /// Entries of a line, and the bad ones among them.
  std::pair<Index, Index> count_own(Index i, const std::vector<char>& bad) const {
    return count_line(i, columns_, bad);
  }

  /// Lines of the other side with more than half of their entries bad.
  std::vector<char> doubtful_partners(const std::vector<char>& bad) const {
    const bool partners_are_columns = !columns_ && !op_.symmetric();
    const Index lines = partners_are_columns ? op_.cols() : op_.rows();
    std::vector<char> doubtful(static_cast<size_t>(lines));
    for (Index i = 0; i < lines; ++i) {
      const auto [size, count] = count_line(i, partners_are_columns, bad);
      doubtful[static_cast<size_t>(i)] = 2 * count > size;
    }
    return doubtful;
  }

 private:
  template <typename Visit>
  void visit_line(Index i, bool columns, const Visit& visit) const {
    const auto visit_tile = [&](const SparseLines& tile) {
      for (auto s = tile.first[i]; s < tile.first[i + 1]; ++s)
        if (!op_.symmetric() || tile.other[s] != i) visit(tile.other[s], tile.entry[s]);
    };
    if (!columns || op_.symmetric()) visit_tile(op_.by_row());
    if (!columns && !op_.symmetric()) return;
    for (Index t = 0; t < op_.by_col().tiles(); ++t) visit_tile(op_.by_col().tile(t));
  }

  std::pair<Index, Index> count_line(Index i, bool columns, const std::vector<char>& bad) const {
    Index size = 0, count = 0;
    visit_line(i, columns, [&](Index, Index entry) {
      ++size;
      count += bad[static_cast<size_t>(entry)];
    });
    return {size, count};
  }

  const EntriesOperator<Scalar>& op_;
  const Reals<Scalar>& b_;
  bool columns_;
};

}  // namespace udv
