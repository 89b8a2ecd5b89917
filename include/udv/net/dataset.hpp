// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::net {

enum class Task { kRegression, kClassification };

/// Samples with what should come out of them: one row each. Labels are 0 .. classes - 1.
template <typename Real>
struct UDV_EXPORT Dataset {
  Task task = Task::kRegression;
  RowMatrix<Real> X;                 ///< n x d
  RowMatrix<Real> Y;                 ///< n x c, regression
  std::vector<std::int32_t> labels;  ///< n, classification
  Index classes = 0;

  Index size() const { return X.rows(); }
  Index outputs() const { return task == Task::kRegression ? Y.cols() : classes; }

  /// The rows with these numbers, in this order, into the first rows of `out`, whose arrays are
  /// large enough.
  void gather(const Index* rows, Index count, Dataset& out) const;
  /// The same as a data set of its own.
  Dataset subset(const std::vector<Index>& rows) const;

  /// Hash of all numbers; `start` is the hash of what comes before, 0 where there is nothing.
  std::uint64_t content_hash(std::uint64_t start = 0) const;

  /// Throws InvalidArgument naming what does not fit: sizes, a value that is not finite, a label.
  void validate(const std::string& name) const;
};

/// Rows 0 .. n - 1 in two parts by a permutation that the seed fixes: the last round(share n) of it
/// are the test part. Both parts have at least one row; throws InvalidArgument where that cannot
/// be.
struct Split {
  std::vector<Index> train, test;
};
UDV_EXPORT Split split_rows(Index size, double test_share, std::uint64_t seed);

/// Positions 0 .. n - 1 of rows to learn from in a training and a validation part (`test` of the
/// result), which has round(share n) rows, at most kMostValidationRows; nothing where the share is
/// 0 or where n is below kFewestValidated. Classes have their share in it; `labels` is empty for
/// values. Training, pruning and reports find the same rows by the same numbers.
inline constexpr Index kFewestValidated = 50, kMostValidationRows = 10'000;
UDV_EXPORT Split validation_split(Index size, const std::vector<std::int32_t>& labels, double share,
                                  std::uint64_t seed);

}  // namespace udv::net
