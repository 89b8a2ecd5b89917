// SPDX-License-Identifier: MIT
// Trainings by several processes, as torchrun starts them: gloo on 127.0.0.1.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "cli/deep_data.hpp"
#include "support/free_port.hpp"

#ifdef UDV_WITH_DEEP
namespace udv::cli {
namespace processes_test {

using Variables = std::map<std::string, std::string>;

#ifdef UDV_WITH_C10D

/// The same program in several processes.
class Job {
 public:
  Job(const Cli& cli, int size, const std::string& arguments)
      : Job(size, std::vector(static_cast<size_t>(size), Call{&cli, arguments})) {}

  /// With arguments and a folder of its own for each; there may be less than the number they
  /// expect.
  struct Call {
    const Cli* cli;
    std::string arguments;
  };
  Job(int size, const std::vector<Call>& calls) {
    const int port = free_port();
    for (size_t rank = 0; rank < calls.size(); ++rank)
      start(*calls[rank].cli, calls[rank].arguments,
            {{"WORLD_SIZE", std::to_string(size)},
             {"RANK", std::to_string(rank)},
             {"LOCAL_RANK", std::to_string(rank)},
             {"MASTER_ADDR", "127.0.0.1"},
             {"MASTER_PORT", std::to_string(port)}});
  }

  Process& at(size_t rank) { return *processes_[rank]; }

  std::vector<Outcome> wait() {
    std::vector<Outcome> all;
    for (const auto& process : processes_) all.push_back(process->wait());
    return all;
  }

 private:
  void start(const Cli& cli, const std::string& arguments, const Variables& variables) {
    std::vector<std::string> command{"/usr/bin/env"};
    for (const auto& [name, value] : variables) command.push_back(name + "=" + value);
    command.push_back(UDV_PROGRAM);
    std::istringstream words(arguments);
    for (std::string word; words >> word;) command.push_back(word);
    logs_.push_back(std::make_unique<io::TemporaryFolder>());
    processes_.push_back(std::make_unique<Process>(command, cli.path(""), *logs_.back() / ""));
  }

  std::vector<std::unique_ptr<io::TemporaryFolder>> logs_;
  std::vector<std::unique_ptr<Process>> processes_;
};

std::string everything_of(const std::vector<Outcome>& outcomes) {
  std::ostringstream text;
  for (const Outcome& outcome : outcomes) text << outcome << "\n";
  return text.str();
}

// All processes end with the code, and together they say one line (and where usage is wrong, how to
// get help).
void expect_one_line(const std::vector<Outcome>& outcomes, int code, const std::string& words) {
  size_t lines = 0;
  std::string said;
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.code, code) << everything_of(outcomes);
    EXPECT_EQ(outcome.out, "");
    lines += lines_of(outcome.err).size();
    said += outcome.err;
  }
  EXPECT_EQ(lines, code == 2 ? 2u : 1u) << everything_of(outcomes);
  EXPECT_NE(said.find(words), std::string::npos) << everything_of(outcomes);
}

// Everything went well, and only the first process said something.
void expect_done(const std::vector<Outcome>& outcomes) {
  for (size_t rank = 0; rank < outcomes.size(); ++rank) {
    EXPECT_EQ(outcomes[rank].code, 0) << everything_of(outcomes);
    EXPECT_EQ(outcomes[rank].err, "") << rank;
    EXPECT_EQ(outcomes[rank].out.empty(), rank > 0) << everything_of(outcomes);
  }
}

// A column of a table with a header, from its second line on.
std::vector<double> column(const std::string& table, const std::string& name) {
  const std::vector<std::string> lines = lines_of(table);
  const auto fields = [](const std::string& line) {
    std::vector<std::string> all;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) all.push_back(field);
    return all;
  };
  const std::vector<std::string> names = fields(lines.at(0));
  const auto at = static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  std::vector<double> values;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string field = fields(lines[i]).at(at);
    if (!field.empty()) values.push_back(std::stod(field));
  }
  return values;
}

// Sums in another order: single precision, some dozen steps that carry a difference on.
constexpr double kRounding = 2e-4;

// Steps that do not make rounding errors large. Those of the default divide by small gradients.
constexpr const char* kGentleSteps = "--optimizer mbgd --lr 0.01 ";

void expect_same_losses(const Cli& cli, const std::string& run, const std::string& other,
                        const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto expected = column(cli.text(run + "/history.csv"), name),
               found = column(cli.text(other + "/history.csv"), name);
    ASSERT_EQ(found.size(), expected.size()) << other;
    ASSERT_FALSE(found.empty());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], kRounding * std::abs(expected[i])) << other << " " << name;
  }
}

class Processes : public ::testing::Test {
 protected:
  Processes() {
    write_pictures(cli_);
    std::filesystem::create_directories(cli_.path("m"));
    cli_.write("m/model.bin", model_bytes());
    cli_.write("m/tok.bin", tokenizer_bytes());
    cli_.write("train.txt", some_text(300, 1));
    cli_.write("eval.txt", some_text(80, 2));
  }

  // 18 pictures in batches of 8: the last one has less pictures than there are processes.
  const std::string finetune_ =
      "finetune --data pictures --image-size 16 --epochs 3 --batch 8 --threads 1 --test-share 0.25 "
      "--curves last --report off --process-timeout 30 ";
  const std::string lora_ =
      "lora --model m/model.bin --train train.txt --eval eval.txt --epochs 2 --sequence 16 "
      "--batch 6 --micro-batch 2 --modules q,v --threads 1 --report off --process-timeout 30 ";
  Cli cli_;
};

TEST_F(Processes, FinetuneHasTheLossesOfOneProcess) {
  const std::string run = finetune_ + kGentleSteps;
  ASSERT_EQ(cli_.run(run + "--out one --quiet").code, 0);
  for (const int size : {2, 4}) {
    const std::string out = "by" + std::to_string(size);
    expect_done(Job(cli_, size, run + "--out " + out).wait());
    expect_same_losses(cli_, "one", out, {"train_loss", "test_loss"});
    EXPECT_EQ(cli_.run_json(out)["config"]["processes"], size);
    EXPECT_EQ(cli_.text(out + "/spectra.csv").empty(), false);
    EXPECT_FALSE(cli_.exists(out + "/checkpoint.bin"));
  }
}

TEST_F(Processes, LoraHasTheLossesOfOneProcess) {
  const std::string run = lora_ + "--method lora-udv,adalora --rank 2 ";
  ASSERT_EQ(cli_.run(run + "--out one --quiet").code, 0);
  for (const int size : {2, 4}) {
    const std::string out = "by" + std::to_string(size);
    expect_done(Job(cli_, size, run + "--out " + out).wait());
    expect_same_losses(cli_, "one", out, {"train_loss", "eval_loss"});
    for (const char* name : {"pruning.csv", "ranks.csv"})
      EXPECT_TRUE(cli_.exists(out + "/" + name));
  }
}

TEST_F(Processes, GoOnAfterCtrlCInAnotherNumber) {
  const std::string longer = finetune_ + "--epochs 15 --curves none --quiet " + kGentleSteps;
  ASSERT_EQ(cli_.run(longer + "--out whole").code, 0);
  Job job(cli_, 2, longer + "--out part");
  ASSERT_TRUE(job.at(1).catches(SIGINT));
  ASSERT_TRUE(job.at(0).catches(SIGINT));
  job.at(1).send(SIGINT);  // one of them is enough
  const auto stopped = job.wait();
  EXPECT_EQ(stopped[0].code, 130) << everything_of(stopped);
  EXPECT_EQ(stopped[1].code, 130) << everything_of(stopped);
  EXPECT_NE(stopped[0].err.find("--resume"), std::string::npos);
  EXPECT_EQ(stopped[1].err, "");
  std::filesystem::copy(cli_.path("part"), cli_.path("part4"));
  ASSERT_EQ(cli_.run(longer + "--out part --resume").code, 0);
  expect_same_losses(cli_, "whole", "part", {"train_loss"});
  const auto by_four = Job(cli_, 4, longer + "--out part4 --resume").wait();
  for (const Outcome& outcome : by_four) EXPECT_EQ(outcome.code, 0) << everything_of(by_four);
  expect_same_losses(cli_, "whole", "part4", {"train_loss"});
}

TEST_F(Processes, OneThatDiesEndsTheOthersWithALine) {
  Job job(cli_, 2, finetune_ + "--epochs 100000 --quiet --out out");
  ASSERT_TRUE(job.at(0).catches(SIGINT));
  job.at(1).send(SIGKILL);
  const auto outcomes = job.wait();
  EXPECT_EQ(outcomes[1].code, 128 + SIGKILL);
  expect_one_line({outcomes[0]}, 3, "another process has ended or does not answer");
  EXPECT_FALSE(cli_.exists("out/run.json"));
}

TEST_F(Processes, DifferentSettingsAreNamedOnce) {
  expect_one_line(
      Job(2, {{&cli_, finetune_ + "--out out"}, {&cli_, finetune_ + "--out out --lr 0.5"}}).wait(),
      3, "rank 1: settings: 'lr 0.5' found");
  EXPECT_FALSE(cli_.exists("out"));
}

TEST_F(Processes, DifferentDataAreNamedOnce) {
  const Cli other;
  write_pictures(other, 2);
  std::filesystem::copy(cli_.path("m"), other.path("m"));
  other.write("train.txt", some_text(300, 7));
  other.write("eval.txt", some_text(80, 2));
  for (const auto& [run, words] : {std::pair(finetune_, "rank 1: pictures: "),
                                   std::pair(lora_, "rank 1: model and texts: ")}) {
    expect_one_line(Job(2, {{&cli_, run + "--out out"}, {&other, run + "--out out"}}).wait(), 3,
                    words);
    EXPECT_FALSE(cli_.exists("out/run.json"));
  }
}

TEST_F(Processes, BatchesAreNotSmallerThanTheirNumber) {
  expect_one_line(Job(cli_, 4, finetune_ + "--batch 3 --out out").wait(), 2,
                  "--batch: '3' found, at least 4 expected: one for each process");
  EXPECT_FALSE(cli_.exists("out"));
}

TEST_F(Processes, OneWithoutInputStopsAll) {
  expect_one_line(Job(cli_, 2, finetune_ + "--data nothing --out out").wait(), 3, "nothing");
  expect_one_line(Job(cli_, 2, finetune_ + "--device cuda --out out").wait(), 2, "CUDA device");
  EXPECT_FALSE(cli_.exists("out"));
}

TEST_F(Processes, OneThatDoesNotArriveIsNamed) {
  const auto outcomes = Job(2, {{&cli_, finetune_ + "--process-timeout 2 --out out"}}).wait();
  expect_one_line(outcomes, 3, "rank 1 has not arrived");
}

#else

TEST(Processes, AreRefusedByAProgramForOne) {
  const Cli cli;
  setenv("WORLD_SIZE", "2", 1);
  setenv("RANK", "0", 1);
  setenv("MASTER_ADDR", "127.0.0.1", 1);
  setenv("MASTER_PORT", std::to_string(free_port()).c_str(), 1);
  const Outcome outcome = cli.run("finetune --data x --out out");
  for (const char* name : {"WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT"}) unsetenv(name);
  expect_refused(cli, outcome, 3, {"WORLD_SIZE", "built without c10d"});
}

#endif

// Variables that make no sense, and what is said about them.
TEST(ProcessVariables, AreNamedWhereTheyMakeNoSense) {
  const Cli cli;
  const Variables good{{"WORLD_SIZE", "2"}, {"RANK", "0"}, {"MASTER_ADDR", "127.0.0.1"}};
  const auto with = [&](const std::string& name, const std::string& value) {
    Variables all = good;
    all[name] = value;
    return all;
  };
  const std::pair<Variables, std::string> wrong[] = {
      {{{"WORLD_SIZE", "2"}}, "RANK is not set, but WORLD_SIZE is"},
      {{{"WORLD_SIZE", "2"}, {"RANK", "1"}}, "MASTER_ADDR is not set"},
      {good, "MASTER_PORT is not set"},
      {with("MASTER_PORT", "many"), "MASTER_PORT: 'many' found"},
      {with("RANK", "2"), "RANK: '2' found, a whole number from 0 to 1 expected"},
      {with("WORLD_SIZE", "-1"), "WORLD_SIZE: '-1' found"}};
  for (const auto& [variables, words] : wrong) {
    std::vector<std::string> command{"/usr/bin/env"};
    for (const auto& [name, value] : variables) command.push_back(name + "=" + value);
    for (const char* word : {UDV_PROGRAM, "finetune", "--data", "x", "--out", "out"})
      command.emplace_back(word);
    expect_refused(cli, cli.run_words(command)->wait(), 3, {words});
  }
}

}  // namespace processes_test
}  // namespace udv::cli
#endif
