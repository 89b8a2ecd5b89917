// SPDX-License-Identifier: MIT
#include "cli/sweep_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

using net::SweepSummary;

template <typename Item, typename Member>
std::vector<Item> distinct(const std::vector<SweepSummary>& all, const Member& member) {
  std::vector<Item> found;
  for (const SweepSummary& one : all)
    if (std::find(found.begin(), found.end(), member(one)) == found.end())
      found.push_back(member(one));
  return found;
}

// 0.8642 as 86.42 %; a loss with three digits and its deviation in the same power of ten.
std::string cell_text(const SweepSummary& s, bool percent) {
  if (s.runs == 0) return fmt::format("diverged ({})", s.diverged);
  const std::string failed = s.diverged > 0 ? fmt::format(" ({} diverged)", s.diverged) : "";
  if (percent) return fmt::format("{:.2f} ± {:.2f}{}", 100 * s.mean, 100 * s.deviation, failed);
  const double power = s.mean > 0 ? std::floor(std::log10(s.mean)) : 0;
  const double unit = std::pow(10.0, power);
  return fmt::format("({:.3f} ± {:.3f})e{:+03d}{}", s.mean / unit, s.deviation / unit,
                     static_cast<int>(power), failed);
}

std::string marked(const std::string& text, bool best, bool terminal) {
  if (!terminal) return text + (best ? "*" : " ");
  return best ? "\x1b[1m" + text + "\x1b[0m" : text;
}

using Rows = std::vector<std::vector<std::string>>;

// A variant's line and, where the paper has figures for it, a second one.
void add_lines(const std::vector<SweepSummary>& part, const std::vector<double>& rates,
               const std::string& variant, const std::string& dataset, bool percent, bool terminal,
               Rows& lines) {
  std::vector<std::string> ours{variant}, paper{"  paper"};
  bool known = false;
  for (const double rate : rates) {
    const auto at = std::find_if(part.begin(), part.end(), [&](const auto& s) {
      return s.cell.variant == variant && s.cell.learning_rate == rate;
    });
    ours.push_back(at == part.end() ? "" : marked(cell_text(*at, percent), at->best, terminal));
    const auto value = at == part.end() || at->cell.weight_decay > 0
                           ? std::nullopt
                           : net::paper_value(dataset, at->cell.optimizer, variant, rate);
    known = known || value;
    const std::string figure = !value    ? "-"
                               : percent ? fmt::format("{:.2f}", *value)
                                         : fmt::format("{:.3e}", *value);
    paper.push_back(marked(figure, false, terminal));
  }
  lines.push_back(ours);
  if (known) lines.push_back(paper);
}

std::string optimizer_table(const std::vector<SweepSummary>& part, const std::string& dataset,
                            bool percent, bool terminal) {
  auto rates = distinct<double>(part, [](const auto& s) { return s.cell.learning_rate; });
  std::sort(rates.begin(), rates.end());
  const net::SweepCell& first = part.front().cell;
  std::vector<std::string> header{first.optimizer};
  if (first.weight_decay > 0) header[0] += fmt::format(", decay {}", first.weight_decay);
  for (const double rate : rates)
    header.push_back(
        marked(rate == 0 ? std::string("auto") : fmt::format("{:g}", rate), false, terminal));
  Rows lines;
  for (const auto& variant :
       distinct<std::string>(part, [](const auto& s) { return s.cell.variant; }))
    add_lines(part, rates, variant, dataset, percent, terminal, lines);
  return report::table(header, lines) + "\n";
}

}  // namespace

std::string sweep_summary(const std::vector<net::SweepRow>& rows, const std::string& dataset,
                          bool terminal) {
  // Rows of other settings are no repetitions of these.
  std::vector<net::SweepRow> last, others;
  for (const net::SweepRow& row : rows)
    (row.settings == rows.back().settings ? last : others).push_back(row);
  const std::vector<SweepSummary> all = net::summarise(last);
  const bool percent = std::any_of(rows.begin(), rows.end(),
                                   [](const auto& row) { return row.test_accuracy.has_value(); });
  std::string text;
  for (const auto& optimizer :
       distinct<std::string>(all, [](const auto& s) { return s.cell.optimizer; }))
    for (const double decay :
         distinct<double>(all, [](const auto& s) { return s.cell.weight_decay; })) {
      std::vector<SweepSummary> part;
      for (const SweepSummary& s : all)
        if (s.cell.optimizer == optimizer && s.cell.weight_decay == decay) part.push_back(s);
      if (!part.empty()) text += optimizer_table(part, dataset, percent, terminal);
    }
  text += percent ? "  test accuracy in percent" : "  test loss";
  text += ", mean ± standard deviation over seeds and splits; ";
  text += terminal ? "best learning rate in bold\n" : "* best learning rate\n";
  if (!others.empty())
    text += fmt::format("  {} rows of sweeps with other settings in the same file are left aside\n",
                        others.size());
  return text;
}

}  // namespace udv::cli
