// SPDX-License-Identifier: MIT
#include "cli/support.hpp"

namespace udv::cli {
namespace reproduce_test {

// Two small runs; the claim is that the rank is RANK.
std::string experiment(const std::string& rank, const std::string& more = "") {
  return "title = \"T\"\nwhere = \"W\"\nclaim = \"C\"\n" + more +
         R"(
[values]
seed = ["0", "1"]
[quick]
rows = 25
[full]
rows = 30

[[runs]]
over = ["seed"]
name = "run-{seed}"
command = "planted completion --rows {rows} --rank 2 --measurements 300 --seed {seed}"

[[checks]]
text = "rank"
figure = "rank"
equals = )" +
         rank + "\n[[charts]]\nkind = \"spectra\"\n";
}

class ReproduceCommand : public ::testing::Test {
 protected:
  Outcome reproduce(const std::string& flags) {
    return cli_.run("reproduce " + flags + " --out out --threads 2");
  }
  Cli cli_;
};

TEST_F(ReproduceCommand, SeesAClaimThatHolds) {
  cli_.write("e.toml", experiment("2"));
  const Outcome outcome = reproduce("e.toml --quick");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.out.find("1 seen, 0 not seen, 0 not run"), std::string::npos) << outcome;
  EXPECT_TRUE(cli_.exists("out/report.html"));
  EXPECT_EQ(cli_.run_json("out/e/run-1")["rows"], 25);
}

TEST_F(ReproduceCommand, ShowsAClaimThatDoesNotHoldWithItsNumbers) {
  cli_.write("e.toml", experiment("5"));
  const Outcome outcome = reproduce("e.toml");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.out.find("not seen  e"), std::string::npos) << outcome;
  EXPECT_NE(outcome.out.find("2 found, = 5 expected"), std::string::npos) << outcome;
}

TEST_F(ReproduceCommand, RunsNothingTwiceUnlessFresh) {
  cli_.write("e.toml", experiment("2"));
  EXPECT_EQ(reproduce("e.toml").code, 0);
  const auto first = std::filesystem::last_write_time(cli_.path("out/e/run-0/run.json"));
  EXPECT_EQ(reproduce("e.toml").code, 0);
  EXPECT_EQ(std::filesystem::last_write_time(cli_.path("out/e/run-0/run.json")), first);
  EXPECT_EQ(reproduce("e.toml --fresh").code, 0);
  EXPECT_NE(std::filesystem::last_write_time(cli_.path("out/e/run-0/run.json")), first);
}

TEST_F(ReproduceCommand, RunsAgainWhatHasOtherSettings) {
  cli_.write("e.toml", experiment("2"));
  EXPECT_EQ(reproduce("e.toml --quick").code, 0);
  EXPECT_EQ(reproduce("e.toml").code, 0);
  EXPECT_EQ(cli_.run_json("out/e/run-0")["rows"], 30);
}

TEST_F(ReproduceCommand, SaysWhatIsMissing) {
  cli_.write("e.toml", experiment("2", "needs = [\"nothing/here.csv\"]\n"));
  cli_.write("f.toml", experiment("2", "component = \"hovercraft\"\n"));
  const Outcome outcome = reproduce("e.toml f.toml --data .");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.out.find("needs nothing/here.csv"), std::string::npos) << outcome;
  EXPECT_NE(outcome.out.find("needs the component hovercraft"), std::string::npos) << outcome;
  EXPECT_NE(outcome.out.find("2 not run"), std::string::npos) << outcome;
}

TEST_F(ReproduceCommand, ARunThatFailsIsToldAndNotCounted) {
  std::string text = experiment("2");
  text.replace(text.find("--measurements 300"), 18, "--measurements 9999");
  cli_.write("e.toml", text);
  const Outcome outcome = reproduce("e.toml");
  EXPECT_EQ(outcome.code, 4) << outcome;
  EXPECT_NE(outcome.out.find("failed: run-"), std::string::npos) << outcome;
  EXPECT_NE(outcome.out.find("9999"), std::string::npos) << outcome;
}

TEST_F(ReproduceCommand, ListsEveryExperimentOfThePaper) {
  const Outcome outcome = cli_.run("reproduce --list");
  EXPECT_EQ(outcome.code, 0) << outcome;
  for (const char* name : {"fig1-stepsize",     "fig1-init",    "fig2-ptychography",
                           "fig-hpart-spectra", "fig-pruning",  "sm-noisy",
                           "sm-phase",          "sm-evolution", "sm-evolution-noisy",
                           "sm-fixed-points",   "sm-variants",  "sm-lr-sensitivity",
                           "sm-stairs",         "sm-relu",      "sm-ufv",
                           "sm-weight-decay",   "sm-lora",      "tab1",
                           "tab-adam",          "tab-nadam",    "tab-mbgd",
                           "tab-mbgdm",         "tab-cifar10",  "tab-cifar100"})
    EXPECT_NE(outcome.out.find(std::string(name) + " "), std::string::npos) << name;
}

TEST_F(ReproduceCommand, RefusesUnknownNamesAndDamagedFiles) {
  EXPECT_EQ(reproduce("fig99").code, 2);
  EXPECT_EQ(reproduce("").code, 2);
  struct Case {
    std::string text, words;
  };
  for (const Case& c :
       {Case{"title = ", "e.toml:1"}, Case{"title = 3\n", "title"},
        Case{experiment("2") + "kind = 2\n", "e.toml"}, Case{experiment("\"two\""), "equals"},
        Case{experiment("2") + "\n[[charts]]\nkind = \"pie\"\n", "pie"},
        Case{experiment("2") + "\n[[runs]]\nname = \"../up\"\ncommand = \"demo\"\n", "../up"},
        Case{experiment("2") + "\n[[runs]]\nname = \"{nobody}\"\ncommand = \"demo\"\n",
             "{nobody}"}}) {
    cli_.write("e.toml", c.text);
    const Outcome outcome = reproduce("e.toml");
    EXPECT_EQ(outcome.code, 3) << outcome;
    EXPECT_NE(outcome.err.find(c.words), std::string::npos) << outcome;
  }
}

TEST_F(ReproduceCommand, TakesFoldersWithBlanksInTheirNames) {
  cli_.write(
      "e.toml",
      "title = \"T\"\nwhere = \"W\"\nclaim = \"C\"\nneeds = [\"a.csv\"]\n[[runs]]\nname = \"a\"\n"
      "command = \"complete {data}/a.csv\"\n");
  std::filesystem::create_directories(cli_.path("my data"));
  cli_.write("my data/a.csv", triplets(small_planted().entries));
  const auto process =
      cli_.run_words({UDV_PROGRAM, "reproduce", "e.toml", "--data", "my data", "--out", "my runs"});
  const Outcome outcome = process->wait();
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.out.find("1 seen"), std::string::npos) << outcome;
}

TEST_F(ReproduceCommand, LeavesFoldersOfOthersAlone) {
  cli_.write("e.toml", experiment("2"));
  std::filesystem::create_directories(cli_.path("out/e/run-0"));
  cli_.write("out/e/run-0/mine.txt", "precious");
  for (const char* flags : {"e.toml", "e.toml --fresh"}) {
    const Outcome outcome = reproduce(flags);
    EXPECT_EQ(outcome.code, 3) << outcome;
    EXPECT_NE(outcome.err.find("run-0"), std::string::npos) << outcome;
  }
  EXPECT_EQ(cli_.text("out/e/run-0/mine.txt"), "precious");
}

TEST_F(ReproduceCommand, LeavesFilesOfOthersAlone) {
  cli_.write("e.toml", experiment("2"));
  std::filesystem::create_directory(cli_.path("out"));
  cli_.write("out/claims.md", "precious");
  const Outcome outcome = reproduce("e.toml");
  EXPECT_EQ(outcome.code, 2) << outcome;
  EXPECT_NE(outcome.err.find("claims.md"), std::string::npos) << outcome;
  EXPECT_EQ(cli_.text("out/claims.md"), "precious");
  EXPECT_FALSE(cli_.exists("out/e"));
  EXPECT_EQ(reproduce("e.toml --force").code, 0);
  EXPECT_EQ(reproduce("e.toml").code, 0) << "its own claims are replaced";
}

TEST_F(ReproduceCommand, SharesItsExperimentsOutToParts) {
  for (const char* name : {"e", "f", "g"}) cli_.write(std::string(name) + ".toml", experiment("2"));
  const std::string all = "e.toml f.toml g.toml --part ";
  const Outcome second = reproduce(all + "2/2");
  EXPECT_EQ(second.code, 0) << second;
  EXPECT_NE(second.out.find("1 seen, 0 not seen, 2 not run"), second.out.npos) << second;
  EXPECT_TRUE(cli_.exists("out/f"));
  EXPECT_FALSE(cli_.exists("out/e"));
  EXPECT_NE(cli_.text("out/claims.md").find("not finished by its part"), std::string::npos);
  const Outcome first = reproduce(all + "1/2");
  EXPECT_EQ(first.code, 0) << first;
  EXPECT_NE(first.out.find("3 seen, 0 not seen, 0 not run"), first.out.npos) << first;
  const std::string claims = cli_.text("out/claims.md");
  EXPECT_EQ(reproduce("e.toml f.toml g.toml").code, 0);
  EXPECT_EQ(cli_.text("out/claims.md"), claims) << "nothing was left to do";
  EXPECT_EQ(reproduce(all + "3/2").code, 2);
}

TEST_F(ReproduceCommand, GoesOnAfterCtrlC) {
  std::string text = experiment("2");
  text.replace(text.find("--rank 2"), 8,
               "--rank 2 --polish off --step 0.1 --scale unit --max-iterations 3000000");
  cli_.write("e.toml", text);
  const auto process = cli_.start("reproduce e.toml --out out --threads 2");
  ASSERT_TRUE(process->catches(SIGINT));
  while (!cli_.exists("out/e/run-1/log.txt"))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  process->send(SIGINT);
  const Outcome outcome = process->wait();
  EXPECT_EQ(outcome.code, 130) << outcome;
  EXPECT_TRUE(cli_.exists("out/e/run-0/checkpoint.bin") || cli_.exists("out/e/run-0/run.json"));
}

}  // namespace reproduce_test
}  // namespace udv::cli
