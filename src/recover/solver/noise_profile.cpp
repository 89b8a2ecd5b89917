// SPDX-License-Identifier: MIT
#include "recover/solver/noise_profile.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace udv {
namespace {

constexpr int kSweeps = 3;            // of rows and columns in turn
constexpr int kTrimmings = 3;         // of what is beyond three standard deviations
constexpr double kTrimmed = 0.97334;  // variance of a Gaussian cut at three standard deviations
constexpr double kPrior = 5;          // entries of average noise that each group is given
constexpr Index kSignalGroups = 10;
constexpr double kSmallest = 1e-4;  // standard deviation of a group, of the average

using Groups = std::vector<std::int32_t>;  // group of each entry

double median_modulus(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end(),
                   [](double a, double b) { return std::abs(a) < std::abs(b); });
  return std::abs(*middle);
}

// Mean square of Gaussian numbers among which some are not; and how many it counts.
std::pair<double, double> robust_mean_square(std::vector<double> values) {
  double variance = std::pow(1.4826 * median_modulus(values), 2);
  double count = static_cast<double>(values.size());
  for (int round = 0; round < kTrimmings; ++round) {
    double squares = 0;
    count = 0;
    for (const double value : values)
      if (value * value <= 9 * variance) {
        squares += value * value;
        ++count;
      }
    variance = squares / (kTrimmed * std::max(1.0, count));
  }
  return {variance, count};
}

// log of the standard deviation of each group, drawn to the average where a group is small.
// `share` of the squares is left by the fit, the rest is in its parameters.
std::vector<double> log_deviations(const Vector<double>& residual, const Groups& group,
                                   Index groups, double share) {
  std::vector<std::vector<double>> members(static_cast<size_t>(groups));
  for (Index t = 0; t < residual.size(); ++t)
    members[static_cast<size_t>(group[static_cast<size_t>(t)])].push_back(residual(t));
  const double average =
      robust_mean_square(std::vector<double>(residual.begin(), residual.end())).first / share;
  std::vector<double> result;
  for (const std::vector<double>& values : members) {
    double variance = average;
    if (!values.empty()) {
      const auto [own, count] = robust_mean_square(values);
      variance = (kPrior * average + count * own) / (kPrior + count * share);
    }
    result.push_back(0.5 * std::log(std::max(variance, kSmallest * kSmallest * average)));
  }
  return result;
}

// Equally many entries a group, by the modulus of the fitted value.
template <typename Real>
Groups by_modulus(const Vector<Real>& fitted) {
  std::vector<std::int32_t> order(static_cast<size_t>(fitted.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return std::abs(fitted(a)) < std::abs(fitted(b));
  });
  Groups group(order.size());
  for (size_t place = 0; place < order.size(); ++place)
    group[static_cast<size_t>(order[place])] =
        static_cast<std::int32_t>(static_cast<size_t>(kSignalGroups) * place / order.size());
  return group;
}

// Products of group deviations, found in turn for each way of grouping.
class ProfileFit {
 public:
  ProfileFit(const Vector<double>& residual, double share) : residual_(residual), share_(share) {}

  void add(Groups group, Index groups) {
    group_.push_back(std::move(group));
    log_deviation_.emplace_back(static_cast<size_t>(groups), 0.0);
  }

  Vector<double> relative() {
    for (int sweep = 0; sweep < (group_.size() > 1 ? kSweeps : 1); ++sweep)
      for (size_t g = 0; g < group_.size(); ++g) {
        std::fill(log_deviation_[g].begin(), log_deviation_[g].end(), 0.0);
        const Vector<double> rest = residual_.array() * (-log_relative().array()).exp();
        log_deviation_[g] =
            log_deviations(rest, group_[g], static_cast<Index>(log_deviation_[g].size()), share_);
      }
    const Vector<double> logs = log_relative();
    return (logs.array() - logs.mean()).exp();
  }

 private:
  Vector<double> log_relative() const {
    Vector<double> sum = Vector<double>::Zero(residual_.size());
    for (size_t g = 0; g < group_.size(); ++g)
      for (Index t = 0; t < sum.size(); ++t)
        sum(t) += log_deviation_[g][static_cast<size_t>(group_[g][static_cast<size_t>(t)])];
    return sum;
  }

  const Vector<double>& residual_;
  double share_;
  std::vector<Groups> group_;
  std::vector<std::vector<double>> log_deviation_;
};

// Row and column of each entry.
template <typename Scalar>
std::pair<Groups, Groups> places(const EntriesOperator<Scalar>& op) {
  const auto n = static_cast<size_t>(op.num_measurements());
  Groups row(n), col(n);
  const SparseLines rows = op.by_row();
  for (Index i = 0; i < rows.count; ++i)
    for (auto s = rows.first[i]; s < rows.first[i + 1]; ++s) {
      row[static_cast<size_t>(rows.entry[s])] = static_cast<std::int32_t>(i);
      col[static_cast<size_t>(rows.entry[s])] = rows.other[s];
    }
  return {std::move(row), std::move(col)};
}

}  // namespace

template <typename Scalar>
std::vector<NoiseProfile<Scalar>> noise_profiles(const EntriesOperator<Scalar>& op,
                                                 const Reals<Scalar>& fitted,
                                                 const Reals<Scalar>& residual, double freedom) {
  const Vector<double> r = residual.template cast<double>();
  const double share = std::max(0.1, 1 - freedom / static_cast<double>(r.size()));
  const auto [row, col] = places(op);
  std::vector<NoiseProfile<Scalar>> result;
  const auto add = [&](NoiseKind kind, const std::vector<std::pair<Groups, Index>>& groupings) {
    ProfileFit fit(r, share);
    double parameters = 0;
    for (const auto& [group, groups] : groupings) {
      fit.add(group, groups);
      parameters += static_cast<double>(groups - 1);
    }
    result.push_back({kind, fit.relative().template cast<RealOf<Scalar>>(), parameters});
  };
  add(NoiseKind::kBySignal, {{by_modulus(fitted), kSignalGroups}});
  // Where symmetric, rows and columns are not two kinds of lines.
  if (!op.symmetric()) {
    add(NoiseKind::kByRow, {{row, op.rows()}});
    add(NoiseKind::kByCol, {{col, op.cols()}});
    add(NoiseKind::kByRowAndCol, {{row, op.rows()}, {col, op.cols()}});
  }
  return result;
}

#define UDV_INSTANTIATE(Scalar)                              \
  template std::vector<NoiseProfile<Scalar>> noise_profiles( \
      const EntriesOperator<Scalar>&, const Reals<Scalar>&, const Reals<Scalar>&, double);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)

}  // namespace udv
