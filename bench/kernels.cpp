// SPDX-License-Identifier: MIT
// Kernels of the entries operator over a decade of entries and of columns: cost must grow linearly
// in both. Counters give the error against a plain loop beside the speed.
#include <benchmark/benchmark.h>

#include <cmath>

#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/operators/entries.hpp"
#include "udv/recover/problem.hpp"

namespace {

using udv::Index;

constexpr Index kLines = 2000;

struct Case {
  udv::Entries entries;
  std::unique_ptr<udv::EntriesOperator<double>> op;
  udv::StackedFactors<double> Z;
};

Case make_case(Index measurements, Index columns) {
  udv::PlantedOptions options;
  options.rows = options.cols = kLines;
  options.symmetric = false;
  options.rank = 2;
  options.measurements = measurements;
  Case made;
  made.entries = udv::planted_completion(options).entries;
  made.op = std::make_unique<udv::EntriesOperator<double>>(made.entries);
  made.Z = udv::StackedFactors<double>(kLines, kLines, false, columns);
  udv::Random random(1);
  random.fill_normal(made.Z.Z);
  return made;
}

void count(benchmark::State& state, const Case& made, double work_per_entry_and_column) {
  const double work =
      static_cast<double>(made.op->num_measurements()) * static_cast<double>(made.Z.rank());
  state.counters["flops"] = benchmark::Counter(work * work_per_entry_and_column,
                                               benchmark::Counter::kIsIterationInvariantRate);
}

void apply(benchmark::State& state, Index measurements, Index columns) {
  const Case made = make_case(measurements, columns);
  udv::Vector<double> y;
  const udv::Vector<double> d = udv::Vector<double>::Ones(columns);
  for (auto _ : state) made.op->apply(made.Z.U(), d, made.Z.V(), y);
  double error = 0;
  for (Index t = 0; t < y.size(); t += 997) {
    const auto at = static_cast<size_t>(t);
    const double plain =
        made.Z.U().row(made.entries.row[at]).dot(made.Z.V().row(made.entries.col[at]));
    error = std::max(error, std::abs(plain - y(t)));
  }
  state.counters["error"] = error;
  count(state, made, 2);
}

void gradient(benchmark::State& state, Index measurements, Index columns) {
  const Case made = make_case(measurements, columns);
  const udv::Vector<double> b = udv::Vector<double>::Ones(measurements);
  const udv::Vector<double> d = udv::Vector<double>::Ones(columns);
  udv::Vector<double> z;
  udv::RowMatrix<double> G(2 * kLines, columns);
  for (auto _ : state)
    made.op->residual_products(made.Z.U(), d, made.Z.V(), b, z, G.topRows(kLines),
                               G.bottomRows(kLines));
  count(state, made, 6);
}

void normal_product(benchmark::State& state, Index measurements, Index columns) {
  const Case made = make_case(measurements, columns);
  const auto model = made.op->linearize(made.Z);
  udv::RowMatrix<double> Y;
  for (auto _ : state) model->normal_product(made.Z.Z, Y);
  count(state, made, 8);
}

template <typename Kernel>
void over_entries(const char* name, Kernel kernel) {
  auto* bench = benchmark::RegisterBenchmark(name, [kernel](benchmark::State& state) {
    udv::set_num_threads(1);
    kernel(state, state.range(0), 10);
    state.SetComplexityN(state.range(0));
  });
  bench->RangeMultiplier(2)->Range(1 << 16, 1 << 20)->Complexity(benchmark::oN);
}

template <typename Kernel>
void over_columns(const char* name, Kernel kernel) {
  auto* bench = benchmark::RegisterBenchmark(name, [kernel](benchmark::State& state) {
    udv::set_num_threads(1);
    kernel(state, 200'000, state.range(0));
    state.SetComplexityN(state.range(0));
  });
  for (const Index columns : {4, 8, 12, 16, 24, 32, 40, 64}) bench->Arg(columns);
  bench->Complexity(benchmark::oN);
}

const bool registered = [] {
  over_entries("apply/entries", apply);
  over_entries("gradient/entries", gradient);
  over_entries("normal_product/entries", normal_product);
  over_columns("apply/columns", apply);
  over_columns("gradient/columns", gradient);
  over_columns("normal_product/columns", normal_product);
  return true;
}();

}  // namespace
