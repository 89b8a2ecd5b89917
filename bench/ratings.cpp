// SPDX-License-Identifier: MIT
// Made-up ratings (bench/ratings_data.hpp): error on a held-out fifth of auto mode without options,
// beside the same model started at the truth and simpler methods.
//
// usage: bench_ratings [SEEDS] [FIRST] [half|skewed|sparse|time|small|biases|mean]
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <chrono>
#include <string>

#include "ratings_data.hpp"
#include "recover/solver/bayes.hpp"
#include "udv/core/parallel.hpp"
#include "udv/recover/recover.hpp"

namespace {

using udv::Entries;
using udv::Index;
using udv::Matrix;
using udv::RowMatrix;
using udv::Vector;

// Root mean square error of predictions, kept in 1..5.
template <typename Predict>
double rmse(const Entries& test, const Predict& predict) {
  double squares = 0;
  for (size_t t = 0; t < test.value.size(); ++t) {
    const double x = std::clamp(predict(test.row[t], test.col[t]), 1.0, 5.0);
    squares += (x - test.value[t]) * (x - test.value[t]);
  }
  return std::sqrt(squares / static_cast<double>(test.value.size()));
}

double mean_of(const Entries& entries) {
  double sum = 0;
  for (const double value : entries.value) sum += value;
  return sum / static_cast<double>(entries.value.size());
}

// mu + b_i + c_j, each bias a mean with `ridge` more entries of 0.
udv::Biases ridged_biases(const Entries& train, double ridge) {
  udv::Biases biases;
  biases.global = mean_of(train);
  biases.row.setZero(train.rows);
  biases.col.setZero(train.cols);
  const auto update = [&](Vector<double>& bias, const std::vector<std::int32_t>& line) {
    Vector<double> sum = Vector<double>::Zero(bias.size());
    Vector<double> count = Vector<double>::Constant(bias.size(), ridge);
    for (size_t t = 0; t < line.size(); ++t) {
      sum(line[t]) += train.value[t] - biases.at(train.row[t], train.col[t]) + bias(line[t]);
      count(line[t]) += 1;
    }
    bias = sum.cwiseQuotient(count);
  };
  for (int sweep = 0; sweep < 20; ++sweep) {
    update(biases.row, train.row);
    update(biases.col, train.col);
  }
  return biases;
}

// A peer: alternating least squares of what the biases leave, ridge lambda times entries.
class Als {
 public:
  Als(const Entries& train, const udv::Biases& biases, Index rank, double lambda)
      : train_(train), biases_(biases), lambda_(lambda) {
    udv::Random random(1, udv::kStreamInitialFactors);
    U_.setZero(train.rows, rank);
    V_.resize(train.cols, rank);
    random.fill_normal(V_);
    V_ *= 0.3;
    for (int sweep = 0; sweep < 20; ++sweep) {
      update(train.row, train.col, V_, U_);
      update(train.col, train.row, U_, V_);
    }
  }
  double predict(Index i, Index j) const { return biases_.at(i, j) + U_.row(i).dot(V_.row(j)); }

 private:
  void update(const std::vector<std::int32_t>& own, const std::vector<std::int32_t>& partner,
              const RowMatrix<double>& other, RowMatrix<double>& result) const {
    const Index k = other.cols();
    const Matrix<double> zero = Matrix<double>::Zero(k, k);
    std::vector<Matrix<double>> gram(static_cast<size_t>(result.rows()), zero);
    RowMatrix<double> right = RowMatrix<double>::Zero(result.rows(), k);
    for (size_t t = 0; t < own.size(); ++t) {
      const auto v = other.row(partner[t]);
      Matrix<double>& G = gram[static_cast<size_t>(own[t])];
      G.noalias() += v.transpose() * v;
      G.diagonal().array() += lambda_;
      right.row(own[t]) += (train_.value[t] - biases_.at(train_.row[t], train_.col[t])) * v;
    }
    for (Index i = 0; i < result.rows(); ++i)
      if (gram[static_cast<size_t>(i)](0, 0) > 0)
        result.row(i) = gram[static_cast<size_t>(i)].llt().solve(right.row(i).transpose());
  }

  const Entries& train_;
  const udv::Biases& biases_;
  double lambda_;
  RowMatrix<double> U_, V_;
};

double best_als(const udv::bench::Ratings& data, const udv::Biases& biases) {
  double best = 1e300;
  for (const Index rank : {3, 5, 10})
    for (const double lambda : {0.02, 0.04, 0.06, 0.08, 0.1, 0.15}) {
      const Als als(data.train, biases, rank, lambda);
      best = std::min(best, rmse(data.test, [&](Index i, Index j) { return als.predict(i, j); }));
    }
  return best;
}

// The model of auto mode, started at the truth; no column is removed.
double from_truth(const udv::bench::Ratings& data, const udv::Problem& problem) {
  const auto& op = dynamic_cast<const udv::EntriesOperator<double>&>(*problem.op);
  udv::BayesFit<double> fit(op, problem.b);
  udv::BayesStop stop;
  stop.prune = false;
  fit.start(udv::Centering::kBoth);
  fit.run(stop);
  udv::StackedFactors<double> Z(op.rows(), op.cols(), false, data.U.cols());
  Z.U() = data.U;
  Z.V() = data.V;
  fit.append(Z);
  fit.run(stop);
  fit.finish();
  const auto factors = fit.factors();
  const auto biases = fit.biases();
  return rmse(data.test, [&](Index i, Index j) {
    return biases.at(i, j) + factors.U().row(i).dot(factors.V().row(j));
  });
}

// Other kinds of ratings: half stars, a few columns that all know, rows with one to three entries,
// the last rows held out, nothing but biases, the mean alone.
udv::bench::RatingsOptions variant(const std::string& name) {
  udv::bench::RatingsOptions options;
  if (name == "half") options.level = 0.5;
  if (name == "skewed") options.col_power = 1.2;
  if (name == "sparse") options = {.rows = 6000, .cols = 2000, .entries = 20'000};
  if (name == "time") options.by_time = true;
  if (name == "small") options = {.rows = 300, .cols = 500, .entries = 15'000};
  if (name == "biases") options = {.rows = 300, .cols = 500, .entries = 15'000, .first_factor = 0};
  if (name == "mean") {
    options = {.rows = 300, .cols = 500, .entries = 10'000, .first_factor = 0};
    options.row_bias = options.col_bias = 0;
  }
  return options;
}

void run(std::uint64_t seed, const std::string& name) {
  udv::bench::RatingsOptions options = variant(name);
  options.seed = seed;
  const auto data = udv::bench::make_ratings(options);
  const udv::Problem problem = udv::completion(data.train);
  const auto biases = ridged_biases(data.train, 5);
  const double mean = mean_of(data.train);
  udv::RecoverOptions defaults;
  defaults.record = udv::Recording::kNone;
  const udv::Recovery found = udv::recover(problem, defaults);
  const double own = rmse(data.test, [&](Index i, Index j) { return found.predict(i, j); });
  const double truth = from_truth(data, problem);
  fmt::print("{:4}  {:.4f} ({:+.2f} %)  rank {} {} {:.2f} s   {:.4f}   {:.4f}  {:.4f}  {:.4f}\n",
             seed, own, 100 * (own / truth - 1), found.rank, to_string(found.center), found.seconds,
             truth, best_als(data, biases),
             rmse(data.test, [&](Index i, Index j) { return biases.at(i, j); }),
             rmse(data.test, [&](Index, Index) { return mean; }));
}

}  // namespace

int main(int argc, char** argv) {
  udv::set_num_threads(1);
  const int seeds = argc > 1 ? std::stoi(argv[1]) : 10, first = argc > 2 ? std::stoi(argv[2]) : 0;
  fmt::print("seed  auto mode                          from truth  tuned ALS  biases  mean\n");
  for (int s = first; s < first + seeds; ++s)
    run(static_cast<std::uint64_t>(s), argc > 3 ? argv[3] : "");
}
