// SPDX-License-Identifier: MIT
// Several processes that share a completion compute the bits of one alone.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "core/communicator.hpp"
#include "recover/operators/entry_shares.hpp"
#include "recover/spread_completion.hpp"
#include "support/thread_team.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/operators/entries.hpp"
#include "udv/recover/problem.hpp"
#include "udv/recover/recover.hpp"

namespace udv {
namespace team_test {

template <typename Dense>
void append(const Dense& values, std::vector<double>& to) {
  to.insert(to.end(), values.data(), values.data() + values.size());
}

// What `compute` returns on each of so many ranks.
std::vector<std::vector<double>> on_ranks(int ranks,
                                          const std::function<std::vector<double>()>& compute,
                                          int machines = 1) {
  std::vector<std::vector<double>> results(static_cast<size_t>(ranks));
  test::ThreadTeam::run(
      ranks,
      [&] {
        const auto rank = static_cast<size_t>(communicator().rank());
        results[rank] = compute();
      },
      machines);
  return results;
}

// Ranks of one machine, of two, and of none where they could share memory.
void expect_same_bits(const std::function<std::vector<double>()>& compute, const char* what,
                      const std::vector<int>& machines = {1}) {
  const std::vector<double> alone = compute();
  for (const int together : machines)
    for (const int ranks : {2, 3, 5})
      for (const auto& numbers : on_ranks(ranks, compute, together)) {
        ASSERT_EQ(numbers.size(), alone.size()) << what;
        for (size_t i = 0; i < alone.size(); ++i)
          ASSERT_EQ(numbers[i], alone[i])
              << what << ", " << ranks << " ranks on " << together << " machines, number " << i;
      }
}

// Factors from rank 0, who may be the only one to have them.
void append_from_root(const RowMatrix<double>& factor, std::vector<double>& to) {
  RowMatrix<double> known(from_root(factor.rows()), from_root(factor.cols()));
  if (communicator().is_root()) known = factor;
  communicator().broadcast(known.data(), known.size() * static_cast<Index>(sizeof(double)));
  append(known, to);
}

Entries some_entries(bool symmetric, bool weighted, std::uint64_t seed) {
  PlantedOptions options;
  options.rows = 60;
  options.cols = symmetric ? 60 : 37;
  options.symmetric = symmetric;
  options.measurements = 700;
  options.seed = seed;
  Entries entries = planted_completion(options).entries;
  Random random(seed, 5);
  for (Index t = 0; weighted && t < entries.size(); ++t)
    entries.weight.push_back(t % 7 == 0 ? 0.0 : std::exp(random.normal()));
  return entries;
}

std::vector<double> all_products(const Problem& problem, Index k) {
  const auto& op = *problem.op;
  StackedFactors<double> Z(op.rows(), op.cols(), op.symmetric(), k), P = Z;
  Random random(3, 4);
  random.fill_normal(Z.Z);
  random.fill_normal(P.Z);
  std::vector<double> numbers;
  Vector<double> y, z, d = Vector<double>::LinSpaced(k, 0.5, 2);
  op.apply(Z.U(), d, Z.V(), y);
  append(y, numbers);
  RowMatrix<double> G, for_u(op.rows(), k), for_v(op.cols(), k), Y;
  pull_back(op, Z, y, G);
  append(G, numbers);
  op.residual_products(Z.U(), d, Z.V(), problem.b, z, for_u, for_v);
  append(z, numbers);
  append(for_u, numbers);
  if (!op.symmetric()) append(for_v, numbers);
  const auto model = op.linearize(Z);
  model->normal_product(P.Z, Y);
  append(Y, numbers);
  numbers.push_back(model->mean_diagonal());
  model->factor_preconditioner(1e-3);
  model->precondition(P.Z, Y);
  append(Y, numbers);
  return numbers;
}

TEST(Team, ProductsHaveTheBitsOfOneProcess) {
  for (const bool symmetric : {false, true})
    for (const bool weighted : {false, true})
      for (const Index k : {1, 2, 3, 5, 7, 8, 9, 10, 13, 17, 24, 41})
        expect_same_bits(
            [&] { return all_products(completion(some_entries(symmetric, weighted, 1)), k); },
            "products");
}

std::vector<double> answer(const Problem& problem, const RecoverOptions& options,
                           const std::string& resume = "") {
  RecoverHooks hooks;
  hooks.resume = resume;
  const Recovery recovery = recover(problem, options, hooks);
  std::vector<double> numbers{static_cast<double>(recovery.rank), recovery.objective,
                              recovery.relative_residual, recovery.noise_sigma,
                              recovery.certificate.dual_infeasibility};
  append_from_root(recovery.U, numbers);
  append(recovery.d, numbers);
  append_from_root(recovery.V, numbers);
  append(recovery.spectrum, numbers);
  return numbers;
}

struct Case {
  const char* name;
  bool symmetric;
  double noise;
  bool gradient;
};

class TeamAnswer : public ::testing::TestWithParam<Case> {};

TEST_P(TeamAnswer, HasTheBitsOfOneProcess) {
  const Case& given = GetParam();
  PlantedOptions planted;
  planted.rows = 40;
  planted.cols = given.symmetric ? 40 : 30;
  planted.symmetric = given.symmetric;
  planted.rank = 2;
  planted.measurements = 600;
  planted.noise = given.noise;
  const Entries entries = planted_completion(planted).entries;
  RecoverOptions options;
  if (given.gradient) {
    options.rank_walk = false;
    options.max_iterations = 200;
  }
  expect_same_bits([&] { return answer(completion(entries), options); }, given.name);
}

INSTANTIATE_TEST_SUITE_P(Team, TeamAnswer,
                         ::testing::Values(Case{"exact", false, 0, false},
                                           Case{"noisy", false, 0.1, false},
                                           Case{"symmetric", true, 0, false},
                                           Case{"gradient", true, 0, true},
                                           Case{"gradient_noisy", false, 0.1, true}),
                         [](const auto& info) { return std::string(info.param.name); });

// Few entries count as many while alive.
struct FewAreMany {
  FewAreMany() { set_many_entries(64 * 20); }
  ~FewAreMany() { set_many_entries(usual); }
  const Index usual = many_entries();
};

// This rank's share of the entries.
Problem spread_problem(const Entries& entries) {
  if (communicator().is_alone()) return completion(entries);
  Entries part{entries.rows, entries.cols, entries.symmetric, {}, {}, {}};
  for (Index t = communicator().rank(); t < entries.size(); t += communicator().size()) {
    const auto s = static_cast<size_t>(t);
    part.row.push_back(entries.row[s]);
    part.col.push_back(entries.col[s]);
    part.value.push_back(entries.value[s]);
  }
  return spread_completion(part);
}

struct SpreadCase {
  const char* name;
  double noise;
  bool gradient;
};

class SpreadAnswer : public ::testing::TestWithParam<SpreadCase> {};

// Each rank is given every so many-th entry, and holds those of its own rows and columns.
Entries planted_entries(double noise) {
  PlantedOptions planted;
  planted.rows = 90;
  planted.cols = 70;
  planted.symmetric = false;
  planted.rank = 2;
  planted.measurements = 2500;
  planted.noise = noise;
  return planted_completion(planted).entries;
}

TEST_P(SpreadAnswer, HasTheBitsOfOneProcess) {
  const SpreadCase& given = GetParam();
  const FewAreMany few;
  const Entries entries = planted_entries(given.noise);
  RecoverOptions options;
  options.start = Start::kBayes;  // as for more entries than a test has time for
  if (given.gradient) {
    options.start = Start::kNothing;
    options.rank_walk = false;
    options.max_iterations = 50;
  }
  expect_same_bits([&] { return answer(spread_problem(entries), options); }, given.name, {0, 1, 2});
}

INSTANTIATE_TEST_SUITE_P(Team, SpreadAnswer,
                         ::testing::Values(SpreadCase{"noisy", 0.1, false},
                                           SpreadCase{"exact", 0, false},
                                           SpreadCase{"gradient", 0.1, true}),
                         [](const auto& info) { return std::string(info.param.name); });

// States that rank 0 saves after some of the sweeps.
std::vector<std::string> states_of_sweeps(const Entries& entries, const RecoverOptions& options) {
  std::vector<std::string> states;
  const Problem problem = spread_problem(entries);
  RecoverHooks hooks;
  hooks.save_every_seconds = 0;
  if (communicator().is_root())
    hooks.save = [&](const std::string& bytes) { states.push_back(bytes); };
  recover(problem, options, hooks);
  return states;
}

class SpreadResume : public ::testing::TestWithParam<NoiseModel> {};

// Two ranks are interrupted; one, two or three go on.
TEST_P(SpreadResume, HasTheBitsOfOneProcessThatWasNotInterrupted) {
  const FewAreMany few;
  Entries entries = planted_entries(0.3);
  for (size_t t = 0; t < entries.value.size(); ++t)
    entries.value[t] = std::round(20 + 4 * entries.value[t] + entries.row[t] % 5);
  RecoverOptions options;
  options.start = Start::kBayes;
  options.noise_model = GetParam();
  std::vector<std::string> states;
  test::ThreadTeam::run(2, [&] {
    auto own = states_of_sweeps(entries, options);
    if (communicator().is_root()) states = std::move(own);
  });
  ASSERT_GE(states.size(), 10u);
  const std::vector<double> whole = answer(completion(entries), options);
  for (size_t k = 0; k < states.size(); k += 1 + states.size() / 6) {
    const auto resumed = [&] { return answer(spread_problem(entries), options, states[k]); };
    EXPECT_EQ(resumed(), whole) << "state " << k;
    for (const int ranks : {2, 3})
      for (const auto& numbers : on_ranks(ranks, resumed))
        EXPECT_EQ(numbers, whole) << "state " << k << ", " << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(Team, SpreadResume,
                         ::testing::Values(NoiseModel::kGaussian, NoiseModel::kRows,
                                           NoiseModel::kPoisson, NoiseModel::kAuto));

TEST(Team, OpenLinesOfSpreadEntriesAreThoseOfOneProcess) {
  const FewAreMany few;
  Entries entries{60, 50, false, {}, {}, {}};
  const auto add = [&](Index i, Index j) {
    entries.row.push_back(static_cast<std::int32_t>(i));
    entries.col.push_back(static_cast<std::int32_t>(j));
    entries.value.push_back(static_cast<double>(1 + i + 2 * j));
  };
  // Two blocks, a chain that peels off, an empty row and an empty column.
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 30; ++j) add(i, j);
  for (Index i = 40; i < 50; ++i)
    for (Index j = 30; j < 40; ++j) add(i, j);
  for (Index i = 50; i < 58; ++i) {
    add(i, i - 9);
    add(i, i - 10);
  }
  const auto numbers = [](const Undetermined& open) {
    std::vector<double> all{static_cast<double>(open.free_parameters),
                            static_cast<double>(open.blocks.size())};
    const auto append_all = [&](const std::vector<Index>& lines) {
      all.push_back(-1);
      all.insert(all.end(), lines.begin(), lines.end());
    };
    for (const auto* const lines : {&open.empty_rows, &open.empty_cols, &open.rows, &open.cols})
      append_all(*lines);
    for (const auto& [rows, cols] : open.blocks) {
      append_all(rows);
      append_all(cols);
    }
    return all;
  };
  for (const Index rank : {1, 2, 3})
    expect_same_bits(
        [&] {
          Entries part = entries;
          if (!communicator().is_root()) part = {60, 50, false, {}, {}, {}};
          const Problem problem =
              communicator().is_alone() ? completion(entries) : spread_completion(part);
          return numbers(problem.op->undetermined(rank));
        },
        "open lines");
}

TEST(Team, SharesAreFairAndComplete) {
  std::vector<Index> before{0};
  for (Index i = 0; i < 100; ++i) before.push_back(before.back() + (i < 10 ? 50 : 1));
  test::ThreadTeam::run(4, [&] {
    const LineShares shares = fair_shares(before);
    ASSERT_EQ(shares.bounds.size(), 5u);
    EXPECT_EQ(shares.bounds.front(), 0);
    EXPECT_EQ(shares.bounds.back(), 100);
    for (size_t r = 0; r < 4; ++r) {
      EXPECT_LE(shares.bounds[r], shares.bounds[r + 1]);
      const Index weight = before[static_cast<size_t>(shares.bounds[r + 1])] -
                           before[static_cast<size_t>(shares.bounds[r])];
      EXPECT_LE(weight, before.back() / 4 + 50);
    }
  });
  EXPECT_FALSE(fair_shares(before).shared());
}

TEST(Team, TextsOfAllRanksAreGathered) {
  test::ThreadTeam::run(3, [] {
    const auto all = gathered(std::string(static_cast<size_t>(communicator().rank()), 'x'));
    EXPECT_EQ(all, (std::vector<std::string>{"", "x", "xx"}));
    EXPECT_EQ(from_root(communicator().rank() + 7), 7);
    EXPECT_EQ(from_root(std::string(communicator().is_root() ? "root" : "")), "root");
  });
}

}  // namespace team_test
}  // namespace udv
