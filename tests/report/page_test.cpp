// SPDX-License-Identifier: MIT
#include "report/page.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/temporary_files.hpp"
#include "report/run_view.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"
#include "udv/report/report.hpp"

namespace udv::report {
namespace page_test {

constexpr const char* kHostile = "</script><script>alert(1)</script>";

Json hostile_document() {
  Json section = {{"id", "x"}, {"title", kHostile}, {"blocks", Json::array()}};
  section["blocks"].push_back(facts_block(kHostile, {{kHostile, kHostile}}));
  section["blocks"].push_back(table_block(kHostile, {kHostile}, {Json::array({kHostile})}));
  return document_of(kHostile, {kHostile}, {section});
}

TEST(Page, TextOfFilesIsNeverMarkup) {
  for (const std::string& page : {page_of(hostile_document()), plain_page(hostile_document())})
    EXPECT_EQ(page.find("<script>alert"), page.npos);
}

TEST(Page, PlainPageHasTheTablesAndSaysWhy) {
  const std::string page = plain_page(document_of(
      "T", {"one & two"},
      {{{"title", "S"}, {"blocks", Json::array({facts_block("F", {{"rank", "3"}})})}}}));
  EXPECT_NE(page.find("one &amp; two"), page.npos);
  EXPECT_NE(page.find("<td>rank</td>"), page.npos);
  EXPECT_NE(page.find("without Node.js"), page.npos);
}

TEST(Page, LoadsNothingFromElsewhere) {
  const std::string page = page_of(hostile_document());
  for (const char* outside : {"src=\"http", "href=\"http", "@import", "url(http"})
    EXPECT_EQ(page.find(outside), page.npos) << outside;
}

TEST(Report, NamesTheFileThatIsDamaged) {
  io::TemporaryFolder folder;
  folder.write("run.json", "{\"rank\": ");
  try {
    write_report(folder / "r.html", "T", {folder / ""});
    FAIL() << "no error";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("run.json"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "r.html"));
}

TEST(Report, ValuesOfOtherKindsAreShownOrRefusedNeverACrash) {
  for (const char* text :
       {R"({"spectrum":"x","warnings":5,"config":[]})", R"({"certificate":3})",
        R"({"cells":{"a":3}})", R"({"cells":{"adam":{"UDV":{"0.1":4}}}})", R"({"cells":[1]})",
        R"({"warnings":{"a":1}})",
        R"({"spectrum":[null,"x",{}],"rank":"three","seconds":[],"certificate":{"verdict":7}})",
        R"({"metric":1,"test_loss":{},"config":{"a":{"b":[1]}}})"}) {
    io::TemporaryFolder folder;
    folder.write("run.json", text);
    folder.write("live.json", R"({"progress":7,"history":[1],"column_sizes":["x"]})");
    try {
      write_report(folder / "r.html", "T", {folder / ""});
    } catch (const IoError& error) {
      EXPECT_NE(std::string(error.what()).find(".json"), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find("json.exception"), std::string::npos);
    }
    live_report("T", folder / "");
  }
}

TEST(Report, AFolderWithoutRunsIsAnError) {
  io::TemporaryFolder folder;
  EXPECT_THROW(write_report(folder / "r.html", "T", {folder / ""}), IoError);
}

// 200 runs with 10^5 rows each: the bar of the page's size.
TEST(Report, StaysSmallForManyLongRuns) {
  io::TemporaryFolder folder;
  std::string history = "iteration,seconds,objective,rank,norm_U,max_d,step\n";
  for (int i = 1; i <= 100'000; ++i) {
    history += std::to_string(i);
    history += ",0.1,";
    history += std::to_string(1.0 / i);
    history += i % 2 == 0 ? ",3,1,1,0.1\n" : ",4,1,1,0.1\n";
  }
  const std::string spectrum = "3.0123456789,2.0123456789,1.0123456789e-5";
  folder.write("first.csv", history);
  for (int run = 0; run < 200; ++run) {
    const std::string name = "runs/run" + std::to_string(run);
    std::filesystem::create_directories(folder / name);
    folder.write(name + "/run.json",
                 "{\"command\":\"complete\",\"method\":\"udu\",\"rank\":3,\"spectrum\":[" +
                     spectrum + "],\"seconds\":1}");
    std::filesystem::create_hard_link(folder / "first.csv", folder / (name + "/history.csv"));
  }
  write_report(folder / "r.html", "T", {folder / "runs"});
  EXPECT_LT(std::filesystem::file_size(folder / "r.html"), 5'000'000u);
}

TEST(Report, RunsAreFoundBelowAFolderInOrder) {
  io::TemporaryFolder folder;
  for (const char* name : {"b", "a", "c/d"}) {
    std::filesystem::create_directories(folder / name);
    folder.write(std::string(name) + "/run.json", "{}");
  }
  const auto runs = find_folders({folder / ""});
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].name, "a");
  EXPECT_EQ(runs[1].name, "b");
  EXPECT_EQ(runs[2].name, "c/d");
}

TEST(Report, OneDamagedRunAmongOthersIsLeftOutAndNamed) {
  io::TemporaryFolder folder;
  for (const char* name : {"a", "b", "c"}) {
    std::filesystem::create_directories(folder / name);
    folder.write(std::string(name) + "/run.json", R"({"command":"complete","rank":3})");
  }
  folder.write("b/run.json", "{\"command\":");
  folder.write("c/history.csv", "iteration,objective,note\n1,2,x\n2,?,y\n3,1.5,z\n4,,\n5,oh,\n");
  const auto problems = write_report(folder / "r.html", "T", {folder / ""});
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_NE(problems[0].find("left out: "), std::string::npos) << problems[0];
  EXPECT_NE(problems[0].find("b/run.json"), std::string::npos) << problems[0];
  EXPECT_NE(problems[1].find("history.csv:3: column 'objective'"), std::string::npos)
      << problems[1];
  EXPECT_NE(problems[1].find("2 such fields"), std::string::npos) << problems[1];
  const std::string page = io::read_bytes(folder / "r.html");
  EXPECT_NE(page.find("2 runs."), page.npos);
  EXPECT_NE(page.find("b/run.json"), page.npos);
  EXPECT_THROW(write_report(folder / "r.html", "T", {folder / "b"}), IoError);
}

TEST(Report, RunsThatCannotBeReadAreLeftOutAndNamed) {
  io::TemporaryFolder folder;
  for (const char* name : {"good", "folder", "types", "runs/wrong"}) {
    std::filesystem::create_directories(folder / name);
    folder.write(std::string(name) + "/run.json", R"({"command":"complete","rank":3})");
  }
  std::filesystem::remove(folder / "folder/run.json");
  std::filesystem::create_directories(folder / "folder/run.json");
  folder.write("types/run.json", R"({"command":"complete","config":7,"free_directions":{"a":[]}})");
  folder.write("types/live.json", R"({"column_sizes":"x","progress":{"state":1}})");
  folder.write("runs/wrong/run.json", "[1]");
  std::filesystem::create_symlink(folder / "loop", folder / "loop");
  std::filesystem::create_symlink(folder / "nowhere", folder / "dangling");
  const auto problems = write_report(folder / "r.html", "T", {folder / ""});
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_NE(problems[0].find("folder/run.json"), std::string::npos) << problems[0];
  EXPECT_NE(problems[1].find("runs/wrong/run.json"), std::string::npos) << problems[1];
  EXPECT_NE(problems[2].find("types/run.json: damaged"), std::string::npos) << problems[2];
  EXPECT_NE(io::read_bytes(folder / "r.html").find("good"), std::string::npos);
}

// Somebody who may not read everything, as root may.
class NotRoot {
 public:
  NotRoot() : id_(::geteuid()) {
    constexpr uid_t kNobody = 65534;
    if (id_ == 0) {
      EXPECT_EQ(::seteuid(kNobody), 0);
    }
  }
  ~NotRoot() { EXPECT_EQ(::seteuid(id_), 0); }
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;

 private:
  uid_t id_;
};

TEST(Report, AFolderThatMayNotBeReadIsLeftOutAndNamed) {
  io::TemporaryFolder folder;
  for (const char* name : {"good", "closed"}) {
    std::filesystem::create_directories(folder / name);
    folder.write(std::string(name) + "/run.json", R"({"command":"complete","rank":3})");
  }
  std::filesystem::permissions(folder / "", std::filesystem::perms::all);
  std::filesystem::permissions(folder / "closed", std::filesystem::perms::none);
  std::vector<std::string> problems;
  {
    const NotRoot somebody;
    problems = write_report(folder / "r.html", "T", {folder / ""});
    EXPECT_NE(live_report("T", folder / "").find("good"), std::string::npos);
  }
  std::filesystem::permissions(folder / "closed", std::filesystem::perms::owner_all);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("closed: cannot be looked into"), std::string::npos) << problems[0];
}

TEST(Report, OfALiveFileOfWrongTypesIsMade) {
  io::TemporaryFolder folder;
  for (const char* live :
       {R"({"progress":{"state":1,"text":2,"done":"x"}})", R"({"state":1})",
        R"({"column_sizes":{},"history":{"iteration":[1],"objective":1},"progress":{}})",
        R"({"column_sizes":["x"],"progress":{"state":"running"}})", "[]", "{\"a\":"}) {
    folder.write("live.json", live);
    EXPECT_NE(live_report("T", folder / "").find("\"state\""), std::string::npos) << live;
  }
}

TEST(Report, OfAHistoryWithoutItsColumnsNeverNamesAContainer) {
  io::TemporaryFolder folder;
  folder.write("run.json", R"({"command":"train","test_rmse":1,"spectrum":[1,2]})");
  for (const char* header : {"a,b", "iteration,b", "epoch,b", "step,test_loss", "neurons,loss"})
    for (const char* file : {"history.csv", "curve.csv", "pruning.csv", "held_out.csv",
                             "test_predictions.csv", "spectra.csv", "blocks.csv", "curves.csv"}) {
      folder.write(file, std::string(header) + "\n1,2\n3,4\n");
      try {
        write_report(folder / "r.html", "T", {folder / ""});
      } catch (const IoError& error) {
        EXPECT_EQ(std::string(error.what()).find("::"), std::string::npos) << error.what();
      }
    }
}

TEST(Report, AWatchedRunTellsItsProgress) {
  io::TemporaryFolder folder;
  EXPECT_NE(live_report("T", folder / "").find("Waiting"), std::string::npos);
  folder.write("live.json",
               R"({"progress":{"done":0.5,"text":"iteration 5 of 10","state":"running"},
                   "history":{"iteration":[1,5],"objective":[2,1],"rank":[4,3]},
                   "column_sizes":[2,1]})");
  const Json report = Json::parse(live_report("T", folder / ""));
  EXPECT_EQ(report["progress"]["done"], 0.5);
  EXPECT_EQ(report["sections"].size(), 1u);
  folder.write("run.json", R"({"rank":3})");
  std::filesystem::remove(folder / "live.json");
  EXPECT_EQ(Json::parse(live_report("T", folder / ""))["progress"]["state"], "ended");
}

TEST(Report, BeginsWithTheVerdict) {
  io::TemporaryFolder folder;
  folder.write("run.json", R"({"command":"complete","rank":2,"relative_residual":1e-16,
                               "verdict":"fits the data exactly, but 2 directions are free"})");
  const Json report = Json::parse(live_report("T", folder / ""));
  EXPECT_EQ(report["summary"], Json({"Fits the data exactly, but 2 directions are free.",
                                     "Rank 2, relative residual 1e-16."}));
}

}  // namespace page_test
}  // namespace udv::report
