// SPDX-License-Identifier: MIT
#include "recover/solver/solve_state.hpp"

#include <gtest/gtest.h>

#include "core/require.hpp"
#include "support/planted_problems.hpp"

namespace udv {
namespace solve_state_test {

using testing::error_of;
using testing::expect_same_bits;
using testing::PlantedProblem;
using State = SolveState<double>;

RecoverOptions dynamics_options() {
  RecoverOptions options;
  options.start = Start::kDynamics;
  return options;
}

/// The checkpoint of a run that is interrupted at the given call of its observer.
State interrupted(const Problem& problem, const RecoverOptions& options, int call) {
  State saved;
  int calls = 0;
  RecoverHooks hooks;
  hooks.observer = [&](const IterationRecord&) {
    return ++calls == call ? Verdict::kInterrupt : Verdict::kContinue;
  };
  hooks.save = [&](const std::string& bytes) { saved = solve_state_from_bytes(bytes); };
  recover(problem, options, hooks);
  return saved;
}

/// The last of all checkpoints of a run: it has a finished gradient run and a journal.
State last_state(const Problem& problem, const RecoverOptions& options) {
  State last;
  RecoverHooks hooks;
  hooks.save_every_seconds = 0;
  hooks.save = [&](const std::string& bytes) { last = solve_state_from_bytes(bytes); };
  recover(problem, options, hooks);
  return last;
}

const std::string& sample_bytes() {
  static const std::string bytes =
      to_bytes(last_state(testing::small_rectangular().problem, dynamics_options()));
  return bytes;
}

TEST(StateBytes, RoundTripToTheSameBytes) {
  const State checkpoint = solve_state_from_bytes(sample_bytes());
  EXPECT_TRUE(checkpoint.has_gradient);
  EXPECT_FALSE(checkpoint.journal.empty());
  EXPECT_FALSE(checkpoint.history.empty());
  EXPECT_FALSE(checkpoint.columns.iteration.empty());
  EXPECT_EQ(to_bytes(checkpoint), sample_bytes());
}

TEST(StateBytes, RoundTripAnEmptyState) {
  State empty;
  const State checkpoint = solve_state_from_bytes(to_bytes(empty));
  EXPECT_FALSE(checkpoint.has_gradient);
  EXPECT_TRUE(checkpoint.journal.empty());
}

TEST(StateBytes, NameTheScalar) {
  EXPECT_EQ(error_of([&] { solve_state_from_bytes<float>(sample_bytes()); }),
            "checkpoint: a state of 'solve float64' found, 'solve float32' expected");
  EXPECT_EQ(error_of([] { solve_state_from_bytes(""); }), "checkpoint: 0 bytes left, 8 expected");
}

TEST(StateBytes, AreRefusedWhereverTheyAreCutShort) {
  const std::string& bytes = sample_bytes();
  for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 200)
    EXPECT_THROW(solve_state_from_bytes(std::string_view(bytes).substr(0, size)), InvalidArgument)
        << size;
}

TEST(StateBytes, AreRefusedWhereSomethingFollows) {
  EXPECT_THROW(solve_state_from_bytes(sample_bytes() + '\0'), InvalidArgument);
}

struct ResumeCase {
  std::string name;
  RecoverOptions options;
};

void PrintTo(const ResumeCase& item, std::ostream* out) {
  *out << item.name;
}

RecoverOptions gradient_options(std::optional<double> step, Recording record) {
  RecoverOptions options;
  options.rank_walk = false;
  options.step = step;
  options.record = record;
  options.max_iterations = 200;
  return options;
}

RecoverOptions noisy_options(Recording record) {
  RecoverOptions options;
  options.record = record;
  return options;
}

class Resumed : public ::testing::TestWithParam<ResumeCase> {
 protected:
  const RecoverOptions& options = GetParam().options;
  const PlantedProblem planted = testing::planted_entries(30, 25, false, 2, 4, 1, 0.02);
  const Recovery whole = recover(planted.problem, options);

  Recovery resumed(const State& checkpoint) const {
    RecoverHooks hooks;
    hooks.resume = to_bytes(checkpoint);
    return recover(planted.problem, options, hooks);
  }
};

TEST_P(Resumed, EndsWithTheSameBits) {
  int interrupts = 0;
  for (int call = 1; call < 1000; call += 1 + call / 4) {
    const State checkpoint = interrupted(planted.problem, options, call);
    if (checkpoint.fingerprint == 0) break;
    ++interrupts;
    SCOPED_TRACE(message("interrupted at call ", call));
    expect_same_bits(resumed(checkpoint), whole);
  }
  EXPECT_GE(interrupts, 1);
}

TEST_P(Resumed, LeavesTheSameHistory) {
  const Recovery again = resumed(interrupted(planted.problem, options, 1));
  ASSERT_EQ(again.history.size(), whole.history.size());
  for (size_t k = 0; k < whole.history.size(); ++k) {
    EXPECT_EQ(again.history[k].iteration, whole.history[k].iteration);
    EXPECT_EQ(again.history[k].objective, whole.history[k].objective);
    EXPECT_EQ(again.history[k].rank, whole.history[k].rank);
  }
  EXPECT_EQ(again.columns.iteration, whole.columns.iteration);
  EXPECT_EQ(again.columns.norm_u, whole.columns.norm_u);
}

TEST_P(Resumed, FromEveryStateSavedOnTheWay) {
  std::vector<State> saved;
  RecoverHooks hooks;
  hooks.save_every_seconds = 0;
  hooks.save = [&](const std::string& bytes) { saved.push_back(solve_state_from_bytes(bytes)); };
  expect_same_bits(recover(planted.problem, options, hooks), whole);
  ASSERT_GE(saved.size(), 5u);
  for (size_t k = 0; k < saved.size(); k += 1 + saved.size() / 10)
    expect_same_bits(resumed(saved[k]), whole);
}

TEST_P(Resumed, TimeIsAddedUp) {
  State checkpoint = interrupted(planted.problem, options, 1);
  checkpoint.seconds = 1000;
  EXPECT_GE(resumed(checkpoint).seconds, 1000);
}

INSTANTIATE_TEST_SUITE_P(
    Run, Resumed,
    ::testing::Values(ResumeCase{"polish", {}},
                      ResumeCase{"polish_unrecorded", noisy_options(Recording::kNone)},
                      ResumeCase{"dynamics", dynamics_options()},
                      ResumeCase{"adaptive_gradient", gradient_options({}, Recording::kLog)},
                      ResumeCase{"constant_gradient", gradient_options(0.05, Recording::kEvery)},
                      ResumeCase{"unrecorded_gradient", gradient_options({}, Recording::kNone)}),
    [](const auto& info) { return info.param.name; });

TEST(Resume, MayBeRepeatedUntilTheEnd) {
  // Without a history the observer is asked at iteration 16 after each start.
  const auto options = gradient_options({}, Recording::kNone);
  const Problem problem = testing::small_symmetric().problem;
  std::string state;
  RecoverHooks hooks;
  hooks.observer = [](const IterationRecord&) { return Verdict::kInterrupt; };
  hooks.save = [&](const std::string& bytes) { state = bytes; };
  Recovery found = recover(problem, options, hooks);
  int legs = 1;
  for (; found.stop_reason == StopReason::kInterrupted && legs < 100; ++legs) {
    hooks.resume = state;
    found = recover(problem, options, hooks);
  }
  EXPECT_EQ(legs, 13);
  expect_same_bits(found, recover(problem, options));
}

class Mismatch : public ::testing::Test {
 protected:
  std::string refusal(const Problem& problem, const RecoverOptions& options) const {
    RecoverHooks hooks;
    hooks.resume = to_bytes(checkpoint);
    return error_of([&] { recover(problem, options, hooks); });
  }
  const PlantedProblem planted = testing::small_symmetric();
  const State checkpoint = interrupted(planted.problem, {}, 3);
  const std::string expected = "the checkpoint belongs to another problem or to other options";
};

TEST_F(Mismatch, OfOptionsIsRefused) {
  std::vector<RecoverOptions> others(12);
  others[0].method = "bm";
  others[1].max_rank = 5;
  others[2].step = 0.1;
  others[3].alpha = 2;
  others[4].scale_rule = ScaleRule::kUnit;
  others[5].init_norm = 1;
  others[6].tolerance = 1e-6;
  others[7].rank_walk = false;
  others[8].start = Start::kDynamics;
  others[9].noise_sigma = 0.1;
  others[10].shrinkage = false;
  others[11].seed = 1;
  for (size_t k = 0; k < others.size(); ++k)
    EXPECT_EQ(refusal(planted.problem, others[k]), expected) << k;
}

TEST_F(Mismatch, OfDataIsRefused) {
  Problem other = planted.problem;
  other.b(7) += 1e-9;
  EXPECT_EQ(refusal(other, {}), expected);
}

TEST_F(Mismatch, OfTheOperatorIsRefused) {
  Problem other = testing::planted_entries(30, 30, true, 3, 4, 1, 0, 9).problem;
  ASSERT_EQ(other.b.size(), planted.problem.b.size());
  other.b = planted.problem.b;
  EXPECT_EQ(refusal(other, {}), expected);
}

TEST_F(Mismatch, OfLimitsAndRecordsIsNone) {
  RecoverOptions options;
  options.max_iterations = 10'000;
  options.record = Recording::kEvery;
  EXPECT_EQ(refusal(planted.problem, options), "no error");
}

}  // namespace solve_state_test
}  // namespace udv
