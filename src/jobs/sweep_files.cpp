// SPDX-License-Identifier: MIT
#include "jobs/sweep_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/require.hpp"
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

SweepResults::SweepResults(const std::filesystem::path& path) : path_(path) {
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  require<IoError>(file_ >= 0, path.string(), ": cannot be opened: ", std::strerror(errno));
  const bool alone = ::flock(file_, LOCK_EX | LOCK_NB) == 0;
  if (!alone) ::close(file_);
  require<IoError>(alone, path.string(), ": another sweep writes to this file");
  try {
    cut_torn_line();
  } catch (...) {
    ::close(file_);
    throw;
  }
}

SweepResults::~SweepResults() {
  ::close(file_);
}

void SweepResults::append(const std::string& line) {
  const ssize_t written = ::write(file_, line.data(), line.size());
  require<IoError>(written == static_cast<ssize_t>(line.size()), path_.string(),
                   ": cannot be written: ", std::strerror(errno));
}

// A program that was killed may have left half a line. Files of others stay as they are.
void SweepResults::cut_torn_line() {
  const std::string text = io::read_bytes(path_), header = net::sweep_header();
  require<IoError>(text.starts_with(header) || header.starts_with(text), path_.string(),
                   ":1: another file found, a sweep's results expected");
  const size_t whole = text.size() < header.size() ? 0 : text.rfind('\n') + 1;
  if (whole < text.size())
    require<IoError>(::ftruncate(file_, static_cast<off_t>(whole)) == 0, path_.string(),
                     ": cannot be cut");
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
