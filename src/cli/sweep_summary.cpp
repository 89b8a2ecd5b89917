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

std::string paper_text(const std::string& dataset, const net::SweepCell& cell, bool percent) {
  const auto value = net::paper_value(dataset, cell.optimizer, cell.variant, cell.learning_rate);
  if (!value) return "-";
  return percent ? fmt::format("{:.2f}", *value) : fmt::format("{:.3e}", *value);
}

// Bold after the table has been laid out: marks take a place of their own.
std::string with_bold(std::string text) {
  for (size_t at = text.find("*"); at != text.npos; at = text.find("*", at)) {
    size_t begin = at;
    while (begin > 0 && text[begin - 1] != '\n' && text.compare(begin - 1, 1, " ") != 0) --begin;
    while (begin > 2 && !(text[begin - 1] == ' ' && text[begin - 2] == ' ')) --begin;
    text.replace(at, 1, "\x1b[0m ");
    text.insert(begin, "\x1b[1m");
  }
  return text;
}

}  // namespace

std::string sweep_summary(const std::vector<net::SweepRow>& rows, const std::string& dataset,
                          bool terminal) {
  const std::vector<SweepSummary> all = net::summarise(rows);
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
      auto rates = distinct<double>(part, [](const auto& s) { return s.cell.learning_rate; });
      std::sort(rates.begin(), rates.end());
      std::vector<std::string> header{optimizer +
                                      (decay > 0 ? fmt::format(", decay {}", decay) : "")};
      for (const double rate : rates) header.push_back(fmt::format("{:g} ", rate));
      std::vector<std::vector<std::string>> lines;
      for (const auto& variant :
           distinct<std::string>(part, [](const auto& s) { return s.cell.variant; })) {
        std::vector<std::string> ours{variant}, paper{"  paper"};
        for (const double rate : rates) {
          const auto at = std::find_if(part.begin(), part.end(), [&](const auto& s) {
            return s.cell.variant == variant && s.cell.learning_rate == rate;
          });
          ours.push_back(at == part.end() ? "" : cell_text(*at, percent) + (at->best ? "*" : " "));
          paper.push_back(at == part.end() ? "" : paper_text(dataset, at->cell, percent) + " ");
        }
        lines.push_back(ours);
        const bool known = std::any_of(paper.begin() + 1, paper.end(), [](const auto& cell) {
          return cell != "- " && !cell.empty();
        });
        if (known && decay == 0) lines.push_back(paper);
      }
      text += report::table(header, lines) + "\n";
    }
  text += percent ? "  test accuracy in percent" : "  test loss";
  text += ", mean ± standard deviation over seeds and splits; ";
  text += terminal ? "best learning rate in bold\n" : "* best learning rate\n";
  return terminal ? with_bold(text) : text;
}

}  // namespace udv::cli
