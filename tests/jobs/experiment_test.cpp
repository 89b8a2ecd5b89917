// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "core/pattern.hpp"
#include "io/temporary_files.hpp"
#include "jobs/experiment_checks.hpp"
#include "jobs/experiment_file.hpp"

namespace udv::jobs {
namespace experiment_test {

TEST(Pattern, StarsStandForAnyText) {
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("udu-*", "udu-0.1"));
  EXPECT_FALSE(matches_pattern("udu-*", "bm-0.1"));
  EXPECT_TRUE(matches_pattern("a*b*c", "a__b__c"));
  EXPECT_FALSE(matches_pattern("a*b*c", "a__c__b"));
  EXPECT_TRUE(matches_pattern("plain", "plain"));
}

class ExperimentChecks : public ::testing::Test {
 protected:
  void add_run(const std::string& name, const std::string& json) {
    std::filesystem::create_directories(folder_ / name);
    folder_.write(name + "/run.json", json);
    ExperimentRun run;
    run.name = run.label = name;
    experiment_.runs.push_back(run);
  }
  void add_check(const Measure& value, const std::string& relation, double number) {
    Check check;
    check.text = "c";
    check.value = value;
    check.relation = relation;
    check.number = number;
    experiment_.checks.push_back(check);
  }
  ExperimentOutcome outcome() { return evaluate(experiment_, folder_ / ""); }

  io::TemporaryFolder folder_;
  Experiment experiment_;
};

TEST_F(ExperimentChecks, TakeTheLargestTheSmallestAndTheMean) {
  add_run("a", R"({"rank":3})");
  add_run("b", R"({"rank":5})");
  for (const auto& [take, value] :
       std::map<std::string, double>{{"max", 5}, {"min", 3}, {"mean", 4}}) {
    Measure rank;
    rank.figure = "/rank";
    rank.take = take;
    add_check(rank, "equals", value);
  }
  EXPECT_EQ(outcome().status, ClaimStatus::kSeen);
}

TEST_F(ExperimentChecks, ASpectrumThatHasEndedIsZero) {
  add_run("a", R"({"spectrum":[2,1]})");
  Measure ratio;
  ratio.figure = "/spectrum/3";
  ratio.divide_by = "/spectrum/0";
  add_check(ratio, "equals", 0);
  EXPECT_EQ(outcome().status, ClaimStatus::kSeen);
}

TEST_F(ExperimentChecks, AFigureThatIsNotThereIsNotSeen) {
  add_run("a", R"({"rank":null})");
  Measure rank;
  rank.figure = "/rank";
  add_check(rank, "at-most", 5);
  rank.figure = "/nothing";
  add_check(rank, "at-most", 5);
  const ExperimentOutcome found = outcome();
  EXPECT_EQ(found.status, ClaimStatus::kNotSeen);
  EXPECT_FALSE(found.checks[0].ok);
  EXPECT_EQ(found.checks[1].ours, "nothing");
}

TEST_F(ExperimentChecks, CompareWithOtherRuns) {
  add_run("udu", R"({"error":0.1})");
  add_run("bm", R"({"error":0.3})");
  Check check;
  check.value.of = "udu";
  check.value.figure = "/error";
  check.relation = "at-most";
  check.other = check.value;
  check.other->of = "bm";
  check.times = 0.5;
  experiment_.checks = {check};
  EXPECT_EQ(outcome().status, ClaimStatus::kSeen);
  experiment_.checks[0].times = 0.2;
  EXPECT_EQ(outcome().status, ClaimStatus::kNotSeen);
}

TEST_F(ExperimentChecks, LookOnlyAtRunsOfComparableLoss) {
  add_run("udv", R"({"loss":1,"rank":2})");
  add_run("uv-1", R"({"loss":1.05,"rank":7})");
  add_run("uv-2", R"({"loss":9,"rank":1})");
  Measure rank;
  rank.of = "uv-*";
  rank.figure = "/rank";
  rank.take = "min";
  rank.only_figure = "/loss";
  rank.only_of = "udv";
  rank.only_times = 1.1;
  add_check(rank, "equals", 7);
  EXPECT_EQ(outcome().status, ClaimStatus::kSeen);
}

TEST_F(ExperimentChecks, ARunThatIsMissingMeansNotRun) {
  add_run("a", "{}");
  experiment_.runs.push_back(experiment_.runs.front());
  experiment_.runs.back().name = "gone";
  EXPECT_EQ(outcome().status, ClaimStatus::kNotRun);
  EXPECT_NE(outcome().note.find("1 of 2"), std::string::npos);
}

TEST(BuiltInExperiments, AreAllReadInBothSizes) {
  for (const bool quick : {false, true})
    for (const BuiltInExperiment& own : built_in_files()) {
      const Experiment experiment =
          parse_experiment(own.name, own.name, own.text, {"d", "r", quick});
      EXPECT_FALSE(experiment.claim.empty()) << own.name;
      EXPECT_FALSE(experiment.runs.empty()) << own.name;
      EXPECT_FALSE(experiment.checks.empty()) << own.name;
    }
}

TEST(ExperimentFile, NamesFileAndLineOfAnUnknownKind) {
  const std::string text =
      "title = \"T\"\nwhere = \"W\"\nclaim = \"C\"\n[[charts]]\nkind = \"pie\"\n";
  try {
    parse_experiment("e", "e.toml", text, {});
    FAIL();
  } catch (const IoError& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 8), "e.toml:5") << error.what();
    EXPECT_NE(std::string(error.what()).find("spectra"), std::string::npos) << error.what();
  }
}

}  // namespace experiment_test
}  // namespace udv::jobs
