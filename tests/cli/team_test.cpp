// SPDX-License-Identifier: MIT
// `mpirun -n N udv complete`: the bits of one process, and what is said when something is wrong.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cli/support.hpp"
#include "udv/core/random.hpp"

namespace udv::cli {
namespace team_test {

const char* const kMpirun = "/usr/bin/mpirun";

class TeamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto module = std::filesystem::path(UDV_PROGRAM).parent_path() / "libudv_mpi.so";
    if (!std::filesystem::exists(kMpirun) || !std::filesystem::exists(module))
      GTEST_SKIP() << "MPI is not installed: scripts/install-packages mpi";
  }

  /// `arguments` with so many ranks of so many threads; 0: without mpirun.
  Outcome run(int ranks, int threads, const std::string& arguments,
              const std::vector<std::string>& variables = {}) const {
    return start(ranks, threads, arguments, variables)->wait();
  }

  std::unique_ptr<Process> start(int ranks, int threads, const std::string& arguments,
                                 const std::vector<std::string>& variables = {}) const {
    std::vector<std::string> words{"/usr/bin/env"};
    words.insert(words.end(), variables.begin(), variables.end());
    if (ranks > 0)
      for (const char* const word : {kMpirun, "--allow-run-as-root", "--oversubscribe", "-n"})
        words.emplace_back(word);
    if (ranks > 0) words.push_back(std::to_string(ranks));
    words.emplace_back(UDV_PROGRAM);
    std::istringstream given(arguments + " --threads " + std::to_string(threads));
    for (std::string word; given >> word;) words.push_back(word);
    return cli.run_words(words);
  }

  // Factors and figures; times and the number of threads differ.
  std::map<std::string, std::string> numbers(const std::string& out) const {
    std::map<std::string, std::string> kept;
    for (const auto& [name, bytes] : cli.files(out)) {
      if (name.ends_with(".npy") || name.ends_with(".csv") || name == "center.npz")
        kept[name] = bytes;
      if (name == "history.csv") kept.erase(name);
    }
    Json json = cli.run_json(out);
    for (const char* const name : {"seconds", "config", "iterations_per_second"}) json.erase(name);
    kept["run.json"] = json.dump();
    return kept;
  }

  Cli cli;
};

std::string triplets(Index rows, Index cols, Index rank, double share, double noise,
                     std::uint64_t seed, double offset = 0) {
  Random random(seed, 1);
  RowMatrix<double> U(rows, rank), V(cols, rank);
  random.fill_normal(U);
  random.fill_normal(V);
  std::string text = "row,column,value\n";
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      if (random.uniform() < share)
        text += fmt::format("{},{},{:.17g}\n", i, j,
                            offset + U.row(i).dot(V.row(j)) + noise * random.normal());
  return text;
}

struct Problem10 {
  const char* name;
  std::string text;
  std::string options;
};

std::vector<Problem10> ten_problems() {
  const std::string exact = triplets(60, 40, 2, 0.5, 0, 1);
  const std::string noisy = triplets(80, 60, 2, 0.5, 0.2, 2);
  std::string keyed = "user,item,rating\n", wrong = triplets(60, 50, 2, 0.6, 0, 5);
  for (int t = 0; t < 900; ++t)
    keyed += fmt::format("u{},i{},{}\n", t * 7 % 45, t * 11 % 37 + t / 450, (t * 13) % 5 + 1);
  std::istringstream lines(wrong);
  wrong.clear();
  int number = 0;
  for (std::string line; std::getline(lines, line); ++number)
    wrong += number % 40 == 20 ? line.substr(0, line.rfind(',')) + ",50\n" : line + "\n";
  std::string square = "row,column,value\n";
  Random random(9, 1);
  RowMatrix<double> U(30, 2);
  random.fill_normal(U);
  for (Index i = 0; i < 30; ++i)
    for (Index j = i; j < 30; ++j)
      if (random.uniform() < 0.6)
        square += fmt::format("{},{},{:.17g}\n", i, j, U.row(i).dot(U.row(j)));
  return {{"exact", exact, ""},
          {"noisy", noisy, ""},
          {"offsets", triplets(50, 40, 1, 0.5, 0.1, 3, 100), ""},
          {"keys", keyed, ""},
          {"errors", wrong, ""},
          {"psd", square, "--symmetric"},
          {"paper", exact, "--polish off --step 0.01 --alpha 1 --scale unit --max-iterations 300"},
          {"holdout", noisy, "--holdout 0.2"},
          {"bayes", noisy, "--start bayes"},
          {"folds", triplets(40, 30, 1, 0.5, 0.1, 4), "--folds 3"}};
}

// All ranks and threads for each problem take minutes: each has two of them, unless all are wanted.
std::vector<std::pair<int, int>> ranks_and_threads(size_t problem) {
  std::vector<std::pair<int, int>> all;
  for (const int threads : {1, 2})
    for (const int ranks : {1, 2, 3, 4, 8}) all.emplace_back(ranks, threads);
  if (std::getenv("UDV_TEST_ALL_RANKS")) return all;
  return {all[problem % all.size()], all[(problem + 3) % all.size()]};
}

class TeamBits : public TeamTest, public ::testing::WithParamInterface<int> {};

TEST_P(TeamBits, AreThoseOfOneProcess) {
  const auto problem = static_cast<size_t>(GetParam());
  const Problem10 given = ten_problems()[problem];
  cli.write("data.csv", given.text);
  const std::string command = "complete data.csv --quiet --report off " + given.options;
  const Outcome alone = run(0, 1, command + " --out alone");
  ASSERT_TRUE(alone.code == 0 || alone.code == 4) << given.name << alone;
  for (const auto& [ranks, threads] : ranks_and_threads(problem)) {
    const std::string out = fmt::format("ranks{}x{}", ranks, threads);
    const Outcome outcome =
        run(ranks, threads, command + " --out " + out, {"UDV_MPI_SMALLEST_WORK=0"});
    ASSERT_EQ(outcome.code, alone.code) << given.name << " " << out << outcome;
    EXPECT_EQ(numbers(out), numbers("alone")) << given.name << " " << out;
  }
}

INSTANTIATE_TEST_SUITE_P(Ten, TeamBits, ::testing::Range(0, 10));

const std::vector<std::string> kFewAreMany{"UDV_MANY_ENTRIES=1280", "UDV_MPI_SMALLEST_FILE=1"};

TEST_F(TeamTest, EntriesAreSpreadWhileTheyAreRead) {
  cli.write("data.csv", triplets(90, 70, 2, 0.5, 0.2, 6));
  const std::string command = "complete data.csv --quiet --report off --start bayes --out ";
  const Outcome alone = run(0, 1, command + "alone", kFewAreMany);
  ASSERT_EQ(alone.code, 0) << alone;
  for (const int ranks : {2, 3}) {
    const std::string out = fmt::format("ranks{}", ranks);
    const Outcome outcome = run(ranks, 1, command + out, kFewAreMany);
    ASSERT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(numbers(out), numbers("alone")) << ranks;
  }
}

// Through memory of the machine in one piece, in pieces of 4 KiB, and by messages.
TEST_F(TeamTest, TheWayOfTheBytesDoesNotMatter) {
  cli.write("data.csv", triplets(90, 70, 2, 0.5, 0.2, 6));
  const std::string command = "complete data.csv --quiet --report off --start bayes --out ";
  ASSERT_EQ(run(0, 1, command + "alone", kFewAreMany).code, 0);
  for (const char* const stage : {"2097152", "8192", "0"}) {
    std::vector<std::string> variables = kFewAreMany;
    variables.push_back(std::string("UDV_MPI_STAGE=") + stage);
    variables.push_back("UDV_MPI_SMALLEST_WORK=0");
    const std::string out = std::string("stage") + stage;
    const Outcome outcome = run(3, 1, command + out, variables);
    ASSERT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(numbers(out), numbers("alone")) << stage;
  }
}

TEST_F(TeamTest, NumberedPartsAreOneFile) {
  const std::string text = triplets(90, 70, 2, 0.5, 0.2, 6);
  const std::string header = text.substr(0, text.find('\n') + 1);
  const size_t third = text.find('\n', text.size() / 3) + 1;
  cli.write("data.csv", text);
  cli.write("part-0.csv", text.substr(0, third));
  cli.write("part-1.csv", header + text.substr(third));
  const std::string options = " --quiet --report off --start bayes --out ";
  ASSERT_EQ(run(0, 1, "complete data.csv" + options + "alone", kFewAreMany).code, 0);
  const Outcome outcome = run(3, 1, "complete part-*.csv" + options + "out", kFewAreMany);
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(cli.text("out/U.npy"), cli.text("alone/U.npy"));
}

// The process with rank 1 of the job that works in this folder; 0: not there.
pid_t rank_one_in(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    std::error_code gone;
    const auto place = std::filesystem::read_symlink(entry.path() / "cwd", gone);
    const bool here = !gone && std::filesystem::equivalent(place, folder, gone);
    const std::string variables = here ? file_text(entry.path() / "environ") : "";
    if (variables.find("OMPI_COMM_WORLD_RANK=1") != variables.npos) return std::stoi(name);
  }
  return 0;
}

// A signal that nobody can catch ends one rank; mpirun ends the others.
TEST_F(TeamTest, AKilledRankEndsTheJob) {
  cli.write("data.csv", triplets(300, 200, 8, 0.3, 0, 12));
  const auto job = start(3, 1, "complete data.csv --polish off --max-iterations 1000000 --out out",
                         {"UDV_MPI_SMALLEST_WORK=0"});
  pid_t victim = 0;
  for (int look = 0; look < 3000 && victim == 0; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (cli.exists("out")) victim = rank_one_in(cli.path("."));
  }
  ASSERT_GT(victim, 0);
  kill(victim, SIGKILL);
  const Outcome outcome = job->wait();
  EXPECT_EQ(outcome.code, 137) << outcome;
  EXPECT_NE(outcome.err.find("signal 9"), outcome.err.npos) << outcome;
}

TEST_F(TeamTest, PartsOfAFileWithRepeatsAreReadAsAWhole) {
  const std::string text = triplets(90, 70, 2, 0.5, 0.2, 6);
  const size_t begin = text.find('\n') + 1;
  cli.write("data.csv", text + text.substr(begin, text.find('\n', begin) + 1 - begin));
  const Outcome outcome = run(2, 1, "complete data.csv --quiet --out out", kFewAreMany);
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.err.find("repeated line"), outcome.err.npos) << outcome;
}

TEST_F(TeamTest, FewerRowsThanRanksAreRefusedInOneLine) {
  cli.write("data.csv", "0,0,1\n0,1,2\n1,0,2\n1,1,4\n2,1,3\n");
  const Outcome outcome = run(3, 1, "complete data.csv --out out");
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_NE(outcome.err.find("udv: data.csv: the matrix is 3 x 2, at least as many rows and "
                             "columns as the 3 processes expected\n"),
            outcome.err.npos)
      << outcome;
  EXPECT_FALSE(cli.exists("out"));
}

TEST_F(TeamTest, AnErrorOfAllRanksIsSaidOnce) {
  const Outcome outcome = run(3, 1, "complete nothing.csv --out out");
  EXPECT_EQ(outcome.code, 3) << outcome;
  const size_t first = outcome.err.find("udv: nothing.csv");
  ASSERT_NE(first, outcome.err.npos) << outcome;
  EXPECT_EQ(outcome.err.find("udv: nothing.csv", first + 1), outcome.err.npos) << outcome;
}

// udv complete data.csv by two ranks, of which rank 1 works in the folder `other`.
Outcome complete_in_two_folders(const Cli& cli, const std::vector<std::string>& variables = {}) {
  const std::string common = std::string(UDV_PROGRAM) + " complete data.csv --out out";
  std::istringstream words(std::string(kMpirun) + " --allow-run-as-root --oversubscribe -n 1 " +
                           common + " : -n 1 --wdir " + cli.path("other").string() + " " + common);
  std::vector<std::string> command{"/usr/bin/env"};
  command.insert(command.end(), variables.begin(), variables.end());
  for (std::string word; words >> word;) command.push_back(word);
  return cli.run_words(command)->wait();
}

// Rank 1 works in another folder, where data.csv is another file.
TEST_F(TeamTest, DifferentFilesAreNoticed) {
  cli.write("data.csv", triplets(30, 20, 1, 0.5, 0, 7));
  std::filesystem::create_directory(cli.path("other"));
  cli.write("other/data.csv", triplets(30, 20, 1, 0.5, 0, 8));
  const Outcome outcome = complete_in_two_folders(cli);
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_NE(outcome.err.find("rank 0 sees"), outcome.err.npos) << outcome;
  EXPECT_FALSE(cli.exists("out"));
}

TEST_F(TeamTest, DifferentFilesOfOneSizeAreNoticedWhereEachRankReadsItsPart) {
  std::string text = triplets(30, 20, 1, 0.5, 0, 7);
  cli.write("data.csv", text);
  char& digit = text[text.find_last_of("0123456789")];
  digit = digit == '1' ? '2' : '1';
  std::filesystem::create_directory(cli.path("other"));
  cli.write("other/data.csv", text);
  const Outcome outcome = complete_in_two_folders(cli, kFewAreMany);
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_NE(outcome.err.find("rank 0 sees a checksum of"), outcome.err.npos) << outcome;
  EXPECT_FALSE(cli.exists("out"));
}

TEST_F(TeamTest, AnErrorOfOneRankEndsAll) {
  cli.write("data.csv", triplets(30, 20, 1, 0.5, 0, 7));
  std::filesystem::create_directory(cli.path("other"));
  const Outcome outcome = complete_in_two_folders(cli);
  EXPECT_NE(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.err.find("data.csv"), outcome.err.npos) << outcome;
}

TEST_F(TeamTest, CheckpointsResumeOnAnotherNumberOfRanks) {
  cli.write("data.csv", triplets(120, 100, 4, 0.4, 0, 11));
  const std::string command = "complete data.csv --quiet --report off --out ";
  ASSERT_EQ(run(0, 1, command + "alone").code, 0);
  // A limit of time leaves a checkpoint.
  const Outcome first = run(2, 1, command + "out --time-limit 0.001", {"UDV_MPI_SMALLEST_WORK=0"});
  ASSERT_EQ(first.code, 4) << first;
  const Outcome second = run(3, 1, command + "out --resume", {"UDV_MPI_SMALLEST_WORK=0"});
  ASSERT_EQ(second.code, 0) << second;
  auto resumed = numbers("out"), alone = numbers("alone");
  EXPECT_EQ(resumed["U.npy"], alone["U.npy"]);
  EXPECT_EQ(resumed["V.npy"], alone["V.npy"]);
}

TEST_F(TeamTest, WithoutTheComponentTheProgramSaysSo) {
  cli.write("data.csv", triplets(30, 20, 1, 0.5, 0, 7));
  std::filesystem::create_directory(cli.path("bin"));
  std::filesystem::copy_file(UDV_PROGRAM, cli.path("bin/udv"));
  const Outcome outcome = cli.run_words({"/usr/bin/env", "OMPI_COMM_WORLD_SIZE=2",
                                         cli.path("bin/udv").string(), "complete", "data.csv"})
                              ->wait();
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_NE(outcome.err.find("the MPI component cannot be loaded"), outcome.err.npos) << outcome;
}

}  // namespace team_test
}  // namespace udv::cli
