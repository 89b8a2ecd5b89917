// SPDX-License-Identifier: MIT
#include "recover/plan/answer.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/communicator.hpp"
#include "core/instantiate.hpp"
#include "recover/device/thin.hpp"
#include "recover/operators/measured_sums.hpp"
#include "recover/solver/balance.hpp"
#include "recover/solver/gram_svd.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

// The share of a singular value that does not count.
template <typename Scalar>
constexpr double kRankTolerance = std::max(1e-10, 80 * kEpsilon<Scalar>);
template <typename Scalar>
constexpr double kCertificateTolerance = std::max(1e-6, 1e4 * kEpsilon<Scalar>);

Biases scaled(Biases biases, double factor) {
  biases.global *= factor;
  biases.row *= factor;
  biases.col *= factor;
  return biases;
}

// factor X, on all threads.
template <typename Scalar>
RowMatrix<Scalar> scaled_rows(RealOf<Scalar> factor, const ConstRows<Scalar>& X) {
  constexpr Index kNumbers = 1 << 16;
  RowMatrix<Scalar> result(X.rows(), X.cols());
  const Index lines = std::max<Index>(1, kNumbers / std::max<Index>(1, X.cols()));
  parallel_blocks(X.rows(), lines, [&](Index begin, Index end) {
    result.middleRows(begin, end - begin) = factor * X.middleRows(begin, end - begin);
  });
  return result;
}

// balanced_factors() of factors that go to the device and come back; nothing where it cannot.
template <typename Scalar>
std::optional<Factorization<Scalar>> balanced_away(const Method& method,
                                                   const StackedFactors<Scalar>& fit) {
  if constexpr (std::is_same_v<Scalar, double>) {
    if (fit.symmetric || fit.rank() == 0) return std::nullopt;
    device::DeviceMatrix<double> U, V;
    U.upload(fit.U());
    V.upload(fit.V());
    auto svd = device::thin_svd(std::move(U), Vector<double>::Ones(fit.rank()), std::move(V));
    if (!svd) return std::nullopt;
    Vector<double> d = svd->s;
    if (!method.diagonal) {
      device::scale_columns(svd->U, d.cwiseSqrt());
      device::scale_columns(svd->V, d.cwiseSqrt());
      d.setOnes();
    }
    StackedFactors<double> Z;
    Z.rows = fit.rows;
    Z.Z.resize(fit.Z.rows(), d.size());
    svd->U.download(Z.U());
    svd->V.download(Z.V());
    return Factorization<double>(method, std::move(Z), std::move(d));
  }
  return std::nullopt;
}

template <typename Scalar>
bool is_spread(const MeasurementOperator<Scalar>& op) {
  const auto* const entries = dynamic_cast<const EntriesOperator<Scalar>*>(&op);
  return entries && entries->is_spread();
}

// The same of many lines on the host, in place.
template <typename Scalar>
std::optional<Factorization<Scalar>> balanced_in_place(const Method& method,
                                                       StackedFactors<Scalar>& fit) {
  if constexpr (std::is_same_v<Scalar, double>) {
    if (fit.symmetric) return std::nullopt;
    const auto svd = gram_svd(fit.U(), Vector<double>::Ones(fit.rank()), fit.V());
    if (!svd) return std::nullopt;
    const Vector<double> ones = Vector<double>::Ones(fit.rank());
    const Vector<double> sizes = method.diagonal ? ones : svd->s.cwiseSqrt();
    multiply_shared(fit.U(), svd->left * sizes.asDiagonal());
    multiply_shared(fit.V(), svd->right * sizes.asDiagonal());
    return Factorization<double>(method, std::move(fit), method.diagonal ? svd->s : ones);
  }
  return std::nullopt;
}

}  // namespace

template <typename Scalar>
Factorization<Scalar> balanced_factors(const Method& method, StackedFactors<Scalar> fit,
                                       bool on_device) {
  if (on_device)
    if (auto away = balanced_away(method, fit)) return std::move(*away);
  if (auto here = balanced_in_place(method, fit)) return std::move(*here);
  StackedFactors<Scalar> Z = balanced(fit);
  Reals<Scalar> d = Reals<Scalar>::Ones(Z.rank());
  if (method.diagonal) {
    d = Z.U().colwise().squaredNorm().transpose();
    constexpr auto kTiny = std::numeric_limits<RealOf<Scalar>>::min();
    const Reals<Scalar> inverse = d.cwiseMax(kTiny).cwiseSqrt().cwiseInverse();
    Z.Z = Z.Z * inverse.template cast<Scalar>().asDiagonal();
  }
  return Factorization<Scalar>(method, std::move(Z), std::move(d));
}

template <typename Scalar>
void Answer<Scalar>::finish(const WalkAnswer<Scalar>& walk, bool stopped) {
  const auto& op = problem_.op();
  result_.method = factors_.method().name;
  result_.operator_name = op.name();
  result_.rows = op.rows();
  result_.cols = op.cols();
  result_.measurements = problem_.num_measurements();
  result_.symmetric = op.symmetric();
  result_.scale = problem_.scale();
  if (result_.stop_reason != StopReason::kDiverged) measure(walk, stopped);
  unscale();
}

template <typename Scalar>
void Answer<Scalar>::measure(const WalkAnswer<Scalar>& walk, bool stopped) {
  const auto& op = problem_.op();
  result_.objective = 0.5 * problem_.squared_residual(factors_);
  result_.relative_residual = std::sqrt(2 * result_.objective) / std::sqrt(problem_.square());
  result_.exact = result_.relative_residual <= problem_.zero_residual();
  take_spectrum(walk.exact_rank);
  if (walk.clearly_noisy)
    problem_.drop_scaled();  // nobody asks for it any more
  else
    certify_optimum();
  // A gradient run does not claim its rank; what no rank could tell is said all the same.
  result_.undetermined = op.undetermined(parameters_per_line());
  if (problem_.holds_out()) result_.holdout_rmse = problem_.held_out_rmse(factors_.absorbed());
  if (result_.by_rank_walk && result_.rank > 0 && !walk.clearly_noisy && !stopped)
    examine();
  else
    result_.open_entries = open_entries<Scalar>(result_.undetermined, op);
  judge();
}

template <typename Scalar>
Vector<double> Answer<Scalar>::singular_values() const {
  if constexpr (std::is_same_v<Scalar, double>) {
    const bool here = options_.device != "cuda" && !problem_.op().symmetric();
    const StackedFactors<double>& Z = factors_.stack();
    if (const auto svd = here ? gram_svd(Z.U(), factors_.d(), Z.V()) : std::nullopt) return svd->s;
  }
  return factors_.singular_values();
}

template <typename Scalar>
void Answer<Scalar>::take_spectrum(Index exact_rank) {
  const Vector<double> s = singular_values();
  // In the caller's units the columns of an exact fit may be of very different sizes.
  result_.rank = exact_rank > 0 ? exact_rank : numerical_rank(s, kRankTolerance<Scalar>);
  result_.rank_gap = rank_gap(s, result_.rank);
  // One value past the rank, so that a reader sees the gap.
  const Index smaller = std::min(result_.rows, result_.cols);
  const Index shown = std::min(smaller, std::max(s.size(), result_.rank + 1));
  result_.spectrum = Vector<double>::Zero(shown);
  const Index known = std::min(shown, s.size());
  result_.spectrum.head(known) = s.head(known) / problem_.scale();
}

template <typename Scalar>
void Answer<Scalar>::certify_optimum() {
  CertificateOptions options;
  options.ridge = result_.ridge;
  options.alpha = result_.by_rank_walk ? 0 : result_.alpha;
  options.seed = options_.seed;
  options.tolerance = kCertificateTolerance<Scalar>;
  result_.certificate = certify(problem_.op(), problem_.b(), factors_, options);
}

// Whether another answer of this rank would do.
template <typename Scalar>
void Answer<Scalar>::examine() {
  DeterminacyOptions options;
  options.zero_residual = problem_.zero_residual();
  options.exact = result_.exact;
  options.seed = options_.seed;
  options.center = problem_.offsets().center;
  options.biases = scaled(problem_.offsets().biases, problem_.scale());
  auto answer = determine(problem_.op(), problem_.b(),
                          leading_columns(balanced(factors_.absorbed()), result_.rank), options);
  result_.determinacy = answer.facts;
  result_.open_entries = std::move(answer.open);
  if (result_.undetermined.blocks.empty())
    result_.undetermined.blocks = std::move(answer.loose_blocks);
}

// One outcome: whether it converged, the verdict and the reason to stop agree.
template <typename Scalar>
void Answer<Scalar>::judge() {
  // A gradient run that has lost all its columns stands still, but it has found nothing.
  const bool lost = !result_.by_rank_walk && result_.rank == 0;
  Optimality& verdict = result_.certificate.verdict;
  // Who asks for a large residual only gets no gradient smaller than that.
  // Variational Bayes ends where the bound is stationary, not f.
  const bool settled = result_.exact || !result_.models.empty();
  if (settled && verdict == Optimality::kNotConverged) verdict = Optimality::kStationary;
  result_.converged = !lost && verdict != Optimality::kNotConverged;
  if (!result_.converged && result_.stop_reason == StopReason::kConverged)
    result_.stop_reason = StopReason::kIterationLimit;
}

// Numbers that the entries of a row or column have to determine.
template <typename Scalar>
Index Answer<Scalar>::parameters_per_line() const {
  const Biases& biases = problem_.offsets().biases;
  const bool has_line_biases = biases.row.size() + biases.col.size() > 0;
  return (result_.by_rank_walk ? result_.rank : 1) + (has_line_biases ? 1 : 0);
}

template <typename Scalar>
void Answer<Scalar>::unscale() {
  const StackedFactors<Scalar>& Z = factors_.stack();
  const double scale = problem_.scale();
  const bool diagonal = factors_.method().diagonal;
  const auto root = static_cast<RealOf<Scalar>>(diagonal ? 1.0 : 1 / std::sqrt(scale));
  if (!communicator().is_root() && is_spread(problem_.op())) {
    result_.U.resize(0, Z.rank());
    result_.V.resize(0, Z.rank());
  } else {
    result_.U = scaled_rows<Scalar>(root, Z.U());
    if (!Z.symmetric) result_.V = scaled_rows<Scalar>(root, Z.V());
  }
  result_.d = factors_.d();
  if (diagonal) result_.d /= static_cast<RealOf<Scalar>>(scale);
  result_.objective /= scale * scale;
  result_.range = options_.range;
  // Counts are not negative.
  const bool counts = result_.posterior && result_.posterior->noise().smallest_count > 0;
  if (counts && !result_.range) result_.range = {0.0, std::numeric_limits<double>::infinity()};
  OffsetModel offsets = problem_.release_offsets();
  result_.center = offsets.center;
  result_.biases = std::move(offsets.biases);
}

#define UDV_INSTANTIATE(Scalar)                                                                 \
  template Factorization<Scalar> balanced_factors(const Method&, StackedFactors<Scalar>, bool); \
  template class Answer<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
