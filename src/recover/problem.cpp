// SPDX-License-Identifier: MIT
#include "udv/recover/problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/instantiate.hpp"
#include "core/require.hpp"
#include "recover/operators/entry_shares.hpp"
#include "recover/split.hpp"
#include "recover/spread_completion.hpp"
#include "udv/core/random.hpp"
#include "udv/core/spectrum.hpp"
#include "udv/recover/operators/dense.hpp"
#include "udv/recover/operators/entries.hpp"
#include "udv/recover/operators/rank_one.hpp"

namespace udv {
namespace {

template <typename Real>
void check_measurements(const Vector<Real>& b, Index expected) {
  require(b.size() == expected, "b has ", b.size(), " values, ", expected, " expected");
  for (Index i = 0; i < b.size(); ++i)
    require(std::isfinite(b(i)), "measurement ", i, " is ", b(i), ", a finite number expected");
  require((b.array() != 0).any(), "all ", b.size(),
          " measurements are zero: X = 0 fits, and any "
          "other rank would be a guess");
}

template <typename T>
std::vector<T> in_order(const std::vector<T>& values, const std::vector<Index>& order) {
  std::vector<T> result;
  result.reserve(values.size());
  for (const Index t : order) result.push_back(values[static_cast<size_t>(t)]);
  return result;
}

// Row by row, so that kernels write their results one after the other.
void sort_by_rows(Entries& entries) {
  const auto key = [&](Index t) {
    return std::pair(entries.row[static_cast<size_t>(t)], entries.col[static_cast<size_t>(t)]);
  };
  const Index size = entries.size();
  Index sorted = 1;
  while (sorted < size && key(sorted - 1) <= key(sorted)) ++sorted;
  if (sorted >= size) return;
  std::vector<Index> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index s, Index t) { return key(s) < key(t); });
  const std::vector<std::int32_t> row = in_order(entries.row, order);
  entries.col = in_order(entries.col, order);
  entries.row = row;
  entries.value = in_order(entries.value, order);
  if (!entries.weight.empty()) entries.weight = in_order(entries.weight, order);
}

// n different places of a p x q matrix (of its upper triangle where symmetric), sorted.
std::set<std::pair<Index, Index>> random_places(const PlantedOptions& options, Random& random) {
  const Index available =
      options.symmetric ? options.rows * (options.rows + 1) / 2 : options.rows * options.cols;
  require(options.measurements <= available, "planted problem: ", options.measurements,
          " entries wanted, the matrix has ", available);
  std::set<std::pair<Index, Index>> places;
  while (static_cast<Index>(places.size()) < options.measurements) {
    Index i = random.below(options.rows);
    Index j = random.below(options.symmetric ? options.rows : options.cols);
    if (options.symmetric && i > j) std::swap(i, j);
    places.emplace(i, j);
  }
  return places;
}

}  // namespace

Problem completion(Entries entries) {
  require(entries.row.size() == entries.value.size() && entries.col.size() == entries.value.size(),
          "entries: ", entries.row.size(), " rows, ", entries.col.size(), " columns and ",
          entries.value.size(), " values, equally many expected");
  require(entries.weight.empty() || entries.weight.size() == entries.value.size(),
          "entries: ", entries.weight.size(), " weights and ", entries.value.size(),
          " values, equally many expected");
  sort_by_rows(entries);
  const auto op = std::make_shared<EntriesOperator<double>>(entries);
  for (auto* const places : {&entries.row, &entries.col}) std::vector<std::int32_t>().swap(*places);
  Problem problem;
  problem.op = op;
  problem.b = Eigen::Map<const Vector<double>>(entries.value.data(), entries.size());
  if (op->root_weights().size() > 0) problem.b.array() *= op->root_weights().array();
  check_measurements(problem.b, problem.op->num_measurements());
  return problem;
}

bool can_be_spread(Index num_entries, bool symmetric, bool weighted,
                   const RecoverOptions& options) {
  return !communicator().is_alone() && num_entries >= many_entries() && !symmetric && !weighted &&
         options.holdout <= 0;
}

Entries own_rows_of(const Entries& entries) {
  Entries own = to_row_owners(entries);
  sort_by_rows(own);
  return own;
}

Entries rows_of_all(const Entries& own) {
  Index all_entries = own.size();
  communicator().sum(&all_entries, 1);
  require_room_for_all(all_entries);
  const auto joined = [](const auto& values) {
    using Values = std::decay_t<decltype(values)>;
    Values all;
    const auto* const bytes = reinterpret_cast<const char*>(values.data());
    for (const std::string& part : gathered({bytes, values.size() * sizeof(values[0])})) {
      const size_t size = all.size();
      all.resize(size + part.size() / sizeof(values[0]));
      std::copy(part.begin(), part.end(), reinterpret_cast<char*>(all.data() + size));
    }
    return all;
  };
  return {own.rows, own.cols, own.symmetric, joined(own.row), joined(own.col), joined(own.value)};
}

Problem spread_completion(const Entries& entries) {
  const Entries own = own_rows_of(entries);
  Problem problem;
  problem.op = std::make_shared<EntriesOperator<double>>(EntriesOperator<double>::spread(own));
  problem.b = Eigen::Map<const Vector<double>>(own.value.data(), own.size());
  return problem;
}

Entries entries_at_root(const Problem& completion) {
  Entries own = entries_of(completion);
  const std::vector<std::int16_t> to_root(own.value.size(), 0);
  const EntryRoutes routes(to_root);
  const auto root = [](Index) { return 0; };
  const Index size = own.size();
  own.row = routes.send(own.row.data(), size, root);
  own.col = routes.send(own.col.data(), size, root);
  own.value = routes.send(own.value.data(), size, root);
  return own;
}

Entries entries_of(const Problem& completion) {
  const auto* const op = dynamic_cast<const EntriesOperator<double>*>(completion.op.get());
  require(op && op->root_weights().size() == 0,
          "entries_of: a completion without weights expected");
  Entries entries{op->rows(), op->cols(), op->symmetric(), {}, {}, {}};
  const auto size = static_cast<size_t>(completion.b.size());
  entries.row.reserve(size);
  entries.col.reserve(size);
  const SparseLines rows = op->by_row();  // in the order of the measurements
  for (Index i = rows.begin; i < rows.count; ++i)
    for (auto s = rows.first[i]; s < rows.first[i + 1]; ++s) {
      entries.row.push_back(static_cast<std::int32_t>(i));
      entries.col.push_back(rows.other[s]);
    }
  entries.value.assign(completion.b.begin(), completion.b.end());
  return entries;
}

template <typename Scalar>
BasicProblem<Scalar> sensing(RowMatrix<Scalar> measurements, Reals<Scalar> b, Index rows,
                             Index cols, bool symmetric) {
  BasicProblem<Scalar> problem;
  problem.op =
      std::make_shared<DenseOperator<Scalar>>(std::move(measurements), rows, cols, symmetric);
  check_measurements(b, problem.op->num_measurements());
  problem.b = std::move(b);
  return problem;
}

template <typename Scalar>
BasicProblem<Scalar> quadratic_sensing(RowMatrix<Scalar> vectors, Reals<Scalar> b) {
  BasicProblem<Scalar> problem;
  check_measurements(b, vectors.rows());
  problem.op = std::make_shared<RankOneOperator<Scalar>>(std::move(vectors));
  problem.b = std::move(b);
  return problem;
}

template <typename Scalar>
std::pair<BasicProblem<Scalar>, BasicProblem<Scalar>> split(const BasicProblem<Scalar>& problem,
                                                            double held_out_share,
                                                            std::uint64_t seed) {
  const Index parts = problem.op->parts();
  const Index n = problem.b.size() / parts;
  const auto held = static_cast<Index>(std::llround(held_out_share * static_cast<double>(n)));
  require(held > 0 && held < n, "holdout: ", held, " of ", n,
          " measurements would be held out, at least 1 and fewer than all expected");
  const std::vector<Index> order = Random(seed, kStreamHoldout).permutation(n);
  const auto part = [&](auto begin, auto end) {
    std::vector<Index> which(begin, end);
    std::sort(which.begin(), which.end());
    std::vector<Index> numbers;
    for (const Index i : which)
      for (Index k = 0; k < parts; ++k) numbers.push_back(parts * i + k);
    return BasicProblem<Scalar>{problem.op->subset(which), problem.b(numbers)};
  };
  return {part(order.begin() + held, order.end()), part(order.begin(), order.begin() + held)};
}

#define UDV_INSTANTIATE(Scalar)                                                                \
  template BasicProblem<Scalar> sensing(RowMatrix<Scalar>, Reals<Scalar>, Index, Index, bool); \
  template BasicProblem<Scalar> quadratic_sensing(RowMatrix<Scalar>, Reals<Scalar>);           \
  template std::pair<BasicProblem<Scalar>, BasicProblem<Scalar>> split(                        \
      const BasicProblem<Scalar>&, double, std::uint64_t);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

Planted planted_completion(const PlantedOptions& options) {
  Random random(options.seed, kStreamProblem);
  Planted planted;
  planted.U.resize(options.rows, options.rank);
  random.fill_normal(planted.U);
  planted.V.resize(options.cols, options.rank);
  if (!options.symmetric) random.fill_normal(planted.V);
  for (Index c = 0; c < options.rank; ++c) {
    const double position = static_cast<double>(c) / std::max<double>(1, options.rank - 1.0);
    const double weight = std::pow(options.condition, -0.5 * position);
    planted.U.col(c) *= weight;
    planted.V.col(c) *= weight;
  }
  if (options.symmetric) planted.V = planted.U;

  Entries& entries = planted.entries;
  entries.rows = options.rows;
  entries.cols = options.symmetric ? options.rows : options.cols;
  entries.symmetric = options.symmetric;
  double squares = 0;
  for (const auto& [i, j] : random_places(options, random)) {
    entries.row.push_back(static_cast<std::int32_t>(i));
    entries.col.push_back(static_cast<std::int32_t>(j));
    entries.value.push_back(planted.U.row(i).dot(planted.V.row(j)));
    squares += entries.value.back() * entries.value.back();
  }
  const double sigma = options.noise * std::sqrt(squares / static_cast<double>(entries.size()));
  for (double& value : entries.value) value += sigma * random.normal();
  return planted;
}

double Planted::relative_error(const RowMatrix<double>& U_found, const Vector<double>& d_found,
                               const RowMatrix<double>& V_found) const {
  RowMatrix<double> left(U.rows(), U.cols() + U_found.cols());
  RowMatrix<double> right(V.rows(), left.cols());
  Vector<double> weights(left.cols());
  left << U, U_found;
  right << V, V_found;
  weights << Vector<double>::Ones(U.cols()), -d_found;
  const double difference = factored_svd(left, weights, right).s.norm();
  return difference / factored_svd(U, Vector<double>::Ones(U.cols()), V).s.norm();
}

PlantedIntensities planted_intensities(const Vector<double>& x, Index measurements, double noise,
                                       std::uint64_t seed) {
  PlantedIntensities planted;
  planted.W.resize(measurements, x.size());
  Random random(seed, kStreamProbe);
  random.fill_normal(planted.W);
  Vector<double>& b = planted.b;
  b = (planted.W * x).cwiseAbs2();
  const double sigma = noise * b.norm() / std::sqrt(static_cast<double>(b.size()));
  for (double& value : b) value = std::max(0.0, value + sigma * random.normal());
  return planted;
}

Vector<double> planted_signal(Index size, std::uint64_t seed) {
  Vector<double> x(size);
  Random(seed, kStreamProblem).fill_normal(x);
  return x;
}

double intensity_smoothness(const RowMatrix<double>& W) {
  constexpr int kSteps = 50;
  const RowMatrix<double> G = (W * W.transpose()).cwiseAbs2();
  Vector<double> y = Vector<double>::Ones(W.rows());
  double largest = 0;
  for (int step = 0; step < kSteps; ++step) {
    y = G * y.normalized();
    largest = y.norm();
  }
  return largest;
}

}  // namespace udv
