// SPDX-License-Identifier: MIT
#include "cli/prune_tensors.hpp"

#include <fmt/format.h>

#include <deque>
#include <optional>
#include <set>

#include "core/pattern.hpp"
#include "net/gram_svd.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/safetensors.hpp"
#include "udv/net/head.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

struct Factors {
  RowMatrix<float> up, down;
};

bool is_float_matrix(const io::Tensor& tensor) {
  const bool real =
      tensor.type == "F32" || tensor.type == "F64" || tensor.type == "F16" || tensor.type == "BF16";
  return real && tensor.shape.size() == 2 && tensor.size() > 0;
}

// up = P sqrt(S), down = S^(-1/2) (S Q^T).
Factors truncated(const net::GramSvd& svd, Index rank) {
  const Vector<double> root = svd.s.head(rank).cwiseMax(1e-300).cwiseSqrt();
  return {(svd.Pt.topRows(rank).transpose() * root.asDiagonal()).cast<float>(),
          (root.cwiseInverse().asDiagonal() * svd.B.topRows(rank)).cast<float>()};
}

std::optional<Factors> factorize(const io::SafetensorsFile& file, const io::Tensor& tensor,
                                 const TensorPruning& how) {
  const Index rows = tensor.shape[0], cols = tensor.shape[1];
  const Vector<double> values = file.read<double>(tensor);
  require<IoError>(values.allFinite(), file.name(), ": tensor '", tensor.name,
                   "' holds a value that is not finite");
  const net::GramSvd svd =
      net::gram_svd(Eigen::Map<const RowMatrix<double>>(values.data(), rows, cols));
  const Index rank = how.rank > 0 ? std::min(how.rank, svd.s.size())
                                  : std::max<Index>(1, net::energy_rank(svd.s, how.energy));
  if (rank * (rows + cols) >= rows * cols) return std::nullopt;
  return truncated(svd, rank);
}

}  // namespace

ExitCode prune_tensors(const std::string& path, const TensorPruning& how,
                       const CommonFlags& common) {
  set_num_threads(common.threads);
  const io::SafetensorsFile file(path);
  std::deque<Factors> factors;  // tensors are views of them
  std::vector<io::Tensor> tensors;
  std::vector<std::vector<std::string>> rows;
  Index before = 0, after = 0, matched = 0;
  for (const io::Tensor& tensor : file.tensors()) {
    before += tensor.size();
    const bool wanted = is_float_matrix(tensor) && fits(how.pattern, tensor.name);
    matched += wanted ? 1 : 0;
    const auto found = wanted ? factorize(file, tensor, how) : std::nullopt;
    if (!found) {
      tensors.push_back(tensor);
      after += tensor.size();
      continue;
    }
    factors.push_back(*found);
    const auto& [up, down] = factors.back();
    for (const auto& [suffix, W] : {std::pair{".up", &up}, std::pair{".down", &down}})
      tensors.push_back(io::as_tensor(
          io::NamedTensor<float>{tensor.name + suffix, {W->rows(), W->cols()}, W->data()}));
    after += up.size() + down.size();
    rows.push_back({tensor.name, io::shape_text(tensor.shape), fmt::format("{}", up.cols()),
                    fmt::format("{:.0f} %", 100.0 * static_cast<double>(up.size() + down.size()) /
                                                static_cast<double>(tensor.size()))});
  }
  std::set<std::string> names;
  for (const io::Tensor& tensor : tensors)
    require<IoError>(names.insert(tensor.name).second, path, ": a tensor '", tensor.name,
                     "' is there already: leave the one that would be split into it out");
  require<IoError>(matched > 0, path, ": no matrix of floats fits '", how.pattern, "'");
  const auto folder = make_run_folder(common, "prune");
  auto metadata = file.metadata();
  metadata["udv_pruned"] = "NAME.up (m x r) times NAME.down (r x n) stands for the matrix NAME";
  io::write_atomically(folder / "model.safetensors", io::safetensors_bytes(tensors, metadata));
  if (common.quiet) return kDone;
  if (!rows.empty()) fmt::print("{}\n", report::table({"tensor", "shape", "rank", "left"}, rows));
  fmt::print("  {} of {} matrices factored, {} of {} numbers left\n  results        {}\n",
             rows.size(), matched, after, before, folder.string());
  return kDone;
}

}  // namespace udv::cli
