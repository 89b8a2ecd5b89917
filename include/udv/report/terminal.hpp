// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/text.hpp"
#include "udv/core/types.hpp"

namespace udv::report {

/// A table with aligned columns: the first is left-aligned, the others right-aligned. Cells may
/// hold escape sequences for bold or colour.
UDV_EXPORT std::string table(const std::vector<std::string>& header,
                             const std::vector<std::vector<std::string>>& rows);

/// One spectrum of a sketch: singular values, largest first, drawn relative to the first.
struct SpectrumLine {
  std::string name;
  Vector<double> values;
};

/// Bars on a logarithmic scale from 1 down to `floor`, one row per singular value and spectrum:
/// a spectrum that ends looks like one that ends. Shows the first `count` values.
UDV_EXPORT std::string spectrum_sketch(const std::vector<SpectrumLine>& spectra, Index count = 8,
                                       double floor = 1e-16, int width = 32);

// The short texts of core, by the names that pages and summaries use.
inline std::string spectrum_text(const Vector<double>& spectrum) {
  return short_spectrum(spectrum);
}
inline std::string number(double value) {
  return short_number(value);
}
inline std::string duration(double seconds) {
  return short_duration(seconds);
}

}  // namespace udv::report
