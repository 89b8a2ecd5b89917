// SPDX-License-Identifier: MIT
#include "jobs/sweep_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/require.hpp"
#include "jobs/folder_lock.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

using net::SweepCell;
using net::SweepRow;
using net::SweepSummary;

// 0 stands for auto.
std::string rate_text(double rate) {
  return rate == 0 ? std::string("auto") : fmt::format("{:g}", rate);
}

std::string rate_name(const SweepCell& cell) {
  return cell.weight_decay > 0
             ? fmt::format("{}, decay {:g}", rate_text(cell.learning_rate), cell.weight_decay)
             : rate_text(cell.learning_rate);
}

Json cell_json(const SweepSummary& s, const std::string& dataset) {
  Json json = {{"mean", number(s.mean)},
               {"deviation", number(s.deviation)},
               {"runs", s.runs},
               {"diverged", s.diverged},
               {"stable_rank", number(s.stable_rank)},
               {"effective_rank", number(s.effective_rank)},
               {"rank_99", number(s.rank_99)},
               {"validation", number(s.validation)},
               {"best", s.best}};
  const auto paper =
      s.cell.weight_decay > 0
          ? std::nullopt
          : net::paper_value(dataset, s.cell.optimizer, s.cell.variant, s.cell.learning_rate);
  if (paper) json["paper"] = *paper;
  return json;
}

}  // namespace

// Where the file system has no locks, the run of the folder has said so.
SweepResults::SweepResults(const std::filesystem::path& path) : file_(path) {
  require<IoError>(lock_file(file_.handle(), path) != LockResult::kBusy, path.string(),
                   ": another sweep writes to this file");
  cut_torn_line(path);
}

// A program that was killed may have left half a line. Files of others stay as they are.
void SweepResults::cut_torn_line(const std::filesystem::path& path) {
  const std::string text = io::read_bytes(path), header = net::sweep_header();
  require<IoError>(text.starts_with(header) || header.starts_with(text), path.string(),
                   ":1: another file found, a sweep's results expected");
  const size_t whole = text.size() < header.size() ? 0 : text.rfind('\n') + 1;
  if (whole < text.size()) file_.cut(whole);
  if (whole == 0) append(header);
}

Json sweep_json(const std::vector<SweepRow>& rows, const std::string& dataset) {
  const bool classes = std::any_of(rows.begin(), rows.end(),
                                   [](const auto& row) { return row.test_accuracy.has_value(); });
  double seconds = 0;
  for (const SweepRow& row : rows) seconds += row.seconds;
  Json run = {{"dataset", dataset},      {"metric", classes ? "test_accuracy" : "test_loss"},
              {"runs", rows.size()},     {"seconds", seconds},
              {"cells", Json::object()}, {"best", Json::object()}};
  for (const SweepSummary& s : net::summarise(rows)) {
    Json cell = cell_json(s, dataset);
    if (s.best && s.cell.weight_decay == 0) {
      Json best = cell;
      best["rate"] = s.cell.learning_rate;
      run["best"][s.cell.optimizer][s.cell.variant] = std::move(best);
    }
    run["cells"][s.cell.optimizer][s.cell.variant][rate_name(s.cell)] = std::move(cell);
  }
  return run;
}

}  // namespace udv::jobs
