// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "jobs/inspect/kinds.hpp"
#include "udv/core/text.hpp"
#include "udv/io/npy.hpp"
#include "udv/net/head.hpp"

namespace udv::jobs {
namespace {

// "rank 12: 25 %" of the numbers, where two factors of the rank would be smaller.
std::string saving(const std::string& file, const io::Tensor& tensor, double energy) {
  const Index rows = tensor.shape[0], cols = tensor.shape[1];
  const Vector<double> values = io::tensor_values<double>(file, tensor);
  if (!values.allFinite()) return "not finite";
  const RowMatrix<double> M = Eigen::Map<const RowMatrix<double>>(values.data(), rows, cols);
  const Index rank = net::energy_rank(net::singular_values(M), energy);
  const double share = static_cast<double>(rank * (rows + cols)) / static_cast<double>(rows * cols);
  return share < 1 ? fmt::format("rank {}: {:.0f} %", rank, 100 * share)
                   : fmt::format("rank {}: nothing", rank);
}

bool is_matrix(const io::Tensor& tensor) {
  return tensor.shape.size() == 2 && tensor.is_float() && !tensor.bytes.empty();
}

}  // namespace

void add_file(const Path& file, InspectReport& report) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(file, unknown);
  report.fact(
      "file",
      file.string() + (unknown ? "" : fmt::format(", {}", size_text(static_cast<double>(size)))));
}

std::string size_text(double bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 3) bytes /= 1024, ++unit;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

std::string plain_text(std::string_view text, std::size_t longest) {
  std::string result(text.substr(0, longest));
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  return text.size() > longest ? result + "..." : result;
}

void add_spectrum(const Vector<double>& spectrum, InspectReport& report) {
  report.fact("spectrum", short_spectrum(spectrum));
  report.fact("ranks",
              fmt::format("{} / {} / {} carry 90 / 99 / 99.9 % of the energy, stable rank "
                          "{:.3g}, effective rank {:.3g}",
                          net::energy_rank(spectrum, 0.9), net::energy_rank(spectrum, 0.99),
                          net::energy_rank(spectrum, 0.999), net::stable_rank(spectrum),
                          net::effective_rank(spectrum)));
}

void add_tensors(const std::string& file, const std::vector<io::Tensor>& tensors,
                 const InspectOptions& options, InspectReport& report) {
  Index matrices = 0;
  for (const io::Tensor& tensor : tensors) matrices += is_matrix(tensor) ? tensor.size() : 0;
  const bool svd = options.svd || (matrices <= kFewNumbers && matrices > 0);
  std::vector<std::string> header{"tensor", "type", "shape", "numbers"};
  if (svd) header.push_back(fmt::format("SVD, {:g} % energy", 100 * options.energy));
  std::vector<std::vector<std::string>> rows;
  for (const io::Tensor& tensor : tensors) {
    rows.push_back({plain_text(tensor.name), tensor.type, io::shape_text(tensor.shape),
                    fmt::format("{}", tensor.size())});
    if (svd) rows.back().push_back(is_matrix(tensor) ? saving(file, tensor, options.energy) : "");
  }
  report.table(std::move(header), std::move(rows));
}

}  // namespace udv::jobs
