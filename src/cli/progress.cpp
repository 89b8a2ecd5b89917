// SPDX-License-Identifier: MIT
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr int kBarWidth = 24;

std::string bar(double share) {
  const auto cells = static_cast<int>(std::clamp(share, 0.0, 1.0) * kBarWidth);
  std::string text;
  for (int i = 0; i < kBarWidth; ++i) text += i < cells ? "█" : "░";
  return text;
}

}  // namespace

ProgressBar::ProgressBar(jobs::ProgressTotal total, bool quiet, jobs::ProgressWords words)
    : total_(total), visible_(!quiet && isatty(STDERR_FILENO) == 1), words_(words) {}

ProgressBar::~ProgressBar() {
  clear();
}

void ProgressBar::show(const IterationRecord& record) {
  if (visible_ && record.seconds - last_drawn_ > kRedrawSeconds) draw(record);
}

void ProgressBar::draw(const IterationRecord& record) {
  last_drawn_ = record.seconds;
  drawn_ = true;
  const double share = total_.share_done(record);
  const double rate = static_cast<double>(record.iteration) / std::max(record.seconds, 1e-9);
  std::string text = "\r";
  if (share > 0)
    text += fmt::format("{} {:3.0f} %  {} left", bar(share), 100 * share,
                        report::duration(record.seconds * (1 / share - 1)));
  else
    text += fmt::format("solving  {}", report::duration(record.seconds));
  text += fmt::format("   {} {} ({:.0f}/s)", words_.iteration, record.iteration, rate);
  if (*words_.objective != 0)
    text += fmt::format("   {} {:.2e}   {} {}", words_.objective, record.objective, words_.rank,
                        record.rank);
  fmt::print(stderr, "{}\x1b[K", text);
  std::fflush(stderr);
}

void ProgressBar::clear() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
  drawn_ = false;
}

}  // namespace udv::cli
