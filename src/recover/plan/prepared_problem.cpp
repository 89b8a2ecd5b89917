// SPDX-License-Identifier: MIT
#include "recover/plan/prepared_problem.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/communicator.hpp"
#include "core/instantiate.hpp"
#include "core/require.hpp"
#include "recover/device/entries_device.hpp"
#include "recover/operators/entry_shares.hpp"
#include "recover/operators/measured_sums.hpp"
#include "recover/solver/bias_fit.hpp"
#include "recover/split.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

// A residual that counts as zero.
template <typename Scalar>
constexpr double kDefaultTolerance = std::max(1e-10, 80 * kEpsilon<Scalar>);

}  // namespace

template <typename Scalar>
PreparedProblem<Scalar>::PreparedProblem(const BasicProblem<Scalar>& problem,
                                         const RecoverOptions& options)
    : options_(options), given_(&problem.b), used_{problem.op, {}} {
  if (options.holdout > 0) {
    given_ = nullptr;
    std::tie(used_, held_out_) = split(problem, options.holdout, options.seed);
    if (options.rank_walk) all_ = problem;
  }
  move_to_device();
  subtract_offsets();
  scale_ = chosen_scale();
  offset_norm_ *= scale_;
  drop_scaled();
  const double size = square();
  require(std::isfinite(size), "scale ", scale_, " makes the measurements overflow");
  require(size > 1e-280, "scale ", scale_, " makes the measurements vanish");
  num_measurements_ = used_.op->num_measurements();
}

template <typename Scalar>
void PreparedProblem<Scalar>::move_to_device() {
  if (options_.device != "cuda") return;
  require(communicator().is_alone(), "device cuda: one process expected, ", communicator().size(),
          " found");
  if constexpr (!kIsComplex<Scalar>) {
    if (const auto* entries = dynamic_cast<const EntriesOperator<Scalar>*>(&op())) {
      // A search without a bound begins with few columns; what it lacks later, it says then.
      constexpr Index kUsualColumns = 16;
      const bool free = options_.rank_walk && options_.max_rank == 0;
      if (options_.rank_walk && !free)
        device::EntriesOnDevice<Scalar>::require_model_memory(*entries, columns());
      used_.op = entries->on_device(free ? std::min(kUsualColumns, columns()) : columns());
      return;
    }
  }
  used_.op = used_.op->on_device(columns());
}

template <typename Scalar>
double PreparedProblem<Scalar>::chosen_scale() const {
  const double norm = data_norm();
  switch (options_.scale_rule) {
    case ScaleRule::kAuto:
      return kSizeAgainstBall * std::sqrt(used_.op->mean_gain()) / norm;
    case ScaleRule::kUnit:
      return 1 / norm;
    case ScaleRule::kNone:
      return 1;
    default:
      return options_.scale_value;
  }
}

template <typename Scalar>
void PreparedProblem<Scalar>::own_data() {
  if (given_ == nullptr) return;
  used_.b = *given_;
  given_ = nullptr;
}

template <typename Scalar>
void PreparedProblem<Scalar>::data_changed() {
  data_norm_ = -1;
  drop_scaled();
}

template <typename Scalar>
const Reals<Scalar>& PreparedProblem<Scalar>::b() const {
  constexpr Index kBlock = 1 << 18;
  const Reals<Scalar>& given = data();
  if (b_.size() == given.size()) return b_;
  b_.resize(given.size());
  parallel_blocks(given.size(), kBlock, [&](Index begin, Index end) {
    b_.segment(begin, end - begin) =
        static_cast<RealOf<Scalar>>(scale_) * given.segment(begin, end - begin);
  });
  return b_;
}

// The data on the device are those of the caller: scaled ones are not made for a norm.
template <typename Scalar>
bool PreparedProblem<Scalar>::entries_are_away() const {
  if constexpr (!kIsComplex<Scalar>) return device::entries_on_device(op()) != nullptr;
  return false;
}

template <typename Scalar>
double PreparedProblem<Scalar>::data_norm() const {
  if (data_norm_ < 0) data_norm_ = measured_stable_norm(op(), data());
  return data_norm_;
}

template <typename Scalar>
double PreparedProblem<Scalar>::square() const {
  return entries_are_away() ? std::pow(scale_ * data_norm(), 2) : measured_square(op(), b());
}

template <typename Scalar>
double PreparedProblem<Scalar>::norm() const {
  return entries_are_away() ? scale_ * data_norm() : measured_norm(op(), b());
}

template <typename Scalar>
double PreparedProblem<Scalar>::squared_residual(const Factorization<Scalar>& X) const {
  return entries_are_away() ? X.squared_residual(op(), data(), scale_)
                            : X.squared_residual(op(), b());
}

template <typename Scalar>
Index PreparedProblem<Scalar>::columns() const {
  const Index smaller = std::min(used_.op->rows(), used_.op->cols());
  return options_.max_rank > 0 ? std::min(options_.max_rank, smaller) : smaller;
}

template <typename Scalar>
double PreparedProblem<Scalar>::zero_residual() const {
  const double rounding =
      offset_norm_ > 0 ? 8 * kEpsilon<Scalar> * offset_norm_ / std::sqrt(square()) : 0;
  return std::max(options_.tolerance.value_or(kDefaultTolerance<Scalar>), rounding);
}

template <typename Scalar>
RankWalkOptions PreparedProblem<Scalar>::walk_options() const {
  RankWalkOptions walk;
  walk.max_rank = options_.max_rank;
  walk.rule.noise_sigma = options_.noise_sigma * scale_;
  walk.rule.zero_residual = zero_residual();
  walk.shrinkage = options_.shrinkage;
  walk.equal_noise = options_.noise_model == NoiseModel::kGaussian;
  walk.seed = options_.seed;
  return walk;
}

template <typename Scalar>
bool PreparedProblem<Scalar>::takes_offsets() const {
  return std::is_same_v<Scalar, double> && used_.op->name() == "entries" && !used_.op->symmetric();
}

// Offsets so large that they are better subtracted first; those of a gradient run, which chooses
// nothing, are least-squares means.
template <typename Scalar>
void PreparedProblem<Scalar>::subtract_offsets() {
  const Centering wanted = options_.center;
  const bool possible = takes_offsets();
  if (!possible && wanted != Centering::kAuto && wanted != Centering::kNone)
    throw OptionError("center", "goes with entries of rectangular matrices only");
  if constexpr (std::is_same_v<Scalar, double>) {
    if (!possible || wanted == Centering::kNone) return;
    if (wanted != Centering::kAuto) {
      BiasFit means(*used_.op, wanted);
      means.converge(data(), 200, 1e-14);
      const Vector<double> left = data() - measured(*used_.op, means.biases);
      require(measured_stable_norm(op(), left) > 1e-12 * measured_stable_norm(op(), data()),
              "nothing is left to recover after centering: the fitted means explain all values");
      if (!options_.rank_walk) return take_offsets({wanted, means.biases, {}});
    }
    if (options_.rank_walk) take_offsets(dominant_offsets(*used_.op, data(), wanted));
  }
}

template <typename Scalar>
void PreparedProblem<Scalar>::take_offsets(OffsetModel model) {
  if constexpr (std::is_same_v<Scalar, double>) {
    if (offsets_.biases.any() || model.biases.any()) own_data();
    const auto add = [](Problem& data, const Biases& biases, double sign) {
      if (data.op && biases.any()) data.b += sign * measured(*data.op, biases);
    };
    for (Problem* const data : {&used_, &held_out_, &all_}) {
      add(*data, offsets_.biases, 1);
      add(*data, model.biases, -1);
    }
    if (model.biases.any())
      offset_norm_ = scale_ * measured_norm(op(), measured(*used_.op, model.biases));
    if (offsets_.biases.any() || model.biases.any()) data_changed();
    offsets_ = std::move(model);
  }
}

template <typename Scalar>
void PreparedProblem<Scalar>::keep_only(BasicProblem<Scalar> rest) {
  given_ = nullptr;
  used_.op = std::move(rest.op);
  b_ = std::move(rest.b);
  used_.b = b_ / static_cast<RealOf<Scalar>>(scale_);
  data_norm_ = -1;
}

template <typename Scalar>
void PreparedProblem<Scalar>::gather() {
  if constexpr (std::is_same_v<Scalar, double>) {
    const auto* const entries = dynamic_cast<const EntriesOperator<double>*>(&op());
    if (!entries || !entries->is_spread()) return;
    require_room_for_all(op().num_measurements());
    own_data();
    used_.b = gathered_measurements(*entries, used_.b);
    used_.op = std::make_shared<EntriesOperator<double>>(gathered_entries(*entries));
    data_changed();
  }
}

template <typename Scalar>
double PreparedProblem<Scalar>::held_out_error(const StackedFactors<Scalar>& Z) const {
  Reals<Scalar> predicted;
  apply_stack(*held_out_.op, Z, predicted);
  return (predicted - static_cast<RealOf<Scalar>>(scale_) * held_out_.b).squaredNorm();
}

template <typename Scalar>
double PreparedProblem<Scalar>::held_out_rmse(const StackedFactors<Scalar>& Z) const {
  return std::sqrt(held_out_error(Z) / static_cast<double>(held_out_.b.size())) / scale_;
}

template <typename Scalar>
void PreparedProblem<Scalar>::use_all() {
  held_out_ = {};
  given_ = nullptr;
  used_ = all_;
  move_to_device();
  num_measurements_ = used_.op->num_measurements();
  data_changed();
}

#define UDV_INSTANTIATE(Scalar) template class PreparedProblem<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
