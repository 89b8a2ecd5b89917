// SPDX-License-Identifier: MIT
// `mpirun -n N udv complete`: the bits of one process, and what is said when something is wrong.
#include <gtest/gtest.h>

#include <array>
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
    // Two mpirun that start at the same moment may fail in making a folder that both want.
    std::vector<std::string> words{"/usr/bin/env",
                                   "OMPI_MCA_orte_tmpdir_base=" + cli.path(".").string()};
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

  /// Once the job computes; `out` is made when it starts.
  std::unique_ptr<Process> start_long(int ranks, const std::string& arguments,
                                      std::vector<std::string> variables = {}) const {
    variables.emplace_back("UDV_MPI_SMALLEST_WORK=0");
    auto job = start(ranks, 1, arguments, variables);
    const auto begun = std::filesystem::file_time_type::clock::now();
    const auto works = [&] {
      std::error_code none;
      const auto changed = std::filesystem::last_write_time(cli.path("out/live.json"), none);
      return !none && changed >= begun;
    };
    for (int look = 0; look < 3000 && !works(); ++look)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return job;
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

  // Of an interrupted run.
  Index iterations_done() const { return Json::parse(cli.text("out/live.json"))["iteration"]; }

  Cli cli;
};

// Seconds, by the gradient method; no machine is quick enough to end the endless one.
const std::string kGradient = "complete data.csv --polish off --report off --max-iterations ";
const std::string kLong = kGradient + "20000";
const std::string kEndless = kGradient + "100000000";

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

// More entries than one process can number: 2^31 - 1, here 4,000.
TEST_F(TeamTest, TogetherTheyHoldMoreEntriesThanOneOfThemCan) {
  cli.write("data.csv", triplets(150, 120, 2, 0.5, 0.2, 6));
  cli.write("exact.csv", triplets(150, 120, 2, 0.5, 0, 6));
  cli.write("pairs.csv", "0,0\n");
  const std::string options = " --quiet --report off --force --out ";
  ASSERT_EQ(run(0, 1, "complete data.csv --start bayes" + options + "alone", kFewAreMany).code, 0);
  std::vector<std::string> few = kFewAreMany;
  few.emplace_back("UDV_MOST_ENTRIES=4000");
  const Outcome outcome = run(3, 1, "complete data.csv --start bayes" + options + "out", few);
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.err.find("entries are more than one process can number"), outcome.err.npos)
      << outcome;
  auto together = numbers("out"), alone = numbers("alone");
  for (const char* const name : {"U.npy", "d.npy", "V.npy"})
    EXPECT_EQ(together[name], alone[name]) << name;
  const auto refused = [&](int ranks, const std::string& arguments, const std::string& said) {
    const Outcome failed = run(ranks, 1, "complete " + arguments + options + "other", few);
    EXPECT_EQ(failed.code, 3) << failed;
    EXPECT_NE(failed.err.find(said), failed.err.npos) << failed;
  };
  refused(0, "data.csv", "entries found, at most 4000 in one process expected");
  refused(2, "data.csv --start bayes", " of 2 processes, at most 4000 expected: more processes");
  refused(3, "exact.csv", "exact data, gross errors and gradient runs need all ");
  refused(3, "data.csv --start bayes --predict pairs.csv",
          "test, predict, fill and recommend need");
  refused(3, "data.csv --holdout 0.2", " entries in each process, at most 4000 expected");
}

// Exact data are held by every process, 48 bytes an entry while they come together.
TEST_F(TeamTest, MemoryForAllEntriesIsLookedAtBefore) {
  cli.write("exact.csv", triplets(90, 70, 2, 0.5, 0, 6));
  const auto with = [&](const std::string& bytes) {
    std::vector<std::string> variables = kFewAreMany;
    variables.push_back("UDV_AVAILABLE_MEMORY=" + bytes);
    return run(3, 1, "complete exact.csv --quiet --force --out out", variables);
  };
  const Outcome plenty = with("1e9");
  EXPECT_EQ(plenty.code, 0) << plenty;
  EXPECT_EQ(plenty.err, "");
  const Outcome half = with("600000");
  EXPECT_EQ(half.code, 0) << half;
  EXPECT_NE(half.err.find("udv: warning: exact data, gross errors and gradient runs need all "),
            half.err.npos)
      << half;
  const Outcome none = with("200000");
  EXPECT_EQ(none.code, 3) << none;
  EXPECT_NE(none.err.find(" for 3 processes on "), none.err.npos) << none;
  EXPECT_NE(none.err.find(", where 200 KB are available; fewer processes"), none.err.npos) << none;
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

// Posteriors once on each machine: on one, as if there were two or three, and where memory for that
// is refused.
TEST_F(TeamTest, WhereThePosteriorsAreDoesNotMatter) {
  cli.write("data.csv", triplets(90, 70, 2, 0.5, 0.2, 6));
  const std::string command = "complete data.csv --quiet --report off --start bayes --out ";
  ASSERT_EQ(run(0, 1, command + "alone", kFewAreMany).code, 0);
  for (const char* const variable :
       {"UDV_MPI_SHARE=1", "UDV_MPI_SHARE=0", "UDV_MPI_MACHINES=2", "UDV_MPI_MACHINES=3"}) {
    std::vector<std::string> variables = kFewAreMany;
    variables.emplace_back(variable);
    const Outcome outcome = run(3, 1, command + variable, variables);
    ASSERT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(numbers(variable), numbers("alone")) << variable;
  }
}

// That a part before the first one or after the last one is missing, nobody can tell.
TEST_F(TeamTest, PartsThatAreThereAreNamed) {
  const std::string text = triplets(90, 70, 2, 0.5, 0.2, 6);
  const size_t half = text.find('\n', text.size() / 2) + 1;
  cli.write("part-1.csv", text.substr(0, half));
  cli.write("part-2.csv", text.substr(half));
  const std::string notice = "part-*.csv: parts 1 to 2 are there";
  for (const int ranks : {0, 2}) {
    const Outcome outcome = run(ranks, 1, "complete part-*.csv --force --out out", kFewAreMany);
    ASSERT_EQ(outcome.code, 0) << outcome;
    EXPECT_NE((outcome.out + outcome.err).find(notice), outcome.err.npos) << outcome;
    EXPECT_EQ(cli.run_json()["notices"][0], notice);
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

// The process with this rank of the job that works in this folder; 0: not there.
pid_t rank_in(const std::filesystem::path& folder, int rank) {
  const std::string variable = fmt::format("OMPI_COMM_WORLD_RANK={}", rank) + '\0';
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    std::error_code gone;
    const auto place = std::filesystem::read_symlink(entry.path() / "cwd", gone);
    const bool here = !gone && std::filesystem::equivalent(place, folder, gone);
    const std::string variables = here ? file_text(entry.path() / "environ") : "";
    if (variables.find(variable) != variables.npos) return std::stoi(name);
  }
  return 0;
}

std::string long_data() {
  return triplets(300, 200, 8, 0.3, 0.5, 12);
}

// A signal that nobody can catch ends one rank; mpirun ends the others.
TEST_F(TeamTest, AKilledRankEndsTheJob) {
  cli.write("data.csv", long_data());
  const auto job = start_long(3, kEndless + " --out out");
  const pid_t victim = rank_in(cli.path("."), 1);
  ASSERT_GT(victim, 0);
  kill(victim, SIGKILL);
  const Outcome outcome = job->wait();
  EXPECT_EQ(outcome.code, 137) << outcome;
  EXPECT_NE(outcome.err.find("signal 9"), outcome.err.npos) << outcome;
}

// The first rank writes: what it has written is whole, and any number of ranks continue it.
TEST_F(TeamTest, AJobWhoseFirstRankWasKilledIsResumed) {
  cli.write("data.csv", long_data());
  const Outcome alone = run(0, 1, kLong + " --quiet --out alone");
  const Outcome limited = run(2, 1, kLong + " --out out --time-limit 0.1");
  ASSERT_EQ(limited.code, 4) << limited;
  const auto job = start_long(3, kEndless + " --out out --resume");
  const pid_t first = rank_in(cli.path("."), 0);
  ASSERT_GT(first, 0);
  kill(first, SIGKILL);
  const Outcome killed = job->wait();
  EXPECT_EQ(killed.code, 137) << killed;
  const Outcome outcome = run(3, 1, kLong + " --out out --resume", {"UDV_MPI_SMALLEST_WORK=0"});
  ASSERT_EQ(outcome.code, alone.code) << outcome;
  EXPECT_EQ(numbers("out"), numbers("alone"));
}

// SIGUSR1 goes through mpirun to all ranks, which take their time. Ctrl-C ends them by SIGTERM
// after odls_base_sigkill_timeout and by SIGKILL after twice this time; mpirun then returns 1.
TEST_F(TeamTest, AnInterruptedJobIsResumedByAnotherNumberOfRanks) {
  cli.write("data.csv", long_data());
  std::string resume;
  int ranks = 3;
  for (const auto& [signal, code] : {std::pair(SIGUSR1, 130), std::pair(SIGINT, 1)}) {
    const auto job = start_long(ranks, kEndless + " --out out" + resume,
                                {"OMPI_MCA_odls_base_sigkill_timeout=2"});
    job->send(signal);
    const Outcome outcome = job->wait();
    EXPECT_EQ(outcome.code, code) << outcome << "docs/scale.md tells another code";
    EXPECT_NE(outcome.err.find("udv: interrupted; resume with"), outcome.err.npos) << outcome;
    ASSERT_TRUE(cli.exists("out/checkpoint.bin")) << outcome;
    EXPECT_FALSE(cli.exists("out/run.json"));
    resume = " --resume";
    --ranks;
  }
  const std::string limited = kGradient + std::to_string(iterations_done() + 1000);
  const Outcome alone = run(0, 1, limited + " --quiet --out alone");
  const Outcome outcome = run(4, 1, limited + " --out out --resume", {"UDV_MPI_SMALLEST_WORK=0"});
  ASSERT_EQ(outcome.code, alone.code) << outcome;
  EXPECT_EQ(numbers("out"), numbers("alone"));
}

// A rank that does nothing any more, as where its machine hangs.
TEST_F(TeamTest, ARankThatStopsIsGivenUp) {
  for (const int stopped : {0, 1}) {
    cli.write("data.csv", long_data());
    const auto job = start_long(3, kEndless + " --quiet --force --out out", {"UDV_MPI_TIMEOUT=2"});
    const pid_t victim = rank_in(cli.path("."), stopped);
    ASSERT_GT(victim, 0);
    kill(victim, SIGSTOP);
    const Outcome outcome = job->wait();
    EXPECT_EQ(outcome.code, 3) << outcome;
    const std::string line = fmt::format("udv: rank {} on ", stopped == 0 ? 1 : 0);
    EXPECT_NE(outcome.err.find(line), outcome.err.npos) << outcome;
    const size_t said = outcome.err.find(" has waited 2 s for the others, and ends the job");
    EXPECT_NE(said, outcome.err.npos) << outcome;
    EXPECT_EQ(outcome.err.find(" has waited", said + 1), outcome.err.npos) << outcome;
  }
}

// `first` and `second` as ranks 0 and 1 of one job.
Outcome run_two(const Cli& cli, const std::vector<std::string>& first,
                const std::vector<std::string>& second,
                const std::vector<std::string>& variables = {}) {
  std::vector<std::string> command{"/usr/bin/env"};
  command.insert(command.end(), variables.begin(), variables.end());
  command.insert(command.end(), {kMpirun, "--allow-run-as-root", "--oversubscribe", "-n", "1"});
  command.insert(command.end(), first.begin(), first.end());
  command.insert(command.end(), {":", "-n", "1"});
  command.insert(command.end(), second.begin(), second.end());
  return cli.run_words(command)->wait();
}

TEST_F(TeamTest, MemoryThatIsRefusedToOneRankIsSharedByNone) {
  cli.write("data.csv", triplets(90, 70, 2, 0.5, 0.2, 6));
  const std::string command = "complete data.csv --quiet --report off --start bayes --out ";
  ASSERT_EQ(run(0, 1, command + "alone", kFewAreMany).code, 0);
  const std::vector<std::string> common{UDV_PROGRAM, "complete", "data.csv", "--quiet",
                                        "--report",  "off",      "--start",  "bayes",
                                        "--threads", "1",        "--out",    "one"};
  std::vector<std::string> refused{"/usr/bin/env", "UDV_MPI_SHARE=0"};
  refused.insert(refused.end(), common.begin(), common.end());
  const Outcome outcome = run_two(cli, common, refused, kFewAreMany);
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(numbers("one"), numbers("alone"));
}

TEST_F(TeamTest, ARankThatNeverJoinsIsGivenUp) {
  const Outcome outcome = run_two(cli, {UDV_PROGRAM, "complete", "data.csv"}, {"/bin/sleep", "50"},
                                  {"UDV_MPI_TIMEOUT=1"});
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_NE(outcome.err.find("has waited 1 s for all processes to join"), outcome.err.npos)
      << outcome;
}

TEST_F(TeamTest, RanksWithDifferentOptionsAreRefusedInOneLine) {
  cli.write("data.csv", triplets(30, 20, 1, 0.5, 0, 7));
  cli.write("a.toml", "max-rank = 3\n");
  cli.write("b.toml", "max-rank = 6\n");
  const std::vector<std::string> common{UDV_PROGRAM, "complete", "data.csv", "--out", "out"};
  const auto with = [&](const std::string& flag, const std::string& value) {
    std::vector<std::string> words = common;
    words.insert(words.end(), {flag, value});
    return words;
  };
  for (const auto& [flag, a, b, said] :
       {std::array{"--config", "a.toml", "b.toml", "--max-rank 3, rank 1 with --max-rank 6"},
        std::array{"--seed", "1", "2", "--seed 1, rank 1 with --seed 2"},
        std::array{"--fill", "a.csv", "", "--fill a.csv, rank 1 without"}}) {
    const Outcome outcome = run_two(cli, with(flag, a), *b ? with(flag, b) : common);
    EXPECT_EQ(outcome.code, 3) << outcome;
    EXPECT_NE(outcome.err.find(std::string("udv: rank 0 was started with ") + said),
              outcome.err.npos)
        << outcome;
    EXPECT_EQ(outcome.err.find("MPI_ERR"), outcome.err.npos) << outcome;
    EXPECT_FALSE(cli.exists("out"));
  }
  const Outcome outcome = run_two(cli, with("--threads", "1"), with("--threads", "2"));
  EXPECT_EQ(outcome.code, 0) << outcome;
}

// OpenBLAS and glibc choose loops for the processor: others have other last bits.
TEST_F(TeamTest, LibrariesWithOtherLoopsAreRefused) {
  cli.write("data.csv", triplets(30, 20, 1, 0.5, 0, 7));
  const std::vector<std::string> common{UDV_PROGRAM, "complete", "data.csv", "--out", "out"};
  for (const std::string variable :
       {"OPENBLAS_CORETYPE=Prescott", "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable"}) {
    std::vector<std::string> other{"/usr/bin/env", variable};
    other.insert(other.end(), common.begin(), common.end());
    const Outcome outcome = run_two(cli, common, other);
    EXPECT_EQ(outcome.code, 3) << outcome;
    EXPECT_NE(outcome.err.find("the same program and libraries on processors of one kind expected"),
              outcome.err.npos)
        << outcome;
    EXPECT_FALSE(cli.exists("out"));
  }
}

TEST_F(TeamTest, AModuleThatIsMissingOnOneMachineIsNamed) {
  cli.write("data.csv", triplets(30, 20, 1, 0.5, 0, 7));
  std::filesystem::create_directory(cli.path("bin"));
  std::filesystem::copy_file(UDV_PROGRAM, cli.path("bin/udv"));
  const Outcome outcome =
      run_two(cli, {UDV_PROGRAM, "complete", "data.csv", "--out", "out"},
              {cli.path("bin/udv").string(), "complete", "data.csv", "--out", "out"});
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_NE(outcome.err.find("udv: rank 1 on "), outcome.err.npos) << outcome;
  EXPECT_NE(outcome.err.find("the MPI component cannot be loaded"), outcome.err.npos) << outcome;
}

TEST_F(TeamTest, ATimeoutThatIsNoNumberIsRefused) {
  cli.write("data.csv", triplets(30, 20, 1, 0.5, 0, 7));
  for (const std::string value : {"abc", "0", "-3", "1s", "nan", ""}) {
    const Outcome outcome = run(2, 1, "complete data.csv --out out", {"UDV_MPI_TIMEOUT=" + value});
    EXPECT_EQ(outcome.code, 3) << outcome;
    EXPECT_NE(outcome.err.find("UDV_MPI_TIMEOUT: '" + value + "' found"), outcome.err.npos)
        << outcome;
  }
}

// They would write into one folder.
TEST_F(TeamTest, CommandsForOneProcessAreRefused) {
  for (const std::string command :
       {"planted completion --rows 20 --rank 1 --measurements 300 --out out",
        "train data.csv --target y --out out", "finetune --data x --out out",
        "sweep rates.toml --out out"}) {
    const Outcome outcome = run(2, 1, command);
    EXPECT_EQ(outcome.code, 2) << outcome;
    EXPECT_NE(outcome.err.find(" runs in one process, 2 found"), outcome.err.npos) << outcome;
    EXPECT_FALSE(cli.exists("out")) << command;
  }
  EXPECT_EQ(run(2, 1, "sense --help").code, 0);
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

// The entries are spread over the ranks, and a limit of time leaves a checkpoint within a search.
TEST_F(TeamTest, ASearchByBayesResumesOnAnotherNumberOfRanks) {
  cli.write("data.csv", triplets(900, 600, 3, 0.4, 0.3, 13, 5));
  const std::string command = "complete data.csv --quiet --report off --start bayes --out ";
  ASSERT_EQ(run(0, 1, command + "alone", kFewAreMany).code, 0);
  const auto sweeps = [&] {
    const std::string words = "Bayes sweeps", text = cli.run("inspect out/checkpoint.bin").out;
    const size_t place = text.find(words);
    return place == text.npos ? 0 : std::stoi(text.substr(place + words.size()));
  };
  int before = 0;
  for (const int ranks : {2, 3, 1}) {
    const std::string more = before > 0 ? " --resume" : "";
    const Outcome cut = run(ranks, 1, command + "out --time-limit 0.001" + more, kFewAreMany);
    ASSERT_EQ(cut.code, 4) << cut;
    EXPECT_GT(sweeps(), before) << ranks << " ranks";
    before = sweeps();
  }
  for (const int ranks : {3, 0}) {
    const std::string out = fmt::format("out{}", ranks);
    std::filesystem::copy(cli.path("out"), cli.path(out));
    const Outcome last = run(ranks, 1, command + out + " --resume", kFewAreMany);
    ASSERT_EQ(last.code, 0) << last;
    EXPECT_EQ(numbers(out), numbers("alone")) << ranks << " ranks";
  }
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
