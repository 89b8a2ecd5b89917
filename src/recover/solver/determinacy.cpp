// SPDX-License-Identifier: MIT
#include "udv/recover/solver/determinacy.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/instantiate.hpp"
#include "core/lapack.hpp"
#include "recover/solver/balance.hpp"
#include "recover/solver/null_space.hpp"
#include "recover/solver/offset_columns.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/solver/levenberg_marquardt.hpp"

namespace udv {
namespace {

constexpr int kMostDraws = 64;                  // to count free directions
constexpr Index kDenseParameters = 240;         // up to here they are counted by eigenvalues
constexpr Index kExactShare = 4'000'000;        // entries of X that are looked at one by one
constexpr Index kSampledEntries = 200'000;      // of a larger X
constexpr int kStarts = 64, kFewStarts = 8;     // for another answer; few where fits take long
constexpr double kWeak = 1e-10;                 // eigenvalue of a weak measurement that counts
constexpr int kMostBits = 6;                    // of the starts with other signs
constexpr Index kLongFit = 100'000;             // measurements times rank of such a fit
constexpr double kOther = 1e-5;                 // relative difference that makes another answer
constexpr Index kManyMeasurements = 1'000'000;  // fewer draws are made for more of them
constexpr int kFewDraws = 4;
constexpr double kLooseTolerance = 1e-2;   // where the steps do not suffice
constexpr double kIndependentDraw = 1e-9;  // eigenvalue of the draws' Gram matrix

template <typename Scalar>
constexpr double kTolerance = std::max(1e-6, 1e4 * kEpsilon<Scalar>);

size_t at(Index i) {
  return static_cast<size_t>(i);
}

template <typename Scalar>
using Wide = std::conditional_t<kIsComplex<Scalar>, std::complex<double>, double>;

// M for the rows and M^-* for the columns; where symmetric M is unitary, so they are the same.
template <typename Scalar>
std::pair<Matrix<Scalar>, Matrix<Scalar>> random_gauge(Index k, bool symmetric, Random& random) {
  Matrix<Scalar> M(k, k);
  random.fill_normal(M);
  const auto svd = lapack::thin_svd<Wide<Scalar>>(M.template cast<Wide<Scalar>>());
  const Matrix<Scalar> unitary = svd.U.lazyProduct(svd.V.adjoint()).template cast<Scalar>();
  if (symmetric) return {unitary, unitary};
  const Vector<Wide<Scalar>> s = svd.s.cwiseMax(1e-3).template cast<Wide<Scalar>>();
  const Matrix<Wide<Scalar>> rows = (svd.U * s.asDiagonal()).lazyProduct(svd.V.adjoint());
  const Matrix<Wide<Scalar>> cols =
      (svd.U * s.cwiseInverse().asDiagonal()).lazyProduct(svd.V.adjoint());
  return {rows.template cast<Scalar>(), cols.template cast<Scalar>()};
}

// Each group but the first in another gauge, lines alone anywhere. Products of small matrices are
// plain sums here: Eigen's kernels for large ones take the compiler ten seconds.
template <typename Scalar>
StackedFactors<Scalar> in_other_gauges(const StackedFactors<Scalar>& Z,
                                       const std::vector<std::int32_t>& groups, Random& random) {
  StackedFactors<Scalar> start = Z;
  std::map<std::int32_t, std::pair<Matrix<Scalar>, Matrix<Scalar>>> gauges;
  for (Index line = 0; line < start.Z.rows(); ++line) {
    const std::int32_t group = groups[at(line)];
    if (group == 0) continue;
    auto row = start.Z.row(line);
    if (group < 0) {
      RowMatrix<Scalar> values(1, Z.rank());
      random.fill_normal(values);
      row = values * (row.norm() / values.norm());
    } else {
      if (!gauges.count(group)) gauges[group] = random_gauge<Scalar>(Z.rank(), Z.symmetric, random);
      const auto& [of_rows, of_cols] = gauges[group];
      row = row.lazyProduct(line < Z.rows ? of_rows : of_cols).eval();
    }
  }
  return start;
}

// Numbers from 1 for what hangs together by measured entries beside the first group, which has 0.
template <typename Scalar>
std::vector<Index> parts_beside_first(const MeasurementOperator<Scalar>& op,
                                      const std::vector<std::int32_t>& groups) {
  std::vector<Index> parent(groups.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](Index line) {
    while (parent[at(line)] != line) line = parent[at(line)] = parent[at(parent[at(line)])];
    return line;
  };
  op.visit_entries([&](Index i, Index j) {
    const Index other = op.symmetric() ? j : op.rows() + j;
    if (groups[at(i)] != 0 && groups[at(other)] != 0) parent[at(root(i))] = root(other);
  });
  std::map<Index, Index> numbers;
  std::vector<Index> parts;
  for (Index line = 0; line < static_cast<Index>(groups.size()); ++line) {
    const Index next = static_cast<Index>(numbers.size()) + 1;
    parts.push_back(groups[at(line)] == 0 ? 0
                                          : numbers.try_emplace(root(line), next).first->second);
  }
  return parts;
}

// The parts whose numbers have this bit with the opposite sign. Over all bits every part changes
// its sign against the first group, and any two parts against each other.
template <typename Scalar>
StackedFactors<Scalar> with_other_signs(const StackedFactors<Scalar>& Z,
                                        const std::vector<Index>& parts, int bit) {
  StackedFactors<Scalar> start = Z;
  for (Index line = 0; line < start.Z.rows(); ++line)
    if (parts[at(line)] >> bit & 1) start.Z.row(line) *= Scalar(-1);
  return start;
}

// Measurements of the entries in rows of one group and columns of another, as linear functions of
// M in U_rows M V_cols^T: one column for each entry of M, column by column.
Matrix<double> corner_map(const MeasurementOperator<double>& op, const StackedFactors<double>& Z,
                          const std::vector<std::int32_t>& groups, std::int32_t of_rows,
                          std::int32_t of_cols) {
  const Index k = Z.rank(), p = op.rows();
  StackedFactors<double> corner(p, op.cols(), false, 1);
  Matrix<double> map(op.num_measurements(), k * k);
  Vector<double> column;
  for (Index b = 0; b < k; ++b)
    for (Index a = 0; a < k; ++a) {
      for (Index line = 0; line < Z.Z.rows(); ++line) {
        const bool is_row = line < p;
        const bool belongs = groups[at(line)] == (is_row ? of_rows : of_cols);
        corner.Z(line, 0) = belongs ? Z.Z(line, is_row ? a : b) : 0.0;
      }
      apply_stack<double>(op, corner, column);
      map.col(b * k + a) = column;
    }
  return map;
}

// M nearest to the identity with map vec(M) = b, as far as there are such equations.
Matrix<double> nearest_gauge(const Matrix<double>& map, const Vector<double>& b, Index k) {
  std::vector<Index> rows;
  for (Index t = 0; t < map.rows(); ++t)
    if (map.row(t).squaredNorm() > 0) rows.push_back(t);
  Matrix<double> M = Matrix<double>::Identity(k, k);
  if (rows.empty()) return M;
  Eigen::Map<Vector<double>> m(M.data(), k * k);
  const Matrix<double> equations = map(rows, Eigen::all);
  const auto svd = lapack::thin_svd<double>(equations);
  const Vector<double> missing = svd.U.transpose() * (b(rows) - equations * m);
  const double least = 1e-12 * svd.s(0);
  m += svd.V * (svd.s.array() > least).select(missing.cwiseQuotient(svd.s), 0.0).matrix();
  return M;
}

// Turns each group so that its corner with the first one fits: a linear problem in its gauge.
StackedFactors<double> with_fitted_corners(const MeasurementOperator<double>& op,
                                           const Vector<double>& b, StackedFactors<double> Z,
                                           const std::vector<std::int32_t>& groups) {
  const auto last = *std::max_element(groups.begin(), groups.end());
  for (std::int32_t group = 1; group <= last && !Z.symmetric; ++group) {
    Matrix<double> map = corner_map(op, Z, groups, 0, group);
    const bool first_rows = map.squaredNorm() > 0;
    if (!first_rows) map = corner_map(op, Z, groups, group, 0);
    const Matrix<double> M = nearest_gauge(map, b, Z.rank());
    const auto svd = lapack::thin_svd<double>(M);
    const Vector<double> inverse = svd.s.cwiseMax(1e-9 * svd.s(0)).cwiseInverse();
    const Matrix<double> M_inverse = svd.V * inverse.asDiagonal() * svd.U.transpose();
    // U_0 M V^T: V <- V M^T, U <- U M^-1.  U M V_0^T: U <- U M, V <- V M^-T.
    const Matrix<double> of_rows = first_rows ? M_inverse : M;
    const Matrix<double> of_cols = (first_rows ? M : M_inverse).transpose();
    for (Index line = 0; line < Z.Z.rows(); ++line)
      if (groups[at(line)] == group)
        Z.Z.row(line) = (Z.Z.row(line) * (line < op.rows() ? of_rows : of_cols)).eval();
  }
  return Z;
}

// A fit from the start where it is exact; nothing else.
template <typename Scalar>
std::optional<StackedFactors<Scalar>> exact_fit(const MeasurementOperator<Scalar>& op,
                                                const Reals<Scalar>& b,
                                                StackedFactors<Scalar> start, double zero) {
  FitOptions patient;
  patient.max_outer = 200;
  patient.patience = 10;
  const FitSummary fit = fit_factors(op, b, start, patient);
  if (!(2 * fit.objective <= zero * zero * squared_norm(b))) return std::nullopt;
  return start;
}

// Rows and columns of each group from `first` on.
std::vector<std::pair<std::vector<Index>, std::vector<Index>>> members(
    const std::vector<std::int32_t>& groups, Index rows, bool symmetric, std::int32_t first) {
  std::vector<std::pair<std::vector<Index>, std::vector<Index>>> result;
  const auto last = *std::max_element(groups.begin(), groups.end());
  for (std::int32_t group = first; group <= last; ++group) {
    auto& [of_rows, of_cols] = result.emplace_back();
    for (size_t line = 0; line < groups.size(); ++line) {
      if (groups[line] != group) continue;
      const auto index = static_cast<Index>(line);
      if (index < rows) of_rows.push_back(index);
      if (symmetric || index >= rows) of_cols.push_back(symmetric ? index : index - rows);
    }
  }
  return result;
}

// Some lines of the stack are no part of the model; there are no offsets then.
template <typename Scalar>
void leave_out(const std::vector<char>& lines, StackWithOffsets<Scalar>& stack) {
  const Index count = std::count(lines.begin(), lines.end(), char{1});
  stack.allowed.fixed = kParts<Scalar> * count * stack.Z.rank();
  stack.allowed.apply = [&lines](RowMatrix<Scalar>& P) {
    for (size_t i = 0; i < lines.size(); ++i)
      if (lines[i]) P.row(static_cast<Index>(i)).setZero();
  };
}

template <typename Scalar>
class DeterminacyCheck {
 public:
  DeterminacyCheck(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                   const StackWithOffsets<Scalar>& stack, const DeterminacyOptions& options)
      : op_(op),
        b_(b),
        Z_(stack.Z),
        options_(options),
        has_offsets_(stack.allowed.columns > 0),
        peeled_(op.undetermined(parameters_per_line(stack))),
        null_space_(op, stack.Z, stack.allowed, mark_open(), kTolerance<Scalar>, options.max_steps),
        random_(options.seed, kStreamDeterminacy) {}

  DeterminacyAnswer<Scalar> run() {
    facts().tolerance = open().tolerance = kTolerance<Scalar>;
    look_nearby();
    const Index rank_of_J =
        null_space_.parameters() - null_space_.gauge() - facts().free_directions;
    facts().rank_confirmed = op_.num_measurements() > rank_of_J || fully_measured();
    if (options_.exact && !facts().rank_confirmed)
      open().all_open = true;
    else if (options_.exact || !still_)
      look_far_away();
    decide();
    count_entries();
    return std::move(answer_);
  }

 private:
  // Row and column biases are one more number for each line.
  static Index parameters_per_line(const StackWithOffsets<Scalar>& stack) {
    const bool by_line = stack.allowed.more_gauge > 0;
    return stack.Z.rank() - stack.allowed.columns + (by_line ? 1 : 0);
  }

  Determinacy& facts() { return answer_.facts; }
  OpenEntries<Scalar>& open() { return answer_.open; }

  // Lines that the peeling takes away; none: an empty list. Blocks show in the movement.
  std::vector<char> mark_open() {
    Undetermined lines_only = peeled_;
    lines_only.blocks.clear();
    open() = open_entries<Scalar>(lines_only, op_);
    std::vector<char> lines = open().row;
    if (!op_.symmetric()) lines.insert(lines.end(), open().col.begin(), open().col.end());
    return lines;
  }

  bool everything_is_open() const {
    const auto all = [](const std::vector<char>& marks) {
      return !marks.empty() && std::find(marks.begin(), marks.end(), 0) == marks.end();
    };
    return all(answer_.open.row) && all(answer_.open.col);
  }

  bool fully_measured() const {
    Index entries = 0;
    op_.visit_entries([&](Index, Index) { ++entries; });
    return entries == op_.rows() * op_.cols();
  }

  // Null directions of J at the answer.
  void look_nearby() {
    draws_.push_back(null_space_.draw(random_));
    still_ = draws_.front().still;
    // Single precision cannot tell a weak measurement from none.
    constexpr bool kTellsWeakFromNone = kEpsilon<Scalar> < 1e-12;
    facts().decided = still_ || (draws_.front().converged && kTellsWeakFromNone);
    if (!facts().decided) facts().tolerance = open().tolerance = kLooseTolerance;
    const bool small = null_space_.parameters() <= kDenseParameters;
    if (still_ && !peeled_.free_parameters) {
      facts().free_directions = 0;
    } else if (!facts().decided) {
      facts().free_directions = peeled_.free_parameters;
    } else if (small) {
      const Index free = null_space_.dense_dimension() - null_space_.gauge();
      // Weak measurements hold what conjugate gradients still see moving.
      still_ = still_ || (options_.exact && free <= 0 && !peeled_.free_parameters &&
                          null_space_.dense_dimension(kWeak) <= null_space_.gauge());
      facts().free_directions = std::max<Index>(still_ ? 0 : 1, free);
    } else {
      // Where all is peeled away the gauge is among the free parameters.
      const Index gauge = everything_is_open() ? null_space_.gauge() : 0;
      facts().free_directions = peeled_.free_parameters - gauge + (still_ ? 0 : count_draws());
    }
    if (!still_) {
      open().Z = Z_;
      open().dZ = draws_.front().N;
      open().sizes = null_space_.sizes();
    }
    facts().draws = static_cast<int>(draws_.size());
    facts().steps = null_space_.steps();
    draws_.clear();
  }

  // Twice as many draws again and again, until they are dependent.
  Index count_draws() {
    Index independent = 1;
    const size_t most = op_.num_measurements() > kManyMeasurements ? kFewDraws : kMostDraws;
    while (independent == static_cast<Index>(draws_.size()) && draws_.size() < most) {
      const size_t wanted = std::max<size_t>(4, 2 * draws_.size());
      while (draws_.size() < wanted) draws_.push_back(null_space_.draw(random_));
      Matrix<double> products = null_space_.inner_products(draws_);
      const Vector<double> values = lapack::eigen_in_place<double>(products, false);
      independent = (values.array() > kIndependentDraw * values.maxCoeff()).count();
    }
    if (independent < static_cast<Index>(draws_.size())) return independent;
    facts().free_is_estimate = true;
    const double dimension = null_space_.estimated_dimension(draws_);
    const double free =
        dimension - static_cast<double>(null_space_.gauge() + peeled_.free_parameters);
    return std::max(independent, static_cast<Index>(std::lround(free)));
  }

  // Lines that no spare measurement holds to the others could stand elsewhere and fit as well.
  void look_far_away() {
    groups_ = op_.rigid_groups(Z_, [this] { return null_space_.stress(random_); });
    facts().steps = null_space_.steps();
    if (!still_) answer_.loose_blocks = members(groups_, op_.rows(), op_.symmetric(), 1);
    if (!options_.exact || !has_loose_entries()) return;
    searched_ = !has_offsets_;  // offsets cannot be fitted again here
    if (!searched_) return;
    const Index effort = op_.num_measurements() * Z_.rank();
    const int starts = effort > kLongFit || facts().free_directions > 0 ? kFewStarts : kStarts;
    const auto look_at = [&](StackedFactors<Scalar> start) {
      ++facts().starts;
      facts().another_fits = differs(refitted(std::move(start)));
    };
    const std::vector<Index> parts = parts_beside_first(op_, groups_);
    const Index last = *std::max_element(parts.begin(), parts.end());
    for (int bit = 0; bit < kMostBits && last >> bit && !facts().another_fits; ++bit)
      look_at(with_other_signs(Z_, parts, bit));
    while (facts().starts < starts && !facts().another_fits)
      look_at(in_other_gauges(Z_, groups_, random_));
    if (!facts().another_fits) return;
    open().row_group.assign(groups_.begin(), groups_.begin() + op_.rows());
    open().col_group.assign(groups_.end() - op_.cols(), groups_.end());
  }

  bool held_together(Index i, Index j) const {
    const auto a = groups_[at(i)], b = groups_[at(op_.symmetric() ? j : op_.rows() + j)];
    return a >= 0 && a == b;
  }

  // Some entry that is not measured stays nearby, but belongs to lines that are not held together.
  bool has_loose_entries() {
    if (std::all_of(groups_.begin(), groups_.end(), [](auto group) { return group == 0; }))
      return false;
    const Index p = op_.rows(), q = op_.cols();
    std::vector<bool> measured(p * q <= kExactShare ? at(p * q) : 0, false);
    if (!measured.empty())
      op_.visit_entries([&](Index i, Index j) { measured[at(i * q + j)] = true; });
    bool found = false;
    visit_entries_of_X([&](Index i, Index j) {
      found = found || (!held_together(i, j) && answer_.open.determined(i, j) &&
                        (measured.empty() || !measured[at(i * q + j)]));
    });
    return found;
  }

  std::optional<StackedFactors<Scalar>> refitted(StackedFactors<Scalar> start) const {
    return exact_fit(op_, b_, std::move(start), options_.zero_residual);
  }

  // Some entry that stays nearby, but is not held, has another value there.
  bool differs(const std::optional<StackedFactors<Scalar>>& other) {
    if (!other) return false;
    bool found = false;
    visit_entries_of_X([&](Index i, Index j) {
      if (found || held_together(i, j) || !answer_.open.determined(i, j)) return;
      const Scalar here = Z_.V().row(j).dot(Z_.U().row(i));
      const Scalar there = other->V().row(j).dot(other->U().row(i));
      const double size = static_cast<double>(Z_.U().row(i).norm()) * Z_.V().row(j).norm() +
                          static_cast<double>(other->U().row(i).norm()) * other->V().row(j).norm();
      found = std::abs(here - there) > kOther * size;
    });
    return found;
  }

  // All entries, or a sample of them.
  template <typename Visit>
  Index visit_entries_of_X(const Visit& visit) {
    const Index p = op_.rows(), q = op_.cols();
    if (p * q <= kExactShare) {
      for (Index i = 0; i < p; ++i)
        for (Index j = 0; j < q; ++j) visit(i, j);
      return p * q;
    }
    Random sample(options_.seed, kStreamProbe);
    for (Index t = 0; t < kSampledEntries; ++t) {
      const Index i = sample.below(p);
      visit(i, sample.below(q));
    }
    return kSampledEntries;
  }

  void decide() {
    Determinacy& f = facts();
    if (f.free_directions > 0)
      f.unique = false;  // NOLINT(bugprone-branch-clone): reasons in their order
    else if (!f.decided)
      f.unique = std::nullopt;
    else if (f.another_fits)
      f.unique = false;
    else if (f.rank_confirmed && searched_)
      f.unique = true;
  }

  void count_entries() {
    Determinacy& f = facts();
    f.determined_share = 1;
    if (!open().any()) return;
    if (options_.of_x) {
      f.determined_share = open().all_open ? 0 : share_of_x();
      return;
    }
    Index determined = 0;
    const Index looked_at =
        visit_entries_of_X([&](Index i, Index j) { determined += answer_.open.determined(i, j); });
    f.share_is_estimate = looked_at == kSampledEntries;
    const double all = static_cast<double>(op_.rows()) * static_cast<double>(op_.cols());
    double measured = 0;  // that would not be determined otherwise
    op_.visit_entries([&](Index i, Index j) { measured += !answer_.open.determined(i, j); });
    f.determined_share = std::min(
        1.0, static_cast<double>(determined) / static_cast<double>(looked_at) + measured / all);
  }

  double share_of_x() {
    const Reals<Scalar> moved = free_direction_of_x(open()).cwiseAbs();
    Index counted = 0, determined = 0;
    for (Index i = 0; i < moved.size(); ++i) {
      if (!options_.left_out.empty() && options_.left_out[at(i)]) continue;
      ++counted;
      determined += moved(i) <= open().tolerance;
    }
    return counted > 0 ? static_cast<double>(determined) / static_cast<double>(counted) : 1;
  }

  const MeasurementOperator<Scalar>& op_;
  const Reals<Scalar>& b_;
  const StackedFactors<Scalar>& Z_;
  const DeterminacyOptions& options_;
  bool has_offsets_;
  DeterminacyAnswer<Scalar> answer_;
  Undetermined peeled_;
  NullSpace<Scalar> null_space_;
  Random random_;
  std::vector<typename NullSpace<Scalar>::Draw> draws_;
  std::vector<std::int32_t> groups_;
  bool still_ = false;
  bool searched_ = true;  // for other answers, or there was nothing to search
};

}  // namespace

template <typename Scalar>
bool OpenEntries<Scalar>::determined(Index i, Index j) const {
  if (all_open) return false;
  if (!row.empty() && (row[at(i)] || col[at(j)])) return false;
  if (!row_group.empty() && (row_group[at(i)] < 0 || row_group[at(i)] != col_group[at(j)]))
    return false;
  if (Z.rank() == 0) return true;
  // dX(i, j) = dU_i V_j^* + U_i dV_j^*
  const double moved = std::abs(Z.V().row(j).dot(dZ.U().row(i)) + dZ.V().row(j).dot(Z.U().row(i)));
  return moved <= tolerance * sizes(i) * sizes(Z.symmetric ? j : Z.rows + j);
}

template <typename Scalar>
OpenEntries<Scalar> open_entries(const Undetermined& undetermined,
                                 const MeasurementOperator<Scalar>& op) {
  OpenEntries<Scalar> open;
  if (!undetermined.any()) return open;
  const auto mark = [](Index size, const std::vector<Index>& a, const std::vector<Index>& b) {
    std::vector<char> marks(at(size), 0);
    for (const auto* const lines : {&a, &b})
      for (const Index i : *lines) marks[at(i)] = 1;
    return marks;
  };
  open.row = mark(op.rows(), undetermined.rows, undetermined.empty_rows);
  open.col =
      op.symmetric() ? open.row : mark(op.cols(), undetermined.cols, undetermined.empty_cols);
  if (undetermined.blocks.empty()) return open;
  open.row_group.assign(at(op.rows()), 0);
  open.col_group.assign(at(op.cols()), 0);
  for (size_t b = 0; b < undetermined.blocks.size(); ++b) {
    const auto group = static_cast<std::int32_t>(b) + 1;
    for (const Index i : undetermined.blocks[b].first) open.row_group[at(i)] = group;
    for (const Index j : undetermined.blocks[b].second) open.col_group[at(j)] = group;
  }
  if (op.symmetric()) open.col_group = open.row_group;
  return open;
}

template <typename Scalar>
Vector<Scalar> free_direction_of_x(const OpenEntries<Scalar>& open) {
  if (open.Z.rank() == 0) return {};
  const Vector<Scalar> x = open.Z.Z.col(0);
  Vector<Scalar> dx = open.dZ.Z.col(0);
  if constexpr (kIsComplex<Scalar>) dx -= Scalar(0, std::imag(x.dot(dx)) / x.squaredNorm()) * x;
  return dx * std::sqrt(static_cast<RealOf<Scalar>>(x.size()) / x.squaredNorm());
}

template <typename Scalar>
DeterminacyAnswer<Scalar> determine(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                                    const StackedFactors<Scalar>& answer,
                                    const DeterminacyOptions& options) {
  StackWithOffsets<Scalar> stack = with_offsets(answer, options.center, options.biases);
  if (!options.left_out.empty()) leave_out(options.left_out, stack);
  return DeterminacyCheck<Scalar>(op, b, stack, options).run();
}

template <typename Scalar>
std::optional<StackedFactors<Scalar>> with_lower_rank(const MeasurementOperator<Scalar>& op,
                                                      const Reals<Scalar>& b,
                                                      const StackedFactors<Scalar>& Z,
                                                      const DeterminacyOptions& options) {
  constexpr double kColumn = 1e-7;  // singular value of a part, against its largest, that counts
  Random random(options.seed, kStreamDeterminacy);
  NullSpace<Scalar> null_space(op, Z, {}, {}, kTolerance<Scalar>, options.max_steps);
  const auto groups = op.rigid_groups(Z, [&] { return null_space.stress(random); });
  if (std::all_of(groups.begin(), groups.end(), [](auto group) { return group <= 0; }))
    return std::nullopt;
  const StackedFactors<Scalar> parts =
      balanced_by_blocks(Z, members(groups, op.rows(), op.symmetric(), 0), kColumn);
  if (parts.rank() >= Z.rank()) return std::nullopt;
  const auto fit_from = [&](StackedFactors<Scalar> start) {
    if constexpr (std::is_same_v<Scalar, double>)
      start = with_fitted_corners(op, b, std::move(start), groups);
    return exact_fit(op, b, std::move(start), options.zero_residual);
  };
  auto found = fit_from(parts);
  const int starts = op.num_measurements() * Z.rank() > kLongFit ? kFewStarts : kStarts;
  for (int start = 0; start < starts && !found; ++start)
    found = fit_from(in_other_gauges(parts, groups, random));
  return found;
}

#define UDV_INSTANTIATE(Scalar)                                                                \
  template struct OpenEntries<Scalar>;                                                         \
  template OpenEntries<Scalar> open_entries(const Undetermined&,                               \
                                            const MeasurementOperator<Scalar>&);               \
  template Vector<Scalar> free_direction_of_x(const OpenEntries<Scalar>&);                     \
  template std::optional<StackedFactors<Scalar>> with_lower_rank(                              \
      const MeasurementOperator<Scalar>&, const Reals<Scalar>&, const StackedFactors<Scalar>&, \
      const DeterminacyOptions&);                                                              \
  template DeterminacyAnswer<Scalar> determine(                                                \
      const MeasurementOperator<Scalar>&, const Reals<Scalar>&, const StackedFactors<Scalar>&, \
      const DeterminacyOptions&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
