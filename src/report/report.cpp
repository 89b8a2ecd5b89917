// SPDX-License-Identifier: MIT
#include "udv/report/report.hpp"

#include <fmt/format.h>

#include <cctype>
#include <chrono>
#include <cmath>

#include "core/require.hpp"
#include "page.hpp"
#include "sections.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"

namespace udv::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOpenRuns = 4;  // more are folded
constexpr std::size_t kProblemsShown = 10;

/// The runs that can be read, their sections, and the problems of the others.
struct ReportContents {
  std::vector<RunView> runs;
  std::vector<Json> sections;
  std::vector<std::string> problems;
};

// What is wrong with a run, in words that begin with its place: wrong types in run.json or
// live.json, a folder that may not be read, too little memory.
std::string problem_with(const fs::path& folder, const std::exception& error) {
  if (dynamic_cast<const IoError*>(&error)) return error.what();
  std::string why = error.what();
  if (dynamic_cast<const std::bad_alloc*>(&error)) why = "takes more memory than there is";
  if (const auto* json = dynamic_cast<const Json::exception*>(&error))
    why = "damaged: " + io::detail::problem_of(*json);
  if (const auto* file = dynamic_cast<const fs::filesystem_error*>(&error))
    why = "cannot be read: " + file->code().message();
  return folder.string() + ": " + why;
}

RunView read_found(const jobs::FoundRun& found) {
  if (!found.problem.empty()) throw IoError(found.problem);
  return read_run(found.folder, found.name);
}

// One damaged run among others is left out; one alone is an error.
ReportContents contents_of(const std::vector<fs::path>& folders) {
  const std::vector<jobs::FoundRun> found = find_folders(folders);
  const Detail detail = detail_for(found.size());
  ReportContents contents;
  for (const jobs::FoundRun& one : found) try {
      RunView run = read_found(one);
      contents.sections.push_back(run_section(run, found.size() <= kOpenRuns, detail));
      for (const std::string& line : run.left_out) contents.problems.push_back(line);
      contents.runs.push_back(std::move(run));
    } catch (const std::exception& error) {
      const std::string problem = problem_with(one.folder, error);
      if (found.size() == 1) throw IoError(problem);
      contents.problems.push_back("left out: " + problem);
    }
  require<IoError>(!contents.runs.empty(),
                   contents.problems.empty() ? "" : contents.problems.front());
  if (found.size() > 1)
    contents.sections.insert(contents.sections.begin(), overview_section(contents.runs, detail));
  return contents;
}

// How far the answer can be trusted stands first.
std::vector<std::string> summary_of(const RunView& run) {
  std::vector<std::string> lines;
  if (std::string verdict = run.text("verdict"); !verdict.empty()) {
    verdict[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(verdict[0])));
    lines.push_back(verdict + ".");
  }
  std::string text;
  if (const auto rank = run.number("rank")) text = fmt::format("Rank {:.0f}", *rank);
  if (const auto residual = run.number("relative_residual"))
    text += fmt::format(", relative residual {:.2g}", *residual);
  if (const auto loss = run.number("test_loss")) text = fmt::format("Test loss {:.4g}", *loss);
  if (const auto rmse = run.number("test_rmse"); rmse && run.run.contains("baseline"))
    text = fmt::format("Test RMSE {:.5g}", *rmse);
  if (const auto accuracy = run.number("test_accuracy"))
    text += fmt::format(", test accuracy {:.2f} %", 100 * *accuracy);
  if (const auto rank = run.number("rank_99"))
    text += fmt::format("; {:.0f} singular values carry 99 % of the energy", *rank);
  if (const auto perplexity = run.number("perplexity"))
    text = fmt::format("Perplexity {:.4g}, {:.4g} before training", *perplexity,
                       run.number("perplexity_before").value_or(NAN));
  if (const auto error = run.number("fold_rmse"), mean = run.number("fold_mean_rmse");
      error && mean)
    text +=
        fmt::format("; error on entries not used {:.4g}, that of the mean {:.4g}", *error, *mean);
  else if (const auto test = run.number("test_rmse"))
    text += fmt::format("; test error {:.4g}", *test);
  if (!text.empty()) lines.push_back(text + ".");
  return lines;
}

std::vector<std::string> summary_of(const ReportContents& contents) {
  std::vector<std::string> lines;
  if (contents.runs.size() != 1)
    lines.push_back(fmt::format("{} runs.", contents.runs.size()));
  else
    lines = summary_of(contents.runs.front());
  for (std::size_t i = 0; i < std::min(contents.problems.size(), kProblemsShown); ++i)
    lines.push_back(contents.problems[i]);
  if (contents.problems.size() > kProblemsShown)
    lines.push_back(fmt::format("{} more problems.", contents.problems.size() - kProblemsShown));
  return lines;
}

// A run that was killed leaves its live.json behind.
bool is_stalled(const RunView& run) {
  constexpr auto kPatience = std::chrono::seconds(20);
  std::error_code failure;
  const auto written = fs::last_write_time(run.file("live.json"), failure);
  return !failure && fs::file_time_type::clock::now() - written > kPatience;
}

bool has_text(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_string();
}

// "progress" of the first run that goes on. A text that is none is not shown.
Json progress_of(const std::vector<RunView>& runs) {
  Json progress = {{"done", 1}, {"text", "finished"}, {"state", "ended"}};
  for (const RunView& run : runs) {
    if (!run.live.is_object() || !run.live.value("progress", Json()).is_object()) continue;
    progress = run.live["progress"];
    if (!progress.contains("done") || !progress["done"].is_number()) progress["done"] = nullptr;
    if (!has_text(progress, "text")) progress["text"] = "";
    if (!has_text(progress, "state")) progress["state"] = "running";
    if (progress["state"] == "running" && is_stalled(run)) progress["state"] = "stalled";
    break;
  }
  return progress;
}

// There is no run yet, or a file of it is being written by somebody else.
Json waiting_document(const std::string& title, const std::string& why) {
  Json document = document_of(title, {"Waiting for a run.", why}, {});
  document["progress"] = {{"done", nullptr}, {"text", "waiting for a run"}, {"state", "running"}};
  return document;
}

Json live_document(const std::string& title, const fs::path& folder) {
  try {
    ReportContents contents = contents_of({folder});
    Json document = document_of(title, summary_of(contents), std::move(contents.sections));
    document["progress"] = progress_of(contents.runs);
    return document;
  } catch (const std::exception& error) {
    return waiting_document(title, problem_with(folder, error));
  }
}

}  // namespace

std::vector<std::string> write_report(const fs::path& html, const std::string& title,
                                      const std::vector<fs::path>& folders) {
  ReportContents contents = contents_of(folders);
  io::write_atomically(
      html, page_of(document_of(title, summary_of(contents), std::move(contents.sections))));
  return contents.problems;
}

std::string live_report(const std::string& title, const fs::path& folder) {
  Json document = live_document(title, folder);
  document.erase("made");  // the same run, the same text
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string watch_page(const std::string& title, const fs::path& folder) {
  const std::string_view page = watch_template();
  return page.empty() ? plain_page(live_document(title, folder)) : std::string(page);
}

bool has_charts() {
  return report_template().find("__UDV_REPORT__") != std::string_view::npos;
}

}  // namespace udv::report
