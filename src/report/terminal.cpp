// SPDX-License-Identifier: MIT
#include "udv/report/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace udv::report {
namespace {

// Length as seen: UTF-8 continuation bytes and escape sequences (to an m) take no place.
size_t shown_length(const std::string& text) {
  size_t length = 0;
  bool escaped = false;
  for (const char c : text) {
    escaped = escaped || c == '\x1b';
    if (!escaped && (static_cast<unsigned char>(c) >> 6) != 2) ++length;
    if (c == 'm') escaped = false;
  }
  return length;
}

std::string padded(const std::string& text, size_t width, bool left) {
  const std::string blanks(width - std::min(width, shown_length(text)), ' ');
  return left ? text + blanks : blanks + text;
}

std::string line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
  std::string text;
  for (size_t c = 0; c < cells.size(); ++c)
    text += (c ? "   " : "  ") + padded(cells[c], widths[c], c == 0);
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string table(const std::vector<std::string>& header,
                  const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (size_t c = 0; c < header.size(); ++c) {
    widths.push_back(shown_length(header[c]));
    for (const auto& row : rows) widths[c] = std::max(widths[c], shown_length(row[c]));
  }
  std::vector<std::string> rule;
  for (const size_t width : widths) {
    rule.emplace_back();
    for (size_t i = 0; i < width; ++i) rule.back() += "─";
  }
  std::string text = line(header, widths) + line(rule, widths);
  for (const auto& row : rows) text += line(row, widths);
  return text;
}

std::string spectrum_sketch(const std::vector<SpectrumLine>& spectra, Index count, double floor,
                            int width) {
  std::string text = "  ";
  for (const auto& spectrum : spectra) text += "     " + padded(spectrum.name, width + 10UL, true);
  text = text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  const double decades = -std::log10(floor);
  for (Index k = 0; k < count; ++k) {
    std::string row = "  ";
    for (const auto& spectrum : spectra) {
      const double first = spectrum.values.size() > 0 ? spectrum.values(0) : 0;
      const double share = k < spectrum.values.size() && first > 0 ? spectrum.values(k) / first : 0;
      const double height = share > floor ? 1 + std::log10(share) / decades : 0;
      const auto cells = static_cast<int>(std::lround(std::clamp(height, 0.0, 1.0) * width));
      std::string bar;
      for (int i = 0; i < cells; ++i) bar += "█";
      const std::string label = share > floor ? fmt::format(" {:.0e}", share) : "·";
      row += fmt::format("σ{:<2} ", k + 1) + padded(bar + label, width + 11UL, true);
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace udv::report
