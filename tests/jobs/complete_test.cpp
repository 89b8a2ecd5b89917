// SPDX-License-Identifier: MIT
#include "udv/jobs/complete.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "io/temporary_files.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"
#include "udv/jobs/fold_in.hpp"
#include "udv/recover/problem.hpp"

namespace udv::jobs {
namespace complete_test {

/// (i + 1)(j + 2) at every place but those on a diagonal: rank 1.
CompleteData multiplication_table() {
  CompleteData data;
  data.entries = {4, 5, false, {}, {}, {}};
  for (std::int32_t i = 0; i < 4; ++i)
    for (std::int32_t j = 0; j < 5; ++j) {
      if (i == j) continue;
      data.entries.row.push_back(i);
      data.entries.col.push_back(j);
      data.entries.value.push_back((i + 1) * (j + 2));
    }
  data.row_keys = io::Keys({"a", "b", "c", "d"});
  data.col_keys = io::Keys({"v", "w", "x", "y, z", "u"});
  return data;
}

std::string text_of(const std::filesystem::path& path) {
  return io::read_bytes(path);
}

TEST(CompleteJob, UsesKeysThatAreGivenInMemory) {
  const io::TemporaryFolder folder;
  CompleteData data = multiplication_table();
  data.pairs = {{3, 3}, {0, 0}};
  Session session({.out = (folder / "run").string()});
  const CompleteResult result = complete(data, {}, session);
  EXPECT_EQ(result.recovery.rank, 1);
  EXPECT_NEAR(result.predictions[0].value, 20, 1e-8);
  EXPECT_EQ(text_of(folder / "run/rows.csv"), "index,key\n0,a\n1,b\n2,c\n3,d\n");
  const std::string predictions = text_of(folder / "run/predictions.csv");
  EXPECT_NE(predictions.find("\nd,\"y, z\","), std::string::npos) << predictions;
}

TEST(CompleteJob, FillsAFileWithoutAFolder) {
  const io::TemporaryFolder folder;
  CompleteOptions options;
  options.output.fill = (folder / "full.csv").string();
  Session session;
  complete(multiplication_table(), options, session);
  EXPECT_EQ(text_of(folder / "full.csv"),
            "row,v,w,x,\"y, z\",u\na,2,3,4,5,6\nb,4,6,8,10,12\nc,6,9,12,15,18\nd,8,12,16,20,24\n");
}

TEST(CompleteJob, RefusesAnotherNumberOfKeys) {
  CompleteData data = multiplication_table();
  data.row_keys = io::Keys({"a"});
  Session session;
  EXPECT_THROW(complete(data, {}, session), InvalidArgument);
}

TEST(CompleteJob, RefusesRowsWithoutRecommendations) {
  const io::TemporaryFolder folder;
  CompleteOptions options;
  options.output.rows = folder.write("rows.txt", "a\n").string();
  Session session;
  EXPECT_THROW(complete(multiplication_table(), options, session), OptionError);
}

TEST(CompleteJob, ReadsTheOnlyMatrixOfAnArchive) {
  const io::TemporaryFolder folder;
  const io::Array table{{3, 3}, {1, 2, 3, 2, 4, std::nan(""), 3, 6, 9}};
  const auto path = folder / "data.npz";
  io::write_npz(path, {{"note", {{1}, {7}}}, {"X", table}});
  Session session;
  const CompleteResult result = complete({path.string(), "", ""}, {}, session);
  EXPECT_NEAR(result.recovery.predict(1, 2), 6, 1e-9);
}

TEST(CompleteJob, AsksForTheNameOfOneOfSeveralMatrices) {
  const io::TemporaryFolder folder;
  const io::Array table{{3, 3}, {1, 2, 3, 2, 4, std::nan(""), 3, 6, 9}};
  const auto path = folder / "data.npz";
  io::write_npz(path, {{"X", table}, {"Y", table}});
  Session session;
  EXPECT_EQ(folder.error_of([&] {
    complete({path.string(), "", ""}, {}, session);
  }),
            "data.npz: X (3 x 3 float64), Y (3 x 3 float64) found, one matrix expected (the option "
            "value names it)");
  CompleteOptions options;
  options.input.value = "Y";
  EXPECT_EQ(complete({path.string(), "", ""}, options, session).recovery.rank, 1);
}

TEST(FoldInJob, ReturnsFactorsThatGoWithThoseOfTheRun) {
  const io::TemporaryFolder folder;
  Session completion({.out = (folder / "run").string()});
  CompleteOptions options;
  options.method.center = Centering::kNone;
  complete(multiplication_table(), options, completion);
  FoldInInput input;
  input.run = (folder / "run").string();
  input.file = folder.write("new.csv", "e,w,15\nf,u,60\n").string();
  Session session({.out = (folder / "new").string()});
  const FoldInResult result = fold_in(input, {}, session);
  EXPECT_EQ(result.row_keys, io::Keys({"e", "f"}));
  EXPECT_NEAR(result.rows.predict(result.columns, 0, 3), 25, 1e-9);
  EXPECT_NEAR(result.rows.predict(result.columns, 1, 0), 20, 1e-9);
  const io::Array U = io::read_npy(folder / "new/U.npy");
  const io::Array d = io::read_npy(folder / "run/d.npy");
  const io::Array V = io::read_npy(folder / "run/V.npy");
  EXPECT_NEAR(U.values[0] * d.values[0] * V.values[3], 25, 1e-9);
}

/// A low-rank matrix with noise.
CompleteData noisy_data() {
  CompleteData data;
  data.entries = planted_completion({40, 30, false, 2, 700, 1, 0.2, 1}).entries;
  return data;
}

TEST(CompleteJob, FoldsCompareTheAnswerWithBiasesAndTheMean) {
  const io::TemporaryFolder folder;
  CompleteOptions options;
  options.folds = 3;
  Session session({.out = (folder / "run").string()});
  const CompleteResult result = complete(noisy_data(), options, session);
  ASSERT_TRUE(result.folds);
  EXPECT_EQ(result.folds->folds.size(), 3u);
  EXPECT_LT(result.folds->answer().rmse, 0.5 * result.folds->biases().rmse);
  EXPECT_TRUE(result.folds->low_rank_pays());
  EXPECT_TRUE(std::filesystem::exists(folder / "run/held_out.csv"));
}

TEST(CompleteJob, RefusesMoreFoldsThanEntries) {
  CompleteOptions options;
  options.folds = 17;
  Session session;
  EXPECT_THROW(complete(multiplication_table(), options, session), OptionError);
}

/// Interrupts at a call.
struct Impatient : Listener {
  int calls = 0, last;
  explicit Impatient(int n) : last(n) {}
  bool interrupted() override { return ++calls >= last; }
};

TEST(CompleteJob, ResumesInsideItsFolds) {
  const io::TemporaryFolder folder;
  CompleteOptions options;
  options.folds = 3;
  Session plain;
  const CompleteResult whole = complete(noisy_data(), options, plain);
  RunOptions run{.out = (folder / "run").string()};
  int interruptions = 0;
  std::optional<CompleteResult> resumed;
  for (int attempt = 0; !resumed && attempt < 20; ++attempt) {
    Impatient listener(attempt < 10 ? 2 + 3 * attempt : 1'000'000);
    run.resume = attempt > 0;
    Session session(run, &listener);
    CompleteResult result = complete(noisy_data(), options, session);
    if (result.outcome == Outcome::kInterrupted)
      ++interruptions;
    else
      resumed = std::move(result);
  }
  ASSERT_TRUE(resumed);
  EXPECT_GE(interruptions, 2);
  for (size_t k = 0; k < 3; ++k)
    EXPECT_EQ(resumed->folds->folds[k].answer, whole.folds->folds[k].answer) << "fold " << k;
}

/// Numbers in the fields of a text table, its header left out.
std::vector<std::vector<double>> numbers_in(const std::filesystem::path& path) {
  std::vector<std::vector<double>> lines;
  std::istringstream text(text_of(path));
  std::string line, field;
  std::getline(text, line);
  while (std::getline(text, line)) {
    lines.emplace_back();
    std::istringstream fields(line);
    while (std::getline(fields, field, ',')) lines.back().push_back(std::stod(field));
  }
  return lines;
}

TEST(CompleteJob, KeepsTheFilledTableAndNewRowsInTheRange) {
  const io::TemporaryFolder folder;
  CompleteOptions options;
  options.method.range = {-0.5, 0.5};
  options.output.fill = (folder / "full.csv").string();
  options.output.keep_known = false;
  Session session({.out = (folder / "run").string()});
  complete(noisy_data(), options, session);
  FoldInInput input;
  input.run = (folder / "run").string();
  input.file = folder.write("new.csv", "0,0,3\n0,1,-2\n0,2,1\n").string();
  FoldInOptions fold;
  fold.output.fill = (folder / "new-full.csv").string();
  fold.output.keep_known = false;
  Session next({.out = (folder / "next").string()});
  fold_in(input, fold, next);
  for (const char* name : {"full.csv", "new-full.csv"}) {
    const auto lines = numbers_in(folder / name);
    ASSERT_FALSE(lines.empty());
    for (const auto& line : lines)
      for (size_t j = 1; j < line.size(); ++j) EXPECT_LE(std::abs(line[j]), 0.5);
  }
}

TEST(CompleteJob, RanksByTheLowerEndWhereAsked) {
  const io::TemporaryFolder folder;
  CompleteOptions options;
  options.output.recommend = 5;
  options.output.rank_by = RankBy::kLower;
  Session session({.out = (folder / "run").string()});
  complete(noisy_data(), options, session);
  const auto lines = numbers_in(folder / "run/recommendations.csv");
  ASSERT_EQ(lines.size(), 40u * 5);
  bool moved = false;
  for (size_t n = 1; n < lines.size(); ++n) {
    const auto &line = lines[n], &before = lines[n - 1];
    if (line[0] != before[0]) continue;
    EXPECT_GE(before[3] - 1.645 * before[5], line[3] - 1.645 * line[5] - 1e-4);
    moved = moved || line[3] > before[3];
  }
  EXPECT_TRUE(moved);
}

TEST(CompleteJob, PredictsForNewRowsWithDeviations) {
  const io::TemporaryFolder folder;
  Session session({.out = (folder / "run").string()});
  const CompleteResult learned = complete(noisy_data(), {}, session);
  FoldInInput input;
  input.run = (folder / "run").string();
  input.file = folder.write("new.csv", "0,0,3\n0,1,-2\n0,2,1\n0,3,1\n1,0,1\n").string();
  input.predict = folder.write("pairs.csv", "0,7\n1,7\n").string();
  Session next;
  const FoldInResult result = fold_in(input, {}, next);
  EXPECT_GT(result.predictions[0].deviation, learned.recovery.noise_sigma);
  EXPECT_LT(result.predictions[0].deviation, 10 * learned.recovery.noise_sigma);
  EXPECT_TRUE(std::isinf(result.predictions[1].deviation));
}

/// Lines row,column,value with keys.
std::string keyed_lines(const Entries& entries, size_t begin, size_t end) {
  std::string text = "user,item,rating\n";
  for (size_t t = begin; t < end; ++t)
    text += "u" + std::to_string(entries.row[t]) + ",i" + std::to_string(entries.col[t]) + "," +
            std::to_string(entries.value[t]) + "\n";
  return text;
}

CompleteResult complete_file(const std::filesystem::path& file, const std::filesystem::path& out,
                             const std::filesystem::path& from = {}) {
  CompleteInput input;
  input.file = file.string();
  input.from = from.string();
  Session session({.out = out.string()});
  return complete(input, {}, session);
}

TEST(MoreData, GoOnFromANoisyRunToTheAnswerForAll) {
  const io::TemporaryFolder folder;
  const Entries entries = planted_completion({60, 50, false, 2, 1800, 1, 0.3, 1}).entries;
  const auto some = folder.write("some.csv", keyed_lines(entries, 0, 1500));
  const auto more = folder.write("more.csv", keyed_lines(entries, 1500, 1800));
  const auto all = folder.write("all.csv", keyed_lines(entries, 0, 1800));
  const CompleteResult first = complete_file(some, folder / "first");
  const CompleteResult next = complete_file(more, folder / "next", folder / "first");
  const CompleteResult whole = complete_file(all, folder / "whole");
  EXPECT_EQ(next.recovery.measurements, 1800);
  EXPECT_EQ(next.recovery.rank, whole.recovery.rank);
  EXPECT_NEAR(next.recovery.noise_sigma, whole.recovery.noise_sigma, 1e-3);
  EXPECT_EQ(next.recovery.iterations, 0);  // no walk
  // The keys of the run keep their numbers.
  const std::string before = text_of(folder / "first/rows.csv");
  EXPECT_EQ(text_of(folder / "next/rows.csv").substr(0, before.size()), before);
}

TEST(MoreData, AppendNewRowsAndReplaceEarlierValues) {
  const io::TemporaryFolder folder;
  const auto some = folder.write(
      "some.csv", "row,x,y,z,u,v\na,1,2,3,1,2\nb,2,4,6,2,4\nc,3,6,,3,6\nd,4,8,12,4,8\n");
  const auto more = folder.write("more.csv", "row,column,value\nc,z,9\ne,x,5\ne,z,15\na,x,1\n");
  complete_file(some, folder / "first");
  const CompleteResult next = complete_file(more, folder / "next", folder / "first");
  EXPECT_EQ(next.recovery.rows, 5);
  EXPECT_EQ(next.recovery.measurements, 22);
  EXPECT_EQ(next.recovery.rank, 1);
  EXPECT_NEAR(next.recovery.predict(4, 1), 10, 1e-8);
  EXPECT_EQ(text_of(folder / "next/rows.csv"), "index,key\n0,a\n1,b\n2,c\n3,d\n4,e\n");
}

TEST(MoreData, NameAFileThatIsNotThereAnyMore) {
  const io::TemporaryFolder folder;
  const auto some = folder.write(
      "some.csv", "row,x,y,z,u,v\na,1,2,3,1,2\nb,2,4,6,2,4\nc,3,6,,3,6\nd,4,8,12,4,8\n");
  const auto more = folder.write("more.csv", "row,column,value\nc,z,9\n");
  complete_file(some, folder / "first");
  std::filesystem::remove(some);
  try {
    complete_file(more, folder / "next", folder / "first");
    FAIL();
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find(some.string()), std::string::npos) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "next"));
}

}  // namespace complete_test
}  // namespace udv::jobs
