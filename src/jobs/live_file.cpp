// SPDX-License-Identifier: MIT
#include "jobs/live_file.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "io/json_file.hpp"
#include "udv/core/error.hpp"

namespace udv::jobs {
namespace {

using io::detail::number;
using Json = io::detail::OrderedJson;

constexpr double kEverySeconds = 0.5;
constexpr double kLargestShare = 0.02;  // of the time
constexpr double kSpacing = 1.02;       // of the iterations that are kept

Json progress_json(const IterationRecord& record, const ProgressTotal& total,
                   const ProgressWords& words, const char* state) {
  const double share = total.share_done(record);
  std::string text = fmt::format("{} {}", words.iteration, record.iteration);
  if (total.iterations > 0) text += fmt::format(" of {}", total.iterations);
  return {{"done", share > 0 ? number(share) : Json(nullptr)},
          {"text", text},
          {"seconds", record.seconds},
          {"left", share > 0 ? number(record.seconds * (1 / share - 1)) : Json(nullptr)},
          {"state", state}};
}

}  // namespace

LiveFile::LiveFile(const std::filesystem::path& folder, std::string command, ProgressTotal total,
                   ProgressWords words)
    : path_(folder / "live.json"),
      command_(std::move(command)),
      total_(total),
      words_(words),
      next_write_(kEverySeconds) {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);  // of a run that was killed
}

LiveFile::~LiveFile() {
  if (!written_) return;
  std::error_code ignored;
  if (interrupted_)
    write(last_, "interrupted");
  else
    std::filesystem::remove(path_, ignored);
}

Observer LiveFile::observer() {
  return [this](const IterationRecord& record) {
    keep(record);
    if (record.seconds >= next_write_) {
      const auto start = std::chrono::steady_clock::now();
      write(record, "running");
      const std::chrono::duration<double> cost = std::chrono::steady_clock::now() - start;
      next_write_ = record.seconds + std::max(kEverySeconds, cost.count() / kLargestShare);
    }
    return Verdict::kContinue;
  };
}

void LiveFile::keep(const IterationRecord& record) {
  last_ = record;
  last_.column_sizes = nullptr;
  const auto due = [&] { return kSpacing * static_cast<double>(history_.back().iteration); };
  const bool later = history_.empty() || (record.iteration > history_.back().iteration &&
                                          static_cast<double>(record.iteration) >= due());
  if (later) history_.push_back(last_);
}

// Nobody's run ends because somebody cannot watch it.
void LiveFile::write(const IterationRecord& record, const char* state) {
  Json json = {{"command", command_},
               {"progress", progress_json(record, total_, words_, state)},
               {"iteration", record.iteration},
               {"objective", number(record.objective)},
               {"rank", record.rank}};
  Json iteration = Json::array(), objective = Json::array(), rank = Json::array();
  for (const IterationRecord& kept : history_) {
    iteration.push_back(kept.iteration);
    objective.push_back(number(kept.objective));
    rank.push_back(kept.rank);
  }
  json["history"] = {{"iteration", iteration}, {"objective", objective}, {"rank", rank}};
  if (record.column_sizes != nullptr)
    json["column_sizes"] = io::detail::list((*record.column_sizes)());
  try {
    io::detail::write_json(path_, json);
    written_ = true;
  } catch (const IoError&) {
  }
}

}  // namespace udv::jobs
