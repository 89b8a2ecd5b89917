// SPDX-License-Identifier: MIT
#include "recover/solver/bayes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "recover/solver/bayes_answer.hpp"
#include "recover/solver/bayes_gauge.hpp"
#include "support/reference.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/prediction.hpp"
#include "udv/recover/problem.hpp"
#include "udv/recover/recover.hpp"

namespace udv {
namespace bayes_test {

Planted noisy(double noise, std::uint64_t seed, Index rows = 60, Index cols = 50) {
  return planted_completion({rows, cols, false, 3, rows * cols / 2, 1, noise, seed});
}

const EntriesOperator<double>& operator_of(const Problem& problem) {
  return dynamic_cast<const EntriesOperator<double>&>(*problem.op);
}

// Offsets and low-rank part of all entries that were measured.
Vector<double> values_of(BayesFit<double>& fit) {
  fit.finish();
  return fit.fitted();
}

TEST(BayesFit, BoundNeverFallsOncePriorsAreFree) {
  const Planted planted = noisy(0.3, 1);
  const Problem problem = completion(planted.entries);
  for (const Centering center : {Centering::kNone, Centering::kGlobal, Centering::kBoth}) {
    BayesFit<double> fit(operator_of(problem), problem.b);
    fit.start(center);
    fit.grow(5, 1);
    double before = -1e300;
    for (int k = 0; k < 40; ++k) {
      const double now = fit.sweep();
      // The first sweeps have equal priors for all columns.
      if (k > 6) {
        EXPECT_GE(now, before - 1e-9 * std::abs(before)) << "sweep " << k;
      }
      before = now;
    }
  }
}

TEST(BayesFit, BoundNeverFallsWithNoiseByRows) {
  const Planted planted = noisy(0.3, 2);
  const Problem problem = completion(planted.entries);
  BayesFit<double> fit(operator_of(problem), problem.b);
  fit.start(Centering::kNone);
  fit.grow(4, 1);
  for (int k = 0; k < 20; ++k) fit.sweep();
  fit.finish();
  fit.set_noise(NoiseKind::kByRow);
  fit.sweep();
  double before = fit.sweep();
  for (int k = 0; k < 20; ++k) {
    const double now = fit.sweep();
    EXPECT_GE(now, before - 1e-3);  // the shape of the prior is found approximately
    before = now;
  }
}

TEST(BayesGauge, LeavesEveryEntryAsItIs) {
  Random random(3, kStreamProblem);
  BayesSide<double> rows(30, 4), cols(20, 4);
  for (BayesSide<double>* side : {&rows, &cols}) {
    side->prior.setOnes();
    for (double& value : side->records) value = random.normal();
  }
  const auto sums = [](const BayesSide<double>& side) {
    BayesSums s;
    s.lines = side.lines;
    s.moment = s.means = Matrix<double>::Zero(5, 5);
    for (Index i = 0; i < side.lines; ++i) {
      Vector<double> w(5);
      w << 1, Eigen::Map<const Vector<double>>(side.record(i), 4);
      s.means += w * w.transpose();
    }
    s.moment = s.means;
    s.moment.diagonal().tail(4).array() += 1;
    return s;
  };
  const auto entry = [&](double mean, Index i, Index j) {
    const double *a = rows.record(i), *b = cols.record(j);
    return mean + a[0] + b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  };
  double mean = 2;
  const double before = entry(mean, 7, 11);
  BayesSums row_sums = sums(rows), col_sums = sums(cols);
  BayesGauge gauge(row_sums, col_sums, mean);
  gauge.shift_to_rows(rows.prior, cols.prior);
  gauge.shift_to_cols(rows.prior, cols.prior);
  gauge.center_rows();
  gauge.center_cols();
  gauge.rotate();
  rows.transform(gauge.rows_map(), gauge.rows_shift());
  cols.transform(gauge.cols_map(), gauge.cols_shift());
  EXPECT_NEAR(entry(mean, 7, 11), before, 1e-11 * (1 + std::abs(before)));
  EXPECT_NE(mean, 2);
  // Both second moments of the factors are diagonal now.
  const Matrix<double> factors = row_sums.moment.bottomRightCorner(3, 3);
  EXPECT_LT((factors - Matrix<double>(factors.diagonal().asDiagonal())).norm(),
            1e-10 * factors.norm());
}

TEST(BayesFit, GivesTheSameBitsForAnyNumberOfThreads) {
  const Planted planted = noisy(0.3, 4, 300, 200);
  const Problem problem = completion(planted.entries);
  const auto solve = [&](int threads) {
    set_num_threads(threads);
    const BayesAnswer answer = bayes_answer(operator_of(problem), problem.b, {}, {});
    set_num_threads(0);
    return answer;
  };
  const BayesAnswer one = solve(1), two = solve(2);
  EXPECT_EQ(one.bound, two.bound);
  EXPECT_EQ(one.Z.Z, two.Z.Z);
}

TEST(BayesFit, SingleAndDoublePrecisionAgree) {
  const Planted planted = noisy(0.2, 5);
  const Problem problem = completion(planted.entries);
  BayesFit<double> wide(operator_of(problem), problem.b);
  BayesFit<float> narrow(operator_of(problem), problem.b);
  const auto solve = [](auto& fit) {
    fit.start(Centering::kNone);
    fit.grow(3, 1);
    fit.run({});
    fit.finish();
  };
  solve(wide);
  solve(narrow);
  EXPECT_EQ(wide.rank(), narrow.rank());
  EXPECT_NEAR(wide.variance(), narrow.variance(), 1e-3 * wide.variance());
  EXPECT_LT((wide.fitted() - narrow.fitted()).norm(), 1e-2 * wide.fitted().norm());
}

TEST(BayesFit, WeightOfZeroLeavesAnEntryOut) {
  const Planted planted = noisy(0.1, 6);
  Entries fewer = planted.entries, weighted = planted.entries;
  weighted.weight.assign(weighted.value.size(), 1.0);
  weighted.weight.back() = 0;
  weighted.value.back() = 1e3;
  fewer.row.pop_back();
  fewer.col.pop_back();
  fewer.value.pop_back();
  const auto variance = [](const Entries& entries) {
    const Problem problem = completion(entries);
    BayesFit<double> fit(operator_of(problem), problem.b);
    fit.start(Centering::kGlobal);
    fit.grow(3, 1);
    fit.run({});
    return fit.variance();
  };
  EXPECT_NEAR(variance(fewer), variance(weighted), 0.02 * variance(fewer));
}

TEST(BayesFit, BiasesThatAreLeftOutBecomeColumns) {
  Planted planted = noisy(0.1, 7);
  for (size_t t = 0; t < planted.entries.value.size(); ++t)
    planted.entries.value[t] += 3 + 0.1 * static_cast<double>(planted.entries.row[t]);
  const Problem problem = completion(planted.entries);
  BayesFit<double> fit(operator_of(problem), problem.b);
  fit.start(Centering::kRows);
  fit.grow(4, 1);
  fit.run({});
  const Index before = fit.rank();
  const Vector<double> x = values_of(fit);
  fit.restrict_to(Centering::kNone);
  EXPECT_EQ(fit.rank(), before + 1);
  EXPECT_LT((fit.fitted() - x).norm(), 1e-8 * x.norm());
}

// 90 % intervals on entries that were not measured.
double coverage(double noise, std::uint64_t seed) {
  const Planted planted = planted_completion({100, 100, false, 3, 4 * 3 * 197, 1, noise, seed});
  const Recovery found = recover(completion(planted.entries));
  const double sd =
      noise * std::sqrt(testing::product(planted.U, planted.V.transpose()).squaredNorm() / 1e4);
  Random random(seed, kStreamProbe);
  int inside = 0;
  constexpr int kProbes = 4000;
  for (int t = 0; t < kProbes; ++t) {
    const Index i = random.below(100), j = random.below(100);
    const double observed = planted.U.row(i).dot(planted.V.row(j)) + sd * random.normal();
    const double predicted = found.predict(i, j);
    inside +=
        std::abs(observed - predicted) <= 1.6449 * found.posterior->deviation(i, j, predicted);
  }
  return static_cast<double>(inside) / kProbes;
}

TEST(Posterior, NinetyPercentIntervalsCoverAboutThatMuch) {
  for (const double noise : {0.01, 0.1, 0.3, 0.6}) {
    const double share = coverage(noise, 8);
    EXPECT_GT(share, 0.85) << noise;
    EXPECT_LT(share, 0.95) << noise;
  }
}

TEST(NoisyRecovery, NeedsNoWalkWhereBayesComesFirst) {
  RecoverOptions options;
  options.start = Start::kBayes;
  for (const double noise : {0.01, 0.1, 0.3}) {
    const Planted planted = noisy(noise, 12, 120, 60);
    const Recovery walked = recover(completion(planted.entries));
    const Recovery found = recover(completion(planted.entries), options);
    EXPECT_GT(walked.iterations, 0) << noise;
    EXPECT_EQ(found.iterations, 0) << noise;
    EXPECT_NEAR(found.noise_sigma / walked.noise_sigma, 1, 0.05) << noise;
    EXPECT_LE(planted.relative_error(found.U, found.d, found.V),
              1.1 * planted.relative_error(walked.U, walked.d, walked.V))
        << noise;
  }
}

TEST(NoisyRecovery, LeavesExactDataAndGrossErrorsToTheWalkWhereBayesComesFirst) {
  RecoverOptions options;
  options.start = Start::kBayes;
  Planted planted = noisy(0, 13, 120, 60);
  const Recovery exact = recover(completion(planted.entries), options);
  EXPECT_TRUE(exact.exact);
  EXPECT_EQ(exact.rank, 3);
  planted = noisy(0.02, 13, 120, 60);
  const double size = *std::max_element(planted.entries.value.begin(), planted.entries.value.end());
  for (std::size_t t = 0; t < planted.entries.value.size(); t += 25)
    planted.entries.value[t] = t % 2 == 0 ? size : -size;
  const Recovery found = recover(completion(planted.entries), options);
  EXPECT_EQ(found.rank, 3);
  EXPECT_TRUE(found.outliers_removed);
}

TEST(NoisyRecovery, KeepsPredictionsInTheRange) {
  const Planted planted = noisy(0.5, 9);
  RecoverOptions options;
  options.range = {-0.5, 0.5};
  const Recovery found = recover(completion(planted.entries), options);
  for (Index i = 0; i < found.rows; ++i)
    for (Index j = 0; j < found.cols; ++j) EXPECT_LE(std::abs(found.predict(i, j)), 0.5);
}

TEST(NoisyRecovery, PredictsCountsThatAreNotNegative) {
  Random random(10, kStreamProblem);
  Entries entries{40, 30, false, {}, {}, {}};
  for (std::int32_t i = 0; i < 40; ++i)
    for (std::int32_t j = 0; j < 30; ++j) {
      if (random.uniform() < 0.4) continue;
      const double mean = 0.2 * (1 + i % 4) * (1 + j % 5);
      double count = 0;
      for (double product = random.uniform(); product > std::exp(-mean); ++count)
        product *= random.uniform();
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(count);
    }
  RecoverOptions options;
  options.noise_model = NoiseModel::kPoisson;
  const Recovery found = recover(completion(entries), options);
  EXPECT_EQ(found.noise_by, NoiseKind::kBySignal);
  for (Index i = 0; i < found.rows; ++i)
    for (Index j = 0; j < found.cols; ++j) EXPECT_GE(found.predict(i, j), 0);
}

TEST(NoisyRecovery, SaysInfinityWhereAnEntryIsNotDetermined) {
  Planted planted = noisy(0.2, 11);
  planted.entries.rows += 1;
  const Recovery found = recover(completion(planted.entries));
  const auto predictions = predict_entries(found, planted.entries, {{0, 0}, {60, 0}});
  EXPECT_GT(predictions[0].deviation, 0);
  EXPECT_TRUE(std::isfinite(predictions[0].deviation));
  EXPECT_TRUE(std::isinf(predictions[1].deviation));
}

}  // namespace bayes_test
}  // namespace udv
