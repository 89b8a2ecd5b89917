// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/core/types.hpp"

namespace udv::report {

/// A table with aligned columns: the first is left-aligned, the others right-aligned. Cells may
/// hold escape sequences for bold or colour.
std::string table(const std::vector<std::string>& header,
                  const std::vector<std::vector<std::string>>& rows);

/// One spectrum of a sketch: singular values, largest first, drawn relative to the first.
struct SpectrumLine {
  std::string name;
  Vector<double> values;
};

/// Bars on a logarithmic scale from 1 down to `floor`, one row per singular value and spectrum:
/// a spectrum that ends looks like one that ends. Shows the first `count` values.
std::string spectrum_sketch(const std::vector<SpectrumLine>& spectra, Index count = 8,
                            double floor = 1e-16, int width = 32);

/// The first eight singular values on one line, and dots where there are more.
std::string spectrum_text(const Vector<double>& spectrum);

/// "1.2e-13", "0.52", "33.1": three digits, the shorter form.
std::string number(double value);

/// "2.1 ms", "3.4 s", "2 min 5 s".
std::string duration(double seconds);

}  // namespace udv::report
