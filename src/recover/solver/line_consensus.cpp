// SPDX-License-Identifier: MIT
#include "recover/solver/line_consensus.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/small_solves.hpp"
#include "recover/solver/line_view.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMostSubsets = 2000;
constexpr int kRefits = 3;
constexpr double kTail = 4;           // degrees of freedom of the prior
constexpr double kClearly = 6;        // 2 log 20
constexpr double kSameAnswer = 0.01;  // squared distance a column, in units of the prior

// What a line is before its entries are looked at: mean square S of the other lines.
class Prior {
 public:
  explicit Prior(const Matrix<double>& S) : L_(cholesky(S).L) {}

  // z^T S^-1 z.
  double distance(const Vector<double>& z) const { return lower_solve(L_, z).squaredNorm(); }
  // -2 log of the density of a t-distribution, up to a constant.
  double cost(const Vector<double>& z) const {
    const auto k = static_cast<double>(z.size());
    return (k + kTail) * std::log1p(distance(z) / kTail);
  }
  // log det(I + S G): the volume that the data leave of that of the prior.
  double shrinkage(const Matrix<double>& G) const {
    Matrix<double> inner = congruence(L_.transpose(), G);
    inner.diagonal().array() += 1;
    return 2 * cholesky(inner).L.diagonal().array().log().sum();
  }

 private:
  Matrix<double> L_;  // S = L L^T
};

// What is known of the share of right entries in doubtful lines: that of lines that are clear.
struct RightShare {
  double right = 1, wrong = 1;  // of a Beta distribution

  void learn(double share) {
    right += share;
    wrong += 1 - share;
  }
  // -2 log of the probability that just these m of n entries are right.
  double cost(double m, double n) const {
    return 2 * (log_beta(right, wrong) - log_beta(right + m, wrong + n - m));
  }
  // The same for any k of n or fewer.
  double cost_of_at_most(Index k, double n) const {
    double sum = 0, choices = 1;
    for (Index m = 0; m <= k; ++m) {
      const auto now = static_cast<double>(m);
      sum += choices * std::exp(-cost(now, n) / 2);
      choices *= (n - now) / (now + 1);
    }
    return -2 * std::log(sum);
  }

 private:
  static double log_beta(double a, double b) {
    return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
  }
};

// One way to explain a line: these entries are right. `cost` is -2 log of its evidence.
struct Explanation {
  Vector<double> z;
  double cost = kInfinity;
  Index right = 0;
  bool clear = false;  // 20 times more probable than any other
};

// All explanations of one line that were tried, as far as they matter: the best one, and the best
// that says something else.
class LineEvidence {
 public:
  LineEvidence(const Line& line, const Prior& prior, const ErrorSizes& sizes,
               const RightShare& share)
      : line_(line), prior_(prior), share_(share), noise2_(sizes.noise * sizes.noise) {
    const double usual = 2 * std::log(sizes.errors / sizes.noise);
    error_cost_ = (line.y / sizes.errors).cwiseAbs2().array() + std::max(usual, 0.0);
    best_.z = Vector<double>::Zero(line.F.cols());
    // k right entries agree with anything: nothing is known where no more are right.
    const auto size = static_cast<double>(line.y.size());
    best_.cost = other_ = error_cost_.sum() + share.cost_of_at_most(line.F.cols(), size);
    best_is_nothing_ = true;
  }

  void consider(Vector<double> z) {
    const auto k = static_cast<double>(z.size());
    Vector<double> right = agreeing(z);
    for (int refit = 0; refit < kRefits; ++refit) {
      if (right.sum() <= k) return;
      z = fitted(right);
      const Vector<double> next = agreeing(z);
      if (next == right) break;
      right = next;
    }
    if (right.sum() <= k) return;
    add({z, cost(z, right), static_cast<Index>(right.sum())});
  }

  // Entries that the best explanation calls right.
  Index num_right() const { return best_.right; }

  // The best explanation; none where it is that nothing is known.
  std::optional<Explanation> answer() const {
    if (best_is_nothing_) return std::nullopt;
    Explanation best = best_;
    best.clear = best.cost + kClearly <= other_;
    return best;
  }

 private:
  // 1 where noise explains the deviation better than an error.
  Vector<double> agreeing(const Vector<double>& z) const {
    const Vector<double> squares = (line_.F * z - line_.y).cwiseAbs2() / noise2_;
    return (squares.array() <= error_cost_.array()).cast<double>();
  }

  Vector<double> fitted(const Vector<double>& right) const {
    return weighted_least_squares(line_.F, right, line_.y);
  }

  double cost(const Vector<double>& z, const Vector<double>& right) const {
    if (!z.allFinite()) return kInfinity;
    const Vector<double> squares = (line_.F * z - line_.y).cwiseAbs2() / noise2_;
    const Matrix<double> G = weighted_gram(line_.F, right) / noise2_;
    return (right.array() > 0).select(squares, error_cost_).sum() + prior_.cost(z) +
           prior_.shrinkage(G) + share_.cost(right.sum(), static_cast<double>(right.size()));
  }

  bool same(const Vector<double>& a, const Vector<double>& b) const {
    return prior_.distance(a - b) <= kSameAnswer * static_cast<double>(a.size());
  }

  void add(Explanation next) {
    if (next.cost >= best_.cost) {
      if (best_is_nothing_ || !same(next.z, best_.z)) other_ = std::min(other_, next.cost);
      return;
    }
    if (best_is_nothing_ || !same(next.z, best_.z)) other_ = best_.cost;
    best_ = std::move(next);
    best_is_nothing_ = false;
  }

  const Line& line_;
  const Prior& prior_;
  const RightShare& share_;
  double noise2_;
  Vector<double> error_cost_;
  Explanation best_;
  double other_ = kInfinity;
  bool best_is_nothing_ = false;
};

// The answer of random subsets of k entries, and of the fit so far.
std::optional<Explanation> answer_of(const Line& line, const Prior& prior, const ErrorSizes& sizes,
                                     const RightShare& share, const Vector<double>& so_far,
                                     Random random) {
  const Index k = line.F.cols(), size = line.y.size();
  if (size <= k + 1) return std::nullopt;
  LineEvidence evidence(line, prior, sizes, share);
  evidence.consider(so_far);
  std::vector<Index> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  double wanted = kMostSubsets;
  for (double trial = 0; trial < wanted; ++trial) {
    draw_first(k, random, order);
    const Eigen::Map<const Vector<Index>> rows(order.data(), k);
    evidence.consider(square_solve(line.F(rows, Eigen::all), line.y(rows)));
    // Another explanation with one right entry less would make the best one doubtful.
    const Index rival = std::max(evidence.num_right() - 1, k + 1);
    wanted = std::min(kMostSubsets, draws_needed(rival, size, k));
  }
  return evidence.answer();
}

// Mean square of the lines that are not doubtful.
template <typename Scalar>
Prior prior_of(const RowMatrix<Scalar>& lines, const std::vector<Index>& doubtful) {
  Matrix<double> S = Matrix<double>::Zero(lines.cols(), lines.cols());
  double count = 0;
  for (Index i = 0; i < lines.rows(); ++i) {
    if (std::binary_search(doubtful.begin(), doubtful.end(), i)) continue;
    const Vector<double> z = lines.row(i).transpose().template cast<double>();
    S += z * z.transpose();
    count += 1;
  }
  S /= std::max(1.0, count);
  S.diagonal().array() += 1e-12 * S.trace() + std::numeric_limits<double>::min();
  return Prior(S);
}

// Judges one side; appends the entries of lines that stay unknown.
template <typename Scalar>
void judge_side(const LineView<Scalar>& view, const ErrorSizes& sizes, std::uint64_t seed,
                StackedFactors<Scalar>& Z, std::vector<Index>& unknown) {
  const RowMatrix<Scalar> partners = view.partners_of(Z);
  Rows<Scalar> own = view.own_of(Z);
  const double usual = std::sqrt(std::max(0.0, 2 * std::log(sizes.errors / sizes.noise)));
  const std::vector<char> bad = view.bad_entries(usual * sizes.noise, Z);
  std::vector<Index> doubtful;
  for (Index i = 0; i < own.rows(); ++i) {
    const auto [size, count] = view.count_own(i, bad);
    if (2 * count > size) doubtful.push_back(i);
  }
  if (doubtful.empty()) return;
  const Prior prior = prior_of<Scalar>(own, doubtful);
  const std::vector<char> none(static_cast<size_t>(partners.rows()), 0);
  std::vector<std::optional<Explanation>> answers(doubtful.size());
  const auto judge_open_ones = [&](const RightShare& share) {
    parallel_blocks(static_cast<Index>(doubtful.size()), 1, [&](Index begin, Index end) {
      for (Index d = begin; d < end; ++d) {
        const Index i = doubtful[static_cast<size_t>(d)];
        auto& answer = answers[static_cast<size_t>(d)];
        if (answer && answer->clear) continue;
        const Vector<double> so_far = own.row(i).transpose().template cast<double>();
        answer = answer_of(view.line_of(i, partners, none), prior, sizes, share, so_far,
                           Random(seed, view.stream_of(i)));
      }
    });
  };
  RightShare share;
  judge_open_ones(share);
  for (size_t d = 0; d < doubtful.size(); ++d)
    if (answers[d] && answers[d]->clear)
      share.learn(static_cast<double>(answers[d]->right) /
                  static_cast<double>(view.count_own(doubtful[d], bad).first));
  judge_open_ones(share);
  for (size_t d = 0; d < doubtful.size(); ++d) {
    if (answers[d] && answers[d]->clear)
      own.row(doubtful[d]) = answers[d]->z.transpose().template cast<Scalar>();
    else
      view.visit_own(doubtful[d], [&](Index, Index entry) { unknown.push_back(entry); });
  }
}

template <typename Scalar>
void guess_side(const LineView<Scalar>& view, const ErrorSizes& sizes, std::uint64_t seed,
                StackedFactors<Scalar>& Z) {
  const RowMatrix<Scalar> partners = view.partners_of(Z);
  Rows<Scalar> own = view.own_of(Z);
  const std::vector<char> none(static_cast<size_t>(partners.rows()), 0);
  std::vector<Index> lost;
  for (Index i = 0; i < own.rows(); ++i) {
    Index size = 0;
    view.visit_own(i, [&](Index, Index) { ++size; });
    if (size > Z.rank()) lost.push_back(i);
  }
  if (lost.empty()) return;
  const Prior prior = prior_of<Scalar>(own, lost);
  for (const Index i : lost) {
    const Vector<double> so_far = own.row(i).transpose().template cast<double>();
    if (const auto answer = answer_of(view.line_of(i, partners, none), prior, sizes, RightShare(),
                                      so_far, Random(seed, view.stream_of(i))))
      own.row(i) = answer->z.transpose().template cast<Scalar>();
  }
}

}  // namespace

template <typename Scalar>
void guess_lines(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b, const ErrorSizes& sizes,
                 std::uint64_t seed, StackedFactors<Scalar>& Z) {
  if (Z.rank() == 0 || !(sizes.noise > 0 && sizes.errors > sizes.noise)) return;
  guess_side(LineView<Scalar>(op, b, false), sizes, seed, Z);
  if (!op.symmetric()) guess_side(LineView<Scalar>(op, b, true), sizes, seed, Z);
}

template <typename Scalar>
std::vector<Index> judge_doubtful_lines(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b,
                                        const ErrorSizes& sizes, std::uint64_t seed,
                                        StackedFactors<Scalar>& Z) {
  std::vector<Index> unknown;
  if (Z.rank() == 0 || !(sizes.noise > 0 && sizes.errors > sizes.noise)) return unknown;
  judge_side(LineView<Scalar>(op, b, false), sizes, seed, Z, unknown);
  if (!op.symmetric()) judge_side(LineView<Scalar>(op, b, true), sizes, seed, Z, unknown);
  std::sort(unknown.begin(), unknown.end());
  unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
  return unknown;
}

#define UDV_INSTANTIATE(Scalar)                                                             \
  template std::vector<Index> judge_doubtful_lines(const EntriesOperator<Scalar>&,          \
                                                   const Reals<Scalar>&, const ErrorSizes&, \
                                                   std::uint64_t, StackedFactors<Scalar>&); \
  template void guess_lines(const EntriesOperator<Scalar>&, const Reals<Scalar>&,           \
                            const ErrorSizes&, std::uint64_t, StackedFactors<Scalar>&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)

}  // namespace udv
