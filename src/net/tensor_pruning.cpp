// SPDX-License-Identifier: MIT
#include "udv/net/tensor_pruning.hpp"

#include <deque>
#include <set>

#include "core/pattern.hpp"
#include "core/require.hpp"
#include "net/gram_svd.hpp"
#include "net/layer_metric.hpp"
#include "udv/io/safetensors.hpp"
#include "udv/net/rank_budget.hpp"

namespace udv::net {
namespace {

bool is_float_matrix(const io::Tensor& tensor) {
  return tensor.is_float() && tensor.shape.size() == 2 && tensor.size() > 0;
}

// A matrix of the file and the metric in which it is cut.
class MeasuredMatrix {
 public:
  MeasuredMatrix(const io::SafetensorsFile& file, const io::Tensor& tensor,
                 const Calibration& calibration)
      : tensor_(tensor), metric_(tensor.name, rows(), cols(), calibration) {
    const Vector<double> values = file.read<double>(tensor);
    require<IoError>(values.allFinite(), file.name(), ": tensor '", tensor.name,
                     "' holds a value that is not finite");
    const Eigen::Map<const RowMatrix<double>> W(values.data(), rows(), cols());
    measured_ = metric_.into_right(metric_.into_left(W).transpose()).transpose();
  }

  Index rows() const { return tensor_.shape[0]; }
  Index cols() const { return tensor_.shape[1]; }
  bool measures_loss() const { return metric_.measures_loss(); }
  MatrixSpectrum spectrum() const {
    return {gram_singular_values(measured_), rows() + cols(), rows() * cols()};
  }

  // up = Ly^-T P sqrt(S), down = S^(-1/2) (S Q^T) Lx^-1, in the number type of the matrix.
  void add_factors(Index rank, std::deque<std::string>& bytes,
                   std::vector<io::Tensor>& tensors) const {
    const GramSvd svd = gram_svd(measured_);
    const Vector<double> root = svd.s.head(rank).cwiseMax(1e-300).cwiseSqrt();
    const RowMatrix<double> up =
        metric_.from_left(svd.Pt.topRows(rank).transpose() * root.asDiagonal());
    const RowMatrix<double> down =
        metric_.from_right(svd.B.topRows(rank).transpose() * root.cwiseInverse().asDiagonal())
            .transpose();
    for (const auto& [suffix, W] : {std::pair{".up", &up}, std::pair{".down", &down}}) {
      bytes.push_back(io::tensor_bytes(tensor_.type, W->data(), W->size()));
      tensors.push_back(
          {tensor_.name + suffix, tensor_.type, {W->rows(), W->cols()}, bytes.back()});
    }
  }

 private:
  const io::Tensor& tensor_;
  LayerMetric metric_;
  RowMatrix<double> measured_;  // Ly^T W Lx
};

RankBudget::Ranks chosen_ranks(const RankBudget& budget, const TensorPruning& how) {
  if (how.max_loss > 0) return budget.of_loss(how.max_loss);
  if (how.ratio > 0)
    return how.calibration.empty() ? budget.of_ratio(how.ratio) : budget.by_value(how.ratio);
  return how.rank > 0 ? budget.at_most(how.rank) : budget.of_energy(how.energy);
}

void require_distinct_names(const std::string& file, const std::vector<io::Tensor>& tensors) {
  std::set<std::string> names;
  for (const io::Tensor& tensor : tensors)
    require<IoError>(names.insert(tensor.name).second, file, ": a tensor '", tensor.name,
                     "' is there already: leave the one that would be split into it out");
}

// A calibration that names other tensors was made for another file.
void require_calibrated(const std::string& file, const std::vector<const io::Tensor*>& wanted,
                        const TensorPruning& how, bool measures_loss) {
  for (const io::Tensor* tensor : wanted)
    require<IoError>(how.calibration.empty() || how.calibration.contains(tensor->name), file,
                     ": the calibration has no moments of '", tensor->name, "'");
  require<IoError>(how.max_loss <= 0 || measures_loss, file,
                   ": a limit of the loss needs the inputs and the gradients of all matrices");
}

// The matrices that are cut, and how the budget is shared among them.
struct Plan {
  std::vector<const io::Tensor*> wanted;
  RankBudget budget;
  RankBudget::Ranks ranks;
  bool measures_loss = false;
};

Plan plan_of(const io::SafetensorsFile& file, const TensorPruning& how) {
  Plan plan;
  std::vector<MatrixSpectrum> spectra;
  Index before = 0, others = 0;
  bool measured = !how.calibration.empty();
  for (const io::Tensor& tensor : file.tensors()) {
    before += tensor.size();
    if (!is_float_matrix(tensor) || !matches_pattern(how.pattern, tensor.name)) {
      others += tensor.size();
      continue;
    }
    plan.wanted.push_back(&tensor);
    const MeasuredMatrix matrix(file, tensor, how.calibration);
    measured = measured && matrix.measures_loss();
    spectra.push_back(matrix.spectrum());
  }
  require<IoError>(!plan.wanted.empty(), file.name(), ": no matrix of floats fits '", how.pattern,
                   "'");
  plan.measures_loss = measured;
  require_calibrated(file.name(), plan.wanted, how, measured);
  plan.budget = RankBudget(std::move(spectra), others, before, 1);
  plan.ranks = chosen_ranks(plan.budget, how);
  return plan;
}

}  // namespace

TensorPruningResult prune_tensors(const std::filesystem::path& path, const TensorPruning& how) {
  const io::SafetensorsFile file(path);
  const Plan plan = plan_of(file, how);
  TensorPruningResult result;
  result.matched = static_cast<Index>(plan.wanted.size());
  result.after = plan.budget.numbers(plan.ranks);
  result.bytes_before = static_cast<Index>(std::filesystem::file_size(path));
  if (plan.measures_loss) result.predicted_loss = plan.budget.dropped(plan.ranks);
  std::deque<std::string> bytes;  // tensors are views of them
  std::vector<io::Tensor> tensors;
  std::size_t b = 0;
  for (const io::Tensor& tensor : file.tensors()) {
    result.before += tensor.size();
    const bool wanted = b < plan.wanted.size() && plan.wanted[b] == &tensor;
    const std::size_t at = wanted ? b++ : 0;
    if (!wanted || plan.budget.stays(at, plan.ranks[at])) {
      tensors.push_back(tensor);
      continue;
    }
    const Index rank = plan.ranks[at];
    MeasuredMatrix(file, tensor, how.calibration).add_factors(rank, bytes, tensors);
    const double left = static_cast<double>(rank * plan.budget.matrix(at).cost);
    result.factored.push_back(
        {tensor.name, tensor.shape, rank, left / static_cast<double>(tensor.size())});
  }
  require_distinct_names(path.string(), tensors);
  auto metadata = file.metadata();
  metadata["udv_pruned"] = "NAME.up (m x r) times NAME.down (r x n) replaces the matrix NAME";
  result.bytes = io::safetensors_bytes(tensors, metadata);
  return result;
}

}  // namespace udv::net
