// SPDX-License-Identifier: MIT
#include "recover/phase_answer.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "core/sums.hpp"
#include "udv/core/parallel.hpp"
#include "udv/recover/phase.hpp"

namespace udv {
namespace {

template <typename Scalar>
constexpr double kExactIntensities = std::max(1e-9, 40 * kEpsilon<Scalar>);

// Whether another x would do. Large problems get fewer steps: a draw must not take longer than the
// fit did.
template <typename Scalar>
void examine(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b, const Vector<Scalar>& x,
             std::vector<char> left_out, BasicRecovery<Scalar>& result) {
  constexpr Index kLarge = 100'000;
  StackedFactors<Scalar> Z(op.rows(), op.rows(), true, 1);
  Z.Z.col(0) = x;
  DeterminacyOptions options;
  options.zero_residual = kExactIntensities<Scalar>;
  options.exact = result.exact = result.relative_residual <= options.zero_residual;
  options.of_x = true;
  if (op.num_measurements() > kLarge) options.max_steps = 100;
  options.left_out = std::move(left_out);
  auto answer = determine<Scalar>(op, b, Z, options);
  result.determinacy = answer.facts;
  result.open_entries = std::move(answer.open);
}

// |A(x x^*) - b| / |b|
template <typename Scalar>
double residual_of(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                   const Vector<Scalar>& x) {
  const RowMatrix<Scalar> U = x;
  Reals<Scalar> residual;
  op.apply(U, Reals<Scalar>::Ones(1), U, residual);
  residual -= b;
  return std::sqrt(squared_norm(residual) / squared_norm(b));
}

}  // namespace

template <typename Scalar>
Vector<Scalar> dominant_vector(const RowMatrix<Scalar>& U, const Reals<Scalar>& d) {
  if (d.size() == 0) return Vector<Scalar>::Zero(U.rows());
  const FactoredSvd<Scalar> svd = factored_eigen<Scalar>(U, d);
  return static_cast<RealOf<Scalar>>(std::sqrt(std::max(svd.s(0), 0.0))) * svd.U.col(0);
}

template <typename Scalar>
BasicRecovery<Scalar> rank_one_recovery(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                                        const Vector<Scalar>& x, bool dark_is_outside) {
  std::vector<char> left_out;
  if (dark_is_outside) {
    const Reals<Scalar> light = op.diagonal(Reals<Scalar>::Ones(op.num_measurements()));
    for (Index i = 0; i < light.size(); ++i) left_out.push_back(light(i) == 0);
  }
  return rank_one_answer<Scalar>(op, b, x, std::move(left_out));
}

template <typename Scalar>
BasicRecovery<Scalar> rank_one_answer(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                                      const Vector<Scalar>& x, std::vector<char> left_out) {
  BasicRecovery<Scalar> result;
  result.method = "udu";
  result.operator_name = op.name();
  result.rows = result.cols = op.rows();
  result.measurements = op.num_measurements();
  result.symmetric = result.by_rank_walk = true;
  const RealOf<Scalar> length = x.norm();
  const bool something = length > 0;
  result.rank = something ? 1 : 0;
  result.U = something ? RowMatrix<Scalar>(x / length) : RowMatrix<Scalar>(op.rows(), 0);
  result.d = Reals<Scalar>::Constant(result.rank, length * length);
  result.spectrum = Vector<double>::Zero(std::min<Index>(2, op.rows()));
  result.spectrum(0) = static_cast<double>(length) * static_cast<double>(length);
  result.rank_gap = rank_gap(result.spectrum, result.rank);
  result.relative_residual = residual_of(op, b, x);
  result.objective = 0.5 * std::pow(result.relative_residual, 2) * squared_norm(b);
  StackedFactors<Scalar> Z(op.rows(), op.rows(), true, result.rank);
  Z.Z = result.U;
  CertificateOptions options;
  options.tolerance = std::max(1e-6, 1e4 * kEpsilon<Scalar>);
  result.certificate =
      certify(op, b, Factorization<Scalar>(method_named("udu"), Z, result.d), options);
  result.intensities = true;
  if (something) examine(op, b, x, std::move(left_out), result);
  return result;
}

template <typename Scalar>
double intensity_residual(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                          const Vector<Scalar>& x) {
  return residual_of<Scalar>(op, b, x);
}

template <typename Scalar>
double phase_error(const Vector<Scalar>& x, const Vector<Scalar>& truth) {
  const Scalar inner = x.dot(truth);
  const RealOf<Scalar> size = std::abs(inner);
  const Scalar factor = size > 0 ? Scalar(inner / size) : Scalar(1);
  return static_cast<double>((factor * x - truth).norm()) / static_cast<double>(truth.norm());
}

template <typename Scalar>
Vector<Scalar> with_fixed_phase(const Vector<Scalar>& x) {
  Index at = 0;
  const RealOf<Scalar> size = x.size() > 0 ? x.cwiseAbs().maxCoeff(&at) : RealOf<Scalar>(0);
  if (!(size > 0)) return x;
  Vector<Scalar> result = (Eigen::numext::conj(x(at)) / size) * x;
  result(at) = size;
  return result;
}

#define UDV_INSTANTIATE(Scalar)                                                               \
  template Vector<Scalar> dominant_vector(const RowMatrix<Scalar>&, const Reals<Scalar>&);    \
  template BasicRecovery<Scalar> rank_one_recovery(                                           \
      const IntensityOperator<Scalar>&, const Reals<Scalar>&, const Vector<Scalar>&, bool);   \
  template BasicRecovery<Scalar> rank_one_answer(const MeasurementOperator<Scalar>&,          \
                                                 const Reals<Scalar>&, const Vector<Scalar>&, \
                                                 std::vector<char>);                          \
  template double intensity_residual(const IntensityOperator<Scalar>&, const Reals<Scalar>&,  \
                                     const Vector<Scalar>&);                                  \
  template double phase_error(const Vector<Scalar>&, const Vector<Scalar>&);                  \
  template Vector<Scalar> with_fixed_phase(const Vector<Scalar>&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
