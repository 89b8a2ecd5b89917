// SPDX-License-Identifier: MIT
// Ptychography that is stopped and resumed ends with the same bits.
#include <gtest/gtest.h>

#include "core/require.hpp"
#include "io/temporary_files.hpp"
#include "support/microscope.hpp"
#include "support/resumed_runs.hpp"
#include "udv/jobs/write_run.hpp"
#include "udv/recover/ptychography.hpp"

namespace udv {
namespace ptychography_resume_test {

using testing::error_of;
using testing::resumed;
using testing::Scene;
using testing::stopped_at;

void expect_same_image(const PtychographyResult& one, const PtychographyResult& other) {
  testing::expect_same_run(one, other);
  EXPECT_EQ(one.pupil, other.pupil);
  EXPECT_EQ(one.dark_gain, other.dark_gain);
  EXPECT_EQ(one.amplitude_residual, other.amplitude_residual);
  EXPECT_EQ(one.winner, other.winner);
  ASSERT_EQ(one.candidates.size(), other.candidates.size());
  for (size_t k = 0; k < one.candidates.size(); ++k) {
    EXPECT_EQ(one.candidates[k].name, other.candidates[k].name);
    EXPECT_EQ(one.candidates[k].residual, other.candidates[k].residual);
  }
}

class PtychographyResume : public ::testing::Test {
 protected:
  // Dark images at the rim, half as bright as they should be.
  PtychographyResume() {
    const Index pixels = scene.op.pixels();
    for (Index l = 0; l < scene.op.images(); ++l)
      if (scene.dark[size_t(l)]) scene.amplitudes.segment(l * pixels, pixels) *= 0.5f;
    options.dynamics_steps = 20;
  }

  PtychographyResult run(const Hooks& hooks) const {
    return recover_image(scene.images(), options, hooks);
  }
  std::string refusal(const std::string& state) const {
    return error_of([&] { resumed(state, [this](const Hooks& h) { return run(h); }); });
  }

  Scene scene{2};
  PtychographyOptions options;
};

TEST_F(PtychographyResume, EndsWithTheSameBitsWhereverItWasStopped) {
  const auto run = [this](const Hooks& hooks) { return this->run(hooks); };
  const PtychographyResult whole = run({});
  EXPECT_EQ(whole.candidates.size(), 3u);
  EXPECT_NE(whole.dark_gain, 1);
  const int calls = static_cast<int>(whole.history.size());
  int in_dynamics = 0, in_fits = 0;
  // The last calls are those of the rounds with the pupil.
  for (int call = 1; call <= calls; call += call > calls - 12 ? 3 : 1 + calls / 12) {
    SCOPED_TRACE(message("stopped at call ", call, " of ", calls));
    const auto stopped = stopped_at(call, run);
    ASSERT_FALSE(stopped.state.empty());
    EXPECT_EQ(stopped.reason, StopReason::kInterrupted);
    ++(stopped.in_dynamics ? in_dynamics : in_fits);
    expect_same_image(resumed(stopped.state, run), whole);
  }
  EXPECT_GE(in_dynamics, 2);
  EXPECT_GE(in_fits, 8);
}

TEST_F(PtychographyResume, IsPossibleFromEveryStateOnTheWay) {
  const auto run = [this](const Hooks& hooks) { return this->run(hooks); };
  const PtychographyResult whole = run({});
  const auto states = testing::states_on_the_way(run);
  ASSERT_GE(states.size(), 30u);
  for (size_t k = 0; k < states.size(); k += 1 + states.size() / 6)
    expect_same_image(resumed(states[k], run), whole);
}

TEST_F(PtychographyResume, KeepsTheBestOfAStoppedRun) {
  const auto run = [this](const Hooks& hooks) { return this->run(hooks); };
  Hooks hooks;
  int calls = 0;
  hooks.observer = [&](const IterationRecord&) {
    return ++calls == 30 ? Verdict::kTimeLimit : Verdict::kContinue;
  };
  const PtychographyResult found = run(hooks);
  EXPECT_EQ(found.stop_reason, StopReason::kTimeLimit);
  EXPECT_FALSE(found.converged);
  EXPECT_EQ(found.winner, "flat");
  EXPECT_LT(found.amplitude_residual, 0.5);
  const io::TemporaryFolder folder;
  io::write_run(folder / "run", found);
  EXPECT_TRUE(std::filesystem::exists(folder / "run" / "run.json"));
}

TEST_F(PtychographyResume, RefusesStatesOfOthersAndDamagedOnes) {
  const auto stopped = stopped_at(8, [this](const Hooks& hooks) { return run(hooks); });
  const std::string expected = "the checkpoint belongs to another problem or to other options";
  for (size_t size = 1; size < stopped.state.size(); size += 1 + stopped.state.size() / 20)
    EXPECT_NE(refusal(stopped.state.substr(0, size)), "no error") << size;
  EXPECT_EQ(refusal(stopped.state + '\0'), "checkpoint: bytes left over at the end");
  std::string other = stopped.state;
  other[10] = 'X';
  EXPECT_EQ(refusal(other).substr(0, 22), "checkpoint: a state of");
  scene.dark[3] = !scene.dark[3];
  EXPECT_EQ(refusal(stopped.state), expected);
  scene.dark[3] = !scene.dark[3];
  options.pupil_rounds = 1;
  EXPECT_EQ(refusal(stopped.state), expected);
  options.pupil_rounds = 2;
  scene.amplitudes(5) += 1e-3f;
  EXPECT_EQ(refusal(stopped.state), expected);
}

}  // namespace ptychography_resume_test
}  // namespace udv
