// SPDX-License-Identifier: MIT
#include "udv/report/report.hpp"

#include <fmt/format.h>

#include <cctype>
#include <chrono>
#include <cmath>

#include "page.hpp"
#include "sections.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"

namespace udv::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOpenRuns = 4;  // more are folded

std::vector<Json> sections_of(const std::vector<RunView>& runs) {
  const Detail detail = detail_for(runs.size());
  std::vector<Json> sections;
  if (runs.size() > 1) sections.push_back(overview_section(runs, detail));
  for (const RunView& run : runs)
    sections.push_back(run_section(run, runs.size() <= kOpenRuns, detail));
  return sections;
}

// How far the answer can be trusted stands first.
std::vector<std::string> summary_of(const std::vector<RunView>& runs) {
  if (runs.size() != 1) return {fmt::format("{} runs.", runs.size())};
  const RunView& run = runs.front();
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

// A run that was killed leaves its live.json behind.
bool is_stalled(const RunView& run) {
  constexpr auto kPatience = std::chrono::seconds(20);
  std::error_code failure;
  const auto written = fs::last_write_time(run.file("live.json"), failure);
  return !failure && fs::file_time_type::clock::now() - written > kPatience;
}

// "progress" of the first run that goes on.
Json progress_of(const std::vector<RunView>& runs) {
  Json progress = {{"done", 1}, {"text", "finished"}, {"state", "ended"}};
  for (const RunView& run : runs) {
    if (!run.live.is_object() || !run.live.value("progress", Json()).is_object()) continue;
    progress = run.live["progress"];
    if (progress.value("state", "") == "running" && is_stalled(run)) progress["state"] = "stalled";
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
    const std::vector<RunView> runs = find_runs({folder});
    Json document = document_of(title, summary_of(runs), sections_of(runs));
    document["progress"] = progress_of(runs);
    return document;
  } catch (const IoError& error) {
    return waiting_document(title, error.what());
  }
}

}  // namespace

void write_report(const fs::path& html, const std::string& title,
                  const std::vector<fs::path>& folders) {
  const std::vector<RunView> runs = find_runs(folders);
  io::write_atomically(html, page_of(document_of(title, summary_of(runs), sections_of(runs))));
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
