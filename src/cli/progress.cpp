// SPDX-License-Identifier: MIT
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/parse.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr int kBarWidth = 24;
constexpr int kUsualWidth = 80;

std::string bar(double share, int width) {
  const auto cells = static_cast<int>(std::clamp(share, 0.0, 1.0) * width);
  std::string text;
  for (int i = 0; i < width; ++i) text += i < cells ? "█" : "░";
  return text;
}

// Asked anew for each line: somebody may resize the terminal.
int terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* const columns = std::getenv("COLUMNS");
  int width = 0;
  return columns != nullptr && parse_all(columns, width) && width > 0 ? width : kUsualWidth;
}

}  // namespace

int columns_of(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;  // the first byte of a character
  }));
}

std::string progress_line(const IterationRecord& record, const jobs::ProgressTotal& total,
                          const jobs::ProgressWords& words, int width) {
  const double share = total.share_done(record);
  const double rate = static_cast<double>(record.iteration) / std::max(record.seconds, 1e-9);
  const std::string left = share > 0
                               ? fmt::format(" {:3.0f} %  {} left", 100 * share,
                                             report::duration(record.seconds * (1 / share - 1)))
                               : fmt::format("solving  {}", report::duration(record.seconds));
  std::vector<std::string> parts{
      fmt::format("   {} {} ({:.0f}/s)", words.iteration, record.iteration, rate)};
  if (*words.objective != 0) {
    parts.push_back(fmt::format("   {} {:.2e}", words.objective, record.objective));
    parts.push_back(fmt::format("   {} {}", words.rank, record.rank));
  }
  // The bar gives up half of itself before a part is left out.
  int room = width - columns_of(left) - (share > 0 ? kBarWidth / 2 : 0);
  std::string rest;
  for (const std::string& part : parts) {
    if (columns_of(part) > room) break;
    rest += part;
    room -= columns_of(part);
  }
  const int bar_width = std::clamp(width - columns_of(left) - columns_of(rest), 0, kBarWidth);
  const std::string line = (share > 0 ? bar(share, bar_width) : "") + left + rest;
  return columns_of(line) <= width ? line : left.substr(0, static_cast<std::size_t>(width));
}

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
  const int width = terminal_width();
  // The last column stays free: some terminals go on to the next line there.
  const std::string line = progress_line(record, total_, words_, std::max(20, width - 1));
  fmt::print(stderr, "{}{}\x1b[K", back_to_start(width), line);
  std::fflush(stderr);
  drawn_ = columns_of(line);
}

// To the start of the line that is there. A terminal that has become narrower shows it as several.
std::string ProgressBar::back_to_start(int width) const {
  const int rows_above = drawn_ > 0 ? (drawn_ - 1) / width : 0;
  return rows_above > 0 ? fmt::format("\r\x1b[{}A\x1b[J", rows_above) : "\r";
}

void ProgressBar::clear() {
  if (drawn_ > 0) fmt::print(stderr, "{}\x1b[K", back_to_start(terminal_width()));
  drawn_ = 0;
}

}  // namespace udv::cli
