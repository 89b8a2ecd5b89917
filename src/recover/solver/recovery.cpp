// SPDX-License-Identifier: MIT
#include "udv/recover/solver/recovery.hpp"

#include <fmt/format.h>

#include "core/instantiate.hpp"

namespace udv {

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::kConverged:
      return "converged";
    case StopReason::kIterationLimit:
      return "iteration limit";
    case StopReason::kTimeLimit:
      return "time limit";
    case StopReason::kInterrupted:
      return "interrupted";
    default:
      return "diverged";
  }
}

StopReason stop_reason(Verdict verdict, bool converged) {
  switch (verdict) {
    case Verdict::kInterrupt:
      return StopReason::kInterrupted;
    case Verdict::kTimeLimit:
      return StopReason::kTimeLimit;
    default:
      return converged ? StopReason::kConverged : StopReason::kIterationLimit;
  }
}

template <typename Scalar>
Scalar BasicRecovery<Scalar>::predict(Index i, Index j) const {
  const RowMatrix<Scalar>& right = symmetric ? U : V;
  const Scalar x = right.row(j).dot(U.row(i).cwiseProduct(d.transpose()));
  return x + static_cast<RealOf<Scalar>>(biases.at(i, j));
}

std::string RecoveryFacts::summary() const {
  const char* const words = certificate.verdict == Optimality::kGlobal       ? "certified"
                            : certificate.verdict == Optimality::kStationary ? "stationary"
                                                                             : "not converged";
  return fmt::format("rank {}, relative residual {:.1e}, {}", rank, relative_residual, words);
}

#define UDV_INSTANTIATE(Scalar) template struct BasicRecovery<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
