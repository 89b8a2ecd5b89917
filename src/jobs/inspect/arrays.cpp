// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "jobs/inspect/kinds.hpp"
#include "udv/core/text.hpp"
#include "udv/io/png.hpp"
#include "udv/io/variables.hpp"
#include "udv/net/head.hpp"

namespace udv::jobs {
namespace {

// That are read: each takes 16 bytes, and 8 more at times.
constexpr Index kMostNumbers = 1 << 23;

// Range of the finite ones: of the values, or of the magnitudes of complex numbers.
void add_range(const io::ComplexArray& array, InspectReport& report) {
  double least = INFINITY, most = -INFINITY, squares = 0;
  Index strange = 0;
  for (const auto& z : array.values) {
    const double value = array.is_complex ? std::abs(z) : z.real();
    if (!std::isfinite(value)) {
      ++strange;
      continue;
    }
    least = std::min(least, value);
    most = std::max(most, value);
    squares += value * value;
  }
  if (strange > 0) report.fact("not finite", fmt::format("{} of {}", strange, array.size()));
  if (strange == array.size()) return;
  report.fact(array.is_complex ? "magnitudes" : "range",
              fmt::format("{} to {}, root of the sum of squares {}", short_number(least),
                          short_number(most), short_number(std::sqrt(squares))));
}

RowMatrix<double> part_of(const io::ComplexArray& array, bool imaginary) {
  RowMatrix<double> M(array.shape[0], array.shape[1]);
  std::transform(array.values.begin(), array.values.end(), M.data(),
                 [&](const auto& z) { return imaginary ? z.imag() : z.real(); });
  return M;
}

// A complex M has the singular values of (Re -Im; Im Re), each of which stands there twice.
Vector<double> singular_values_of(const io::ComplexArray& array) {
  const RowMatrix<double> re = part_of(array, false);
  if (!array.is_complex) return net::singular_values(re);
  const RowMatrix<double> im = part_of(array, true);
  RowMatrix<double> both(2 * re.rows(), 2 * re.cols());
  both << re, -im, im, re;
  const Vector<double> twice = net::singular_values(both);
  return twice(Eigen::seqN(0, twice.size() / 2, 2));
}

bool all_finite(const io::ComplexArray& array) {
  return std::all_of(array.values.begin(), array.values.end(), [](const auto& z) {
    return std::isfinite(z.real()) && std::isfinite(z.imag());
  });
}

void add_values(const io::ComplexArray& array, const InspectOptions& options,
                InspectReport& report) {
  add_range(array, report);
  if (array.shape.size() != 2 || array.size() == 0) return;
  const Index numbers = array.size() * (array.is_complex ? 4 : 1);
  if (!all_finite(array))
    report.fact("spectrum", "none, as some numbers are not finite");
  else if (numbers > kFewNumbers && !options.svd)
    report.fact("spectrum", "not computed for so many numbers (option svd computes it)");
  else
    add_spectrum(singular_values_of(array), report);
}

std::string type_text(const io::Variable& variable) {
  return io::shape_text(variable.shape) + " " + plain_text(variable.type);
}

}  // namespace

std::string brief_npy(const std::filesystem::path& file) {
  return type_text(io::describe_npy(file));
}

void show_npy(const std::filesystem::path& file, const InspectOptions& options,
              InspectReport& report) {
  const io::Variable array = io::describe_npy(file);
  add_file(file, report);
  report.fact("array", type_text(array));
  if (!array.is_numeric) return;
  double numbers = 1;
  for (const Index size : array.shape) numbers *= static_cast<double>(size);
  if (numbers > kMostNumbers)
    report.fact("values", fmt::format("not read: more than {} numbers", kMostNumbers));
  else
    add_values(io::read_complex_npy(file), options, report);
}

std::string brief_variables(const std::filesystem::path& path) {
  const io::VariableFile file(path);
  std::string text;
  for (const io::Variable& variable : file.variables())
    text += (text.empty() ? "" : ", ") + io::variable_text(variable);
  return plain_text(text, 60);
}

void show_variables(const std::filesystem::path& path, const InspectOptions&,
                    InspectReport& report) {
  const io::VariableFile file(path);
  add_file(path, report);
  report.fact("variables", fmt::format("{}", file.variables().size()));
  std::vector<std::vector<std::string>> rows;
  for (const io::Variable& variable : file.variables())
    rows.push_back({plain_text(variable.name), plain_text(variable.type),
                    io::shape_text(variable.shape), variable.is_numeric ? "" : "no numbers"});
  report.table({"variable", "type", "shape", ""}, std::move(rows));
}

std::string brief_png(const std::filesystem::path& file) {
  const io::PngInfo info = io::describe_png(file);
  return fmt::format("{} x {} pixels, {}", info.width, info.height, info.colour);
}

void show_png(const std::filesystem::path& file, const InspectOptions&, InspectReport& report) {
  const io::PngInfo info = io::describe_png(file);
  add_file(file, report);
  report.fact("width", fmt::format("{} pixels", info.width));
  report.fact("height", fmt::format("{} pixels", info.height));
  report.fact("colours", fmt::format("{}, {} bits", info.colour, info.bits));
}

}  // namespace udv::jobs
