// SPDX-License-Identifier: MIT
// The first ten losses of each method against data/golden_udu, made by an independent script.
#include <gtest/gtest.h>

#include "support/csv.hpp"
#include "udv/recover/problem.hpp"
#include "udv/recover/solver/projected_gradient.hpp"

namespace udv {
namespace golden_trace_test {

using testing::data_folder;
using testing::read_csv;

constexpr double kStep = 0.125;

Problem golden_problem(const Method& method) {
  const std::string shape = method.symmetric ? "symmetric" : "rectangular";
  const RowMatrix<double> rows = read_csv(data_folder("golden_udu") / (shape + "_entries.csv"));
  Entries entries{12, method.symmetric ? 12 : 9, method.symmetric, {}, {}, {}};
  for (Index t = 0; t < rows.rows(); ++t) {
    entries.row.push_back(static_cast<std::int32_t>(rows(t, 0)));
    entries.col.push_back(static_cast<std::int32_t>(rows(t, 1)));
    entries.value.push_back(rows(t, 2));
  }
  return completion(entries);
}

Factorization<double> golden_start(const Method& method) {
  const auto folder = data_folder("golden_udu");
  const Index columns = method.symmetric ? 12 : 9;
  StackedFactors<double> Z(12, columns, method.symmetric, columns);
  Z.U() = read_csv(folder / (method.symmetric ? "symmetric_u0.csv" : "rectangular_u0.csv"));
  if (!method.symmetric) Z.V() = read_csv(folder / "rectangular_v0.csv");
  Vector<double> d = Vector<double>::Ones(columns);
  for (Index c = 1; c < columns && method.diagonal; ++c) d(c) = d(c - 1) / 2;
  return Factorization<double>(method, Z, d);
}

class GoldenTrace : public ::testing::TestWithParam<Method> {};

TEST_P(GoldenTrace, FirstTenLossesAreThoseOfTheReference) {
  const Method& method = method_named(GetParam().name);
  const Problem problem = golden_problem(method);
  GradientOptions options;
  options.max_iterations = 10;
  std::vector<double> losses;
  auto state = ProjectedGradient<double>::start(golden_start(method), StepRule(kStep));
  ProjectedGradient(*problem.op, problem.b, options).run(state, [&](const GradientState& now) {
    losses.push_back(now.objective);
    return true;
  });
  const RowMatrix<double> golden = read_csv(data_folder("golden_udu") / "losses.csv");
  const Index column = &method - methods().data();
  ASSERT_EQ(losses.size(), 10u);
  for (Index k = 0; k < 10; ++k)
    EXPECT_NEAR(losses[static_cast<size_t>(k)] / golden(k, column), 1, 1e-12) << "iterate " << k;
}

INSTANTIATE_TEST_SUITE_P(Of, GoldenTrace, ::testing::ValuesIn(methods()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace golden_trace_test
}  // namespace udv
