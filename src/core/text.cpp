// SPDX-License-Identifier: MIT
#include "udv/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace udv {

std::string short_number(double value) {
  const double size = std::abs(value);
  if (size == 0 || (size >= 0.01 && size < 999.5)) return fmt::format("{:.3g}", value);
  return size >= 999.5 && size < 1e4 ? fmt::format("{:.0f}", value) : fmt::format("{:.1e}", value);
}

std::string short_duration(double seconds) {
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", 1000 * seconds);
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<long>(seconds);
  return whole < 7200 ? fmt::format("{} min {} s", whole / 60, whole % 60)
                      : fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string short_spectrum(const Vector<double>& spectrum) {
  std::string text;
  const Index shown = std::min<Index>(spectrum.size(), 8);
  for (Index k = 0; k < shown; ++k) text += (k ? "  " : "") + short_number(spectrum(k));
  return text + (spectrum.size() > shown ? "  ..." : "");
}

}  // namespace udv
