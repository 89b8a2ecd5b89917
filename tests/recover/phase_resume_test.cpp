// SPDX-License-Identifier: MIT
// Phase retrieval that is stopped and resumed ends with the same bits.
#include <gtest/gtest.h>

#include "core/require.hpp"
#include "io/temporary_files.hpp"
#include "support/reference.hpp"
#include "support/resumed_runs.hpp"
#include "udv/core/checkpoint.hpp"
#include "udv/jobs/write_run.hpp"
#include "udv/recover/operators/rank_one.hpp"
#include "udv/recover/phase.hpp"

namespace udv {
namespace phase_resume_test {

using testing::error_of;
using testing::expect_same_run;
using testing::resumed;
using testing::states_on_the_way;
using testing::stopped_at;

/// Intensities of Gaussian rows. Much noise makes it use all its restarts; one long row makes the
/// first step of the dynamics diverge.
template <typename Scalar>
struct Intensities {
  RowMatrix<Scalar> rows;
  RankOneOperator<Scalar> op;
  Reals<Scalar> b;
  PhaseOptions options;

  static Intensities planted(Index unknowns, Index measurements, double noise,
                             double long_row = 1) {
    Random random(3, testing::kTestStream);
    RowMatrix<Scalar> rows(measurements, unknowns);
    Vector<Scalar> truth(unknowns);
    random.fill_normal(rows);
    random.fill_normal(truth);
    rows.row(0) *= static_cast<RealOf<Scalar>>(long_row);
    Reals<Scalar> b = testing::product(rows, truth).cwiseAbs2();
    const double sigma = noise * static_cast<double>(b.mean());
    for (auto& value : b)
      value = static_cast<RealOf<Scalar>>(std::max(0.0, value + sigma * random.normal()));
    return {rows, RankOneOperator<Scalar>(rows), b, {.method = "udu"}};
  }
  PhaseRetrieval<Scalar> run(const Hooks& hooks) const {
    return retrieve_phase<Scalar>(op, b, options, hooks);
  }
};

template <typename Scalar>
void expect_resumable(const Intensities<Scalar>& problem, int least_in_dynamics = 3) {
  const auto run = [&](const Hooks& hooks) { return problem.run(hooks); };
  const PhaseRetrieval<Scalar> whole = run({});
  int in_dynamics = 0, in_polish = 0;
  for (int call = 1;; call += 1 + call / 3) {
    SCOPED_TRACE(message("stopped at call ", call));
    const auto stopped = stopped_at(call, run);
    if (stopped.state.empty()) break;
    ++(stopped.in_dynamics ? in_dynamics : in_polish);
    EXPECT_EQ(stopped.reason, StopReason::kInterrupted);
    const auto again = resumed(stopped.state, run);
    expect_same_run(again, whole);
    EXPECT_EQ(again.restart, whole.restart);
    EXPECT_EQ(again.cut_iteration, whole.cut_iteration);
    EXPECT_EQ(again.solved, whole.solved);
  }
  EXPECT_GE(in_dynamics, least_in_dynamics);
  EXPECT_GE(in_polish, 1);
}

template <typename Scalar>
class PhaseResume : public ::testing::Test {};
using Scalars = ::testing::Types<double, std::complex<double>, float, std::complex<float>>;
TYPED_TEST_SUITE(PhaseResume, Scalars);

TYPED_TEST(PhaseResume, OfAnExactProblemEndsWithTheSameBits) {
  expect_resumable(Intensities<TypeParam>::planted(16, 80, 0));
}

TYPED_TEST(PhaseResume, OverManyCutsEndsWithTheSameBits) {
  expect_resumable(Intensities<TypeParam>::planted(12, 72, 0.1));
}

TYPED_TEST(PhaseResume, OverRestartsEndsWithTheSameBits) {
  auto problem = Intensities<TypeParam>::planted(16, 80, 2);
  problem.options.restarts = 3;
  problem.options.max_iterations = 64;
  expect_resumable(problem);
  EXPECT_GE(problem.run({}).iterations, 3 * 64);
}

TYPED_TEST(PhaseResume, AfterTheFirstStepDivergedEndsWithTheSameBits) {
  auto problem = Intensities<TypeParam>::planted(16, 60, 0, 1000);
  problem.options.max_iterations = 128;
  expect_resumable(problem);
}

TYPED_TEST(PhaseResume, OverStartsByMessagesEndsWithTheSameBits) {
  for (const double noise : {0.0, 0.1, 2.0}) {
    auto problem = Intensities<TypeParam>::planted(12, 60, noise);
    problem.options.method = "auto";
    problem.options.restarts = 2;
    problem.options.max_iterations = 32;
    expect_resumable(problem, 0);
    problem.options.prior.nonnegative = true;
    expect_resumable(problem, 0);
  }
}

TYPED_TEST(PhaseResume, OfARunWithoutHistoryEndsWithTheSameBits) {
  auto problem = Intensities<TypeParam>::planted(16, 80, 0.1);
  problem.options.record = Recording::kNone;
  const auto run = [&](const Hooks& hooks) { return problem.run(hooks); };
  const auto whole = run({});
  for (const int call : {1, 2, 5}) {
    const auto stopped = stopped_at(call, run);
    ASSERT_FALSE(stopped.state.empty());
    expect_same_run(resumed(stopped.state, run), whole);
  }
}

class PhaseState : public ::testing::Test {
 protected:
  Intensities<double> problem = Intensities<double>::planted(16, 80, 0.1);
  std::string state = stopped_at(40, [this](const Hooks& h) { return problem.run(h); }).state;

  template <typename Scalar>
  std::string refusal(const Intensities<Scalar>& other) const {
    return error_of([&] { resumed(state, [&](const Hooks& hooks) { return other.run(hooks); }); });
  }
};

TEST_F(PhaseState, SavedOnTheWayIsGood) {
  const auto run = [this](const Hooks& hooks) { return problem.run(hooks); };
  const auto whole = run({});
  const auto states = states_on_the_way(run);
  ASSERT_GE(states.size(), 100u);
  for (size_t k = 0; k < states.size(); k += 1 + states.size() / 10)
    expect_same_run(resumed(states[k], run), whole);
}

TEST_F(PhaseState, MayBeStoppedAgainAndAgain) {
  const auto run = [this](const Hooks& hooks) { return problem.run(hooks); };
  std::string last;
  Hooks hooks;
  int calls = 0;
  // Parts that are cut off are repeated: every leg is longer than a polish.
  hooks.observer = [&](const IterationRecord&) {
    return ++calls % 150 == 0 ? Verdict::kTimeLimit : Verdict::kContinue;
  };
  hooks.save = [&](const std::string& saved) { last = saved; };
  auto found = run(hooks);
  int legs = 1;
  for (; found.stop_reason == StopReason::kTimeLimit && legs < 50; ++legs) {
    hooks.resume = last;
    found = run(hooks);
  }
  EXPECT_GE(legs, 2);
  expect_same_run(found, run({}));
}

TEST_F(PhaseState, OfAnotherProblemOrOtherOptionsIsRefused) {
  const std::string expected = "the checkpoint belongs to another problem or to other options";
  auto other = problem;
  other.b(3) += 1e-9;
  EXPECT_EQ(refusal(other), expected);
  other = problem;
  other.rows(2, 1) += 1e-9;
  EXPECT_EQ(
      refusal(Intensities<double>{other.rows, RankOneOperator<double>(other.rows), other.b, {}}),
      expected);
  other = problem;
  other.options.seed = 1;
  EXPECT_EQ(refusal(other), expected);
  other = problem;
  other.options.restarts = 2;
  EXPECT_EQ(refusal(other), expected);
  other = problem;
  other.options.prior.sparse = true;
  EXPECT_EQ(refusal(other), expected);
  EXPECT_EQ(refusal(Intensities<std::complex<double>>::planted(16, 80, 0.1)),
            "checkpoint: a state of 'phase float64' found, 'phase complex128' expected");
}

TEST_F(PhaseState, ThatIsDamagedIsRefused) {
  const auto run = [this](const Hooks& hooks) { return problem.run(hooks); };
  for (size_t size = 1; size < state.size(); size += 1 + state.size() / 100)
    EXPECT_THROW(resumed(state.substr(0, size), run), InvalidArgument) << size;
  EXPECT_THROW(resumed(state + '\0', run), InvalidArgument);
  std::string file = to_bytes(Checkpoint{"phase", "seed 0", state});
  EXPECT_EQ(checkpoint_from_bytes(file).payload, state);
  for (size_t at = 0; at < file.size(); at += 1 + file.size() / 100) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_THROW(checkpoint_from_bytes(damaged), InvalidArgument) << at;
  }
}

TEST(PhaseResult, IsARecovery) {
  const auto problem = Intensities<double>::planted(16, 80, 0);
  const auto found = problem.run({});
  EXPECT_EQ(found.method, "udu");
  EXPECT_EQ(found.rank, 1);
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.stop_reason, StopReason::kConverged);
  EXPECT_LE(found.relative_residual, 1e-9);
  EXPECT_NEAR(found.spectrum(0), found.x.squaredNorm(), 1e-9 * found.spectrum(0));
  EXPECT_NE(found.certificate.verdict, Optimality::kNotConverged);
  EXPECT_EQ(found.history.back().iteration, found.iterations);
  const auto answer = rank_one_recovery<double>(problem.op, problem.b, found.x);
  EXPECT_EQ(answer.U, found.U);
  EXPECT_EQ(answer.objective, found.objective);
  const io::TemporaryFolder folder;
  io::write_run(folder / "run", found);
  EXPECT_TRUE(std::filesystem::exists(folder / "run" / "run.json"));
}

}  // namespace phase_resume_test
}  // namespace udv
