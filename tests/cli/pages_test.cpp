// SPDX-License-Identifier: MIT
#include <set>

#include "cli/support.hpp"

namespace udv::cli {
namespace pages_test {

using Sections = std::map<std::string, std::string>;

/// Manual pages, completion scripts and the reference page of the program under test.
class Pages : public ::testing::Test {
 protected:
  void SetUp() override {
    const Outcome outcome = cli_.run("pages pages");
    ASSERT_EQ(outcome.code, 0) << outcome;
    reference_ = sections(cli_.text("pages/commands.md"));
  }

  // The parts of a page by heading; what comes before the first has an empty one.
  static Sections sections(const std::string& page) {
    Sections parts;
    std::string name;
    for (const std::string& line : lines_of(page)) {
      if (line.starts_with("## ")) name = line.substr(3);
      if (!line.empty()) parts[name] += line + "\n";  // the last section has no blank line after it
    }
    return parts;
  }

  // The commands that `udv --help` lists.
  std::vector<std::string> commands() const {
    std::vector<std::string> names;
    bool listed = false;
    for (const std::string& line : lines_of(cli_.run("--help").out)) {
      if (line.empty()) listed = false;
      if (listed && line.size() > 2 && line[2] != ' ')
        names.push_back(line.substr(2, line.find(' ', 2) - 2));
      if (line == "Commands:") listed = true;
    }
    return names;
  }

  static bool there(const std::string& program) { return std::filesystem::exists(program); }

  Cli cli_;
  Sections reference_;
};

TEST_F(Pages, AreNotInTheHelp) {
  const std::vector<std::string> names = commands();
  EXPECT_GE(names.size(), 19u);
  EXPECT_EQ(std::count(names.begin(), names.end(), "pages"), 0);
}

TEST_F(Pages, TheReferencePageInDocsIsUpToDate) {
  const Sections committed = sections(file_text(UDV_DOCS "/commands.md"));
  const std::string advice = ": docs/commands.md is not up to date; `make pages` writes it";
  for (const auto& [name, text] : reference_) {
    ASSERT_TRUE(committed.contains(name)) << name << advice;
    EXPECT_EQ(committed.at(name), text) << name << advice;
  }
  // The program without LibTorch has no tables of these.
  std::set<std::string> others{"finetune", "generate", "lora"};
  for (const auto& [name, text] : committed)
    EXPECT_TRUE(reference_.contains(name) || others.contains(name)) << name << advice;
}

TEST_F(Pages, EveryCommandHasAManualPageAndAnExample) {
  EXPECT_TRUE(cli_.exists("pages/man/udv.1"));
  for (const std::string& name : commands()) {
    const std::string page = cli_.text("pages/man/udv-" + name + ".1");
    for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLE"})
      EXPECT_NE(page.find(std::string(".SH ") + section), page.npos) << name << " " << section;
  }
}

TEST_F(Pages, ExamplesOnlyUseFlagsThatExist) {
  for (const auto& [name, text] : reference_) {
    const size_t at = text.find("\nExample: `");
    if (at == text.npos) continue;
    const size_t begin = at + std::string("\nExample: `").size();
    std::istringstream words(text.substr(begin, text.find("`\n", begin) - begin));
    for (std::string word; words >> word;) {
      const bool known = text.find("| `" + word + "` |") != text.npos;
      EXPECT_TRUE(known || !word.starts_with("--")) << name << " " << word;
    }
  }
}

TEST_F(Pages, ManualPagesAreCleanForGroff) {
  if (!there("/usr/bin/groff")) GTEST_SKIP() << "groff is not there";
  for (const auto& file : std::filesystem::directory_iterator(cli_.path("pages/man"))) {
    const Outcome outcome =
        cli_.run_words({"/usr/bin/groff", "-man", "-Tutf8", "-ww", "-z", file.path()})->wait();
    EXPECT_EQ(outcome.code, 0) << file.path() << outcome;
    EXPECT_EQ(outcome.err, "") << file.path();
  }
}

TEST_F(Pages, BashCompletesCommandsFlagsAndChoices) {
  if (!there("/bin/bash")) GTEST_SKIP() << "bash is not there";
  cli_.write(
      "try.sh",
      "source pages/completions/udv.bash\n"
      "try() { COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)); _udv; echo \"${COMPREPLY[@]}\"; }\n"
      "try udv wat\n"
      "try udv complete --max-r\n"
      "try udv complete --polish o\n"
      "try udv complete --polish = o\n"
      "try udv complete --seed ''\n");
  const Outcome outcome = cli_.run_words({"/bin/bash", "try.sh"})->wait();
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, "watch\n--max-rank\non off\non off\n\n");
}

TEST_F(Pages, FishCompletesCommandsFlagsAndChoices) {
  if (!there("/usr/bin/fish")) GTEST_SKIP() << "fish is not there";
  cli_.write("try.fish",
             "source pages/completions/udv.fish\n"
             "for line in 'udv wat' 'udv complete --max-r' 'udv complete --polish o'\n"
             "  complete -C $line | string replace -r '\\t.*' ''\n"
             "end\n");
  const Outcome outcome = cli_.run_words({"/usr/bin/fish", "--no-config", "try.fish"})->wait();
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, "watch\n--max-rank\noff\non\n");
}

TEST_F(Pages, ZshTakesTheScript) {
  if (!there("/usr/bin/zsh")) GTEST_SKIP() << "zsh is not there";
  const Outcome outcome = cli_.run_words({"/usr/bin/zsh", "-n", "pages/completions/_udv"})->wait();
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.err, "");
}

}  // namespace pages_test
}  // namespace udv::cli
