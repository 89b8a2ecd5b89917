// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recover/operators/restricted.hpp"
#include "support/random_data.hpp"
#include "udv/recover/operators/dense.hpp"
#include "udv/recover/operators/entries.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/operators/rank_one.hpp"
#include "udv/recover/operators/user.hpp"

/// Every kind of measurement operator, small or large: the law tests run over this list, so a new
/// operator is tested in every scalar by one more line in operator_cases().
namespace udv::testing {

template <typename Scalar>
using SharedOperator = std::shared_ptr<const MeasurementOperator<Scalar>>;
using OperatorPointer = SharedOperator<double>;

template <typename Scalar>
struct OperatorCase {
  std::string name;
  std::function<SharedOperator<Scalar>(Index size)> make;  ///< on matrices of `size` rows
  Index large;             ///< size at which every kernel is cut into several blocks
  bool subsets = true;     ///< can leave measurements out
  bool unbiased = false;   ///< mean_gain() is that of a random Gaussian matrix
  bool by_images = false;  ///< leaves out whole images only
};

/// About half of the places of a matrix, in random order; every fifth line empty where wanted.
inline Entries random_pattern(Index rows, Index cols, bool symmetric, bool gaps) {
  Entries entries{rows, cols, symmetric, {}, {}, {}};
  Random random(17, kTestStream);
  for (Index i = 0; i < rows; ++i)
    for (Index j = symmetric ? i : 0; j < cols; ++j) {
      const bool gap = gaps && (i % 5 == 2 || j % 5 == 3);
      if (gap || random.uniform() > 0.5) continue;
      entries.row.push_back(static_cast<std::int32_t>(i));
      entries.col.push_back(static_cast<std::int32_t>(j));
      entries.value.push_back(random.normal());
      const auto other = static_cast<size_t>(random.below(entries.size()));
      std::swap(entries.row.back(), entries.row[other]);
      std::swap(entries.col.back(), entries.col[other]);
    }
  return entries;
}

template <typename Scalar = double>
SharedOperator<Scalar> make_entries(Index rows, Index cols, bool symmetric, bool gaps) {
  return std::make_shared<EntriesOperator<Scalar>>(random_pattern(rows, cols, symmetric, gaps));
}

/// The same places with weights from 0 to 4; every seventh entry has none.
inline Entries random_weighted_pattern(Index rows, Index cols, bool symmetric) {
  Entries entries = random_pattern(rows, cols, symmetric, false);
  Random random(22, kTestStream);
  for (Index t = 0; t < entries.size(); ++t)
    entries.weight.push_back(t % 7 == 3 ? 0 : 4 * random.uniform());
  return entries;
}

template <typename Scalar = double>
std::shared_ptr<const DenseOperator<Scalar>> make_dense(Index rows, Index cols, bool symmetric) {
  const Index n = 5 * rows;
  return std::make_shared<DenseOperator<Scalar>>(random_rows<Scalar>(n, rows * cols, 18), rows,
                                                 cols, symmetric);
}

/// The functions of a dense operator as a user would write them. Where symmetric, the A_i given
/// are not symmetric: the user operator has to see to that.
template <typename Scalar = double>
UserFunctions<Scalar> user_functions(Index rows, Index cols, bool symmetric) {
  const auto dense = make_dense<Scalar>(rows, cols, false);
  UserFunctions<Scalar> functions{rows, cols, dense->num_measurements(), symmetric, {}, {}, {}};
  functions.apply = [dense](const auto& U, const auto& d, const auto& V, auto& y) {
    dense->apply(U, d, V, y);
  };
  functions.adjoint_times = [dense](const auto& z, const auto& V, auto out) {
    dense->adjoint_times(z, V, out);
  };
  functions.adjoint_transpose_times = [dense](const auto& z, const auto& U, auto out) {
    dense->adjoint_transpose_times(z, U, out);
  };
  return functions;
}

template <typename Scalar = double>
SharedOperator<Scalar> make_user(Index rows, Index cols, bool symmetric) {
  return std::make_shared<UserOperator<Scalar>>(user_functions<Scalar>(rows, cols, symmetric));
}

template <typename Scalar = double>
SharedOperator<Scalar> make_rank_one(Index rows) {
  return std::make_shared<RankOneOperator<Scalar>>(random_rows<Scalar>(5 * rows, rows, 19));
}

/// Unknowns as an image of size / 4 x 4; windows of it that overlap, through a random pupil.
template <typename Scalar>
SharedOperator<Scalar> make_ptychography(Index size) {
  using Complex = std::complex<double>;
  const Index rows = size / 4;
  std::vector<Window> windows;
  for (const Index row : {0, 1})
    for (const Index col : {0, 1}) windows.push_back({row, col});
  return std::make_shared<PtychographyOperator<Scalar>>(rows, 4, windows,
                                                        random_rows<Complex>(rows - 1, 3, 20));
}

template <typename Scalar>
SharedOperator<Scalar> make_coded_diffraction(Index size) {
  using Complex = std::complex<double>;
  std::vector<RowMatrix<Complex>> masks;
  for (std::uint64_t l = 0; l < 4; ++l) masks.push_back(random_rows<Complex>(size / 4, 4, 21 + l));
  return std::make_shared<CodedDiffractionOperator<Scalar>>(masks);
}

/// Every entry but each third one of a larger x.
template <typename Scalar>
std::shared_ptr<const RestrictedOperator<Scalar>> make_restricted(Index size) {
  const auto whole =
      std::dynamic_pointer_cast<const IntensityOperator<Scalar>>(make_rank_one<Scalar>(2 * size));
  std::vector<Index> entries;
  for (Index j = 0; static_cast<Index>(entries.size()) < size; ++j)
    if (j % 3 != 1) entries.push_back(j);
  return {new RestrictedOperator<Scalar>(*whole, entries), [whole](const auto* op) { delete op; }};
}

/// Real unknowns behind a complex array.
template <typename Real>
SharedOperator<Real> make_real_unknowns(Index size) {
  const auto whole = std::dynamic_pointer_cast<const IntensityOperator<std::complex<Real>>>(
      make_rank_one<std::complex<Real>>(size));
  return {new RealUnknowns<std::complex<Real>>(*whole), [whole](const auto* op) { delete op; }};
}

inline Index narrower(Index rows) {
  return 3 * rows / 4;
}

/// make(rows, cols, symmetric) as a function of the size alone.
template <typename Make>
auto sized(const Make& make, bool symmetric) {
  return [=](Index p) { return make(p, symmetric ? p : narrower(p), symmetric); };
}

template <typename Scalar = double>
const std::vector<OperatorCase<Scalar>>& operator_cases() {
  const auto entries = [](Index p, Index q, bool s) {
    return make_entries<Scalar>(p, q, s, false);
  };
  const auto gaps = [](Index p, Index q, bool s) { return make_entries<Scalar>(q, p, s, true); };
  const auto weighted = [](Index p, Index q, bool s) -> SharedOperator<Scalar> {
    return std::make_shared<EntriesOperator<Scalar>>(random_weighted_pattern(p, q, s));
  };
  static const std::vector<OperatorCase<Scalar>> cases = [&] {
    std::vector<OperatorCase<Scalar>> list{
        {"entries_rectangular", sized(entries, false), 200, true, true},
        {"entries_symmetric", sized(entries, true), 240, true, true},
        {"entries_with_gaps", sized(gaps, false), 280},
        {"entries_symmetric_with_gaps", sized(gaps, true), 280},
        {"entries_weighted", sized(weighted, false), 200, true, true},
        {"entries_symmetric_weighted", sized(weighted, true), 240, true, true},
        {"dense_rectangular", sized(make_dense<Scalar>, false), 40, true, true},
        {"dense_symmetric", sized(make_dense<Scalar>, true), 40, true, true},
        {"rank_one", make_rank_one<Scalar>, 100},
        {"restricted", make_restricted<Scalar>, 100, false},
        {"user_rectangular", sized(make_user<Scalar>, false), 40, false},
        {"user_symmetric", sized(make_user<Scalar>, true), 40, false},
    };
    if constexpr (kIsComplex<Scalar>) {
      list.push_back({"ptychography", make_ptychography<Scalar>, 400});
      list.push_back({"coded_diffraction", make_coded_diffraction<Scalar>, 400});
      for (auto* item : {&list[list.size() - 2], &list.back()}) item->by_images = true;
    } else {
      list.push_back({"real_unknowns", make_real_unknowns<Scalar>, 100, false});
    }
    return list;
  }();
  return cases;
}

/// Calls law(case) for every operator.
template <typename Scalar, typename Law>
void for_every_operator(const Law& law) {
  for (const OperatorCase<Scalar>& item : operator_cases<Scalar>()) {
    SCOPED_TRACE(item.name);
    law(item);
  }
}

constexpr Index kSmallOperator = 12;

/// Calls law(operator, width). Real kernels change where widths pass 16 and 32.
template <typename Scalar, typename Law>
void for_every_operator_and_width(const Law& law) {
  const std::vector<Index> widths =
      kIsComplex<Scalar> ? std::vector<Index>{1, 3, 17} : std::vector<Index>{1, 3, 16, 17, 33, 100};
  for_every_operator<Scalar>([&](const OperatorCase<Scalar>& item) {
    const SharedOperator<Scalar> op = item.make(kSmallOperator);
    for (const Index width : widths) {
      SCOPED_TRACE(width);
      law(*op, width);
    }
  });
}

}  // namespace udv::testing
