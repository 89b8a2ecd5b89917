// SPDX-License-Identifier: MIT
#include "udv/recover/operators/user.hpp"

#include <cmath>

#include "core/instantiate.hpp"
#include "core/require.hpp"
#include "core/sums.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"

namespace udv {
namespace {

constexpr int kGainProbes = 8;

template <typename Scalar>
RowMatrix<Scalar> random_rows(Index rows, Index cols, Random& random) {
  RowMatrix<Scalar> values(rows, cols);
  random.fill_normal(values);
  return values;
}

}  // namespace

template <typename Scalar>
UserOperator<Scalar>::UserOperator(UserFunctions<Scalar> functions)
    : MeasurementOperator<Scalar>(functions.rows, functions.cols, functions.num_measurements,
                                  functions.symmetric),
      functions_(std::move(functions)) {
  require(functions_.rows > 0 && functions_.cols > 0 && functions_.num_measurements > 0,
          "user: ", functions_.num_measurements, " measurements of a ", functions_.rows, " x ",
          functions_.cols, " matrix, at least one of each expected");
  require(!functions_.symmetric || functions_.rows == functions_.cols,
          "user: a symmetric matrix is ", functions_.rows, " x ", functions_.cols,
          ", square expected");
  require(functions_.apply && functions_.adjoint_times && functions_.adjoint_transpose_times,
          "user: apply, adjoint_times and adjoint_transpose_times must all be given");
  check_adjoint();
  estimate_gain();
}

template <typename Scalar>
void UserOperator<Scalar>::apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                                 const ConstRows<Scalar>& V, Reals<Scalar>& y) const {
  y.resize(this->num_measurements());
  functions_.apply(U, d, V, y);
  require(y.size() == this->num_measurements(), "user: apply returned ", y.size(),
          " measurements, ", this->num_measurements(), " expected");
  if (this->symmetric() && U.data() != V.data()) {
    Reals<Scalar> mirrored(y.size());
    functions_.apply(V, d, U, mirrored);
    y = (y + mirrored) / RealOf<Scalar>(2);
  }
}

template <typename Scalar>
void UserOperator<Scalar>::adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
                                         Rows<Scalar> out) const {
  functions_.adjoint_times(z, V, out);
  if (this->symmetric()) {
    RowMatrix<Scalar> mirrored(out.rows(), out.cols());
    functions_.adjoint_transpose_times(z, V, mirrored);
    out = (out + mirrored) / RealOf<Scalar>(2);
  }
}

template <typename Scalar>
void UserOperator<Scalar>::adjoint_transpose_times(const Reals<Scalar>& z,
                                                   const ConstRows<Scalar>& U,
                                                   Rows<Scalar> out) const {
  if (this->symmetric())
    adjoint_times(z, U, out);
  else
    functions_.adjoint_transpose_times(z, U, out);
}

template <typename Scalar>
void UserOperator<Scalar>::check_adjoint() const {
  Random random(0, kStreamProbe);
  const auto U = random_rows<Scalar>(this->rows(), 2, random);
  const auto V = random_rows<Scalar>(this->cols(), 2, random);
  Reals<Scalar> z(this->num_measurements()), y;
  random.fill_normal(z);
  apply(U, Reals<Scalar>::Ones(2), V, y);
  RowMatrix<Scalar> for_u(this->rows(), 2), for_v(this->cols(), 2);
  adjoint_times(z, V, for_u);
  adjoint_transpose_times(z, U, for_v);
  const double measured = dot(y, z);
  const double through_u = dot(U, for_u);
  const double through_v = dot(V, for_v);
  const double scale = y.norm() * z.norm() + U.norm() * for_u.norm() + V.norm() * for_v.norm();
  require(std::isfinite(scale), "user: the functions returned a value that is not finite");
  const double tolerance = std::max(1e-6, 100 * kEpsilon<Scalar>) * scale;
  require(
      std::abs(measured - through_u) <= tolerance && std::abs(measured - through_v) <= tolerance,
      "user: not adjoint to each other: <A(UV^*), z> = ", measured, ", <U, A*(z)V> = ", through_u,
      ", <V, A*(z)^* U> = ", through_v);
}

template <typename Scalar>
void UserOperator<Scalar>::estimate_gain() {
  Random random(1, kStreamProbe);
  double measured = 0, size = 0, largest = 0;
  Reals<Scalar> y;
  for (int probe = 0; probe < kGainProbes; ++probe) {
    const auto u = random_rows<Scalar>(this->rows(), 1, random);
    const auto v = this->symmetric() ? u : random_rows<Scalar>(this->cols(), 1, random);
    apply(u, Reals<Scalar>::Ones(1), v, y);
    const double norm = u.squaredNorm() * v.squaredNorm();
    measured += y.squaredNorm();
    size += norm;
    largest = std::max(largest, y.squaredNorm() / norm);
  }
  mean_gain_ = measured / size;
  norm_bound_ = std::sqrt(largest * static_cast<double>(this->rows() * this->cols()));
}

#define UDV_INSTANTIATE(Scalar) template class UserOperator<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
