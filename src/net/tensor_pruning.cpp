// SPDX-License-Identifier: MIT
#include "udv/net/tensor_pruning.hpp"

#include <deque>
#include <optional>
#include <set>

#include "core/pattern.hpp"
#include "core/require.hpp"
#include "net/gram_svd.hpp"
#include "udv/io/safetensors.hpp"
#include "udv/net/head.hpp"

namespace udv::net {
namespace {

struct Factors {
  RowMatrix<float> up, down;
  Index size() const { return up.size() + down.size(); }
};

bool is_float_matrix(const io::Tensor& tensor) {
  const bool real =
      tensor.type == "F32" || tensor.type == "F64" || tensor.type == "F16" || tensor.type == "BF16";
  return real && tensor.shape.size() == 2 && tensor.size() > 0;
}

// up = P sqrt(S), down = S^(-1/2) (S Q^T).
Factors truncated(const GramSvd& svd, Index rank) {
  const Vector<double> root = svd.s.head(rank).cwiseMax(1e-300).cwiseSqrt();
  return {(svd.Pt.topRows(rank).transpose() * root.asDiagonal()).cast<float>(),
          (root.cwiseInverse().asDiagonal() * svd.B.topRows(rank)).cast<float>()};
}

// Nothing where the factors are no smaller.
std::optional<Factors> factorize(const io::SafetensorsFile& file, const io::Tensor& tensor,
                                 const TensorPruning& how) {
  const Index rows = tensor.shape[0], cols = tensor.shape[1];
  const Vector<double> values = file.read<double>(tensor);
  require<IoError>(values.allFinite(), file.name(), ": tensor '", tensor.name,
                   "' holds a value that is not finite");
  const GramSvd svd = gram_svd(Eigen::Map<const RowMatrix<double>>(values.data(), rows, cols));
  const Index rank = how.rank > 0 ? std::min(how.rank, svd.s.size())
                                  : std::max<Index>(1, energy_rank(svd.s, how.energy));
  if (rank * (rows + cols) >= rows * cols) return std::nullopt;
  return truncated(svd, rank);
}

void require_distinct_names(const std::string& file, const std::vector<io::Tensor>& tensors) {
  std::set<std::string> names;
  for (const io::Tensor& tensor : tensors)
    require<IoError>(names.insert(tensor.name).second, file, ": a tensor '", tensor.name,
                     "' is there already: leave the one that would be split into it out");
}

void add_factors(const io::Tensor& tensor, const Factors& factors,
                 std::vector<io::Tensor>& tensors) {
  for (const auto& [suffix, W] : {std::pair{".up", &factors.up}, std::pair{".down", &factors.down}})
    tensors.push_back(io::as_tensor(
        io::NamedTensor<float>{tensor.name + suffix, {W->rows(), W->cols()}, W->data()}));
}

}  // namespace

TensorPruningResult prune_tensors(const std::filesystem::path& path, const TensorPruning& how) {
  const io::SafetensorsFile file(path);
  TensorPruningResult result;
  std::deque<Factors> factors;  // tensors are views of them
  std::vector<io::Tensor> tensors;
  for (const io::Tensor& tensor : file.tensors()) {
    result.before += tensor.size();
    const bool wanted = is_float_matrix(tensor) && matches_pattern(how.pattern, tensor.name);
    result.matched += wanted ? 1 : 0;
    const auto found = wanted ? factorize(file, tensor, how) : std::nullopt;
    result.after += found ? found->size() : tensor.size();
    if (!found) {
      tensors.push_back(tensor);
      continue;
    }
    factors.push_back(*found);
    add_factors(tensor, factors.back(), tensors);
    result.factored.push_back(
        {tensor.name, tensor.shape, found->up.cols(),
         static_cast<double>(found->size()) / static_cast<double>(tensor.size())});
  }
  require_distinct_names(path.string(), tensors);
  require<IoError>(result.matched > 0, path.string(), ": no matrix of floats fits '", how.pattern,
                   "'");
  auto metadata = file.metadata();
  metadata["udv_pruned"] = "NAME.up (m x r) times NAME.down (r x n) stands for the matrix NAME";
  result.bytes = io::safetensors_bytes(tensors, metadata);
  return result;
}

}  // namespace udv::net
