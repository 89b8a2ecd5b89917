// SPDX-License-Identifier: MIT
#include "udv/recover/solver/recovery.hpp"

#include <fmt/format.h>

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

double Recovery::predict(Index i, Index j) const {
  const RowMatrix<double>& right = symmetric ? U : V;
  return U.row(i).cwiseProduct(d.transpose()).dot(right.row(j));
}

std::string Recovery::summary() const {
  const char* const words = certificate.verdict == Optimality::kGlobal       ? "certified"
                            : certificate.verdict == Optimality::kStationary ? "stationary"
                                                                             : "not converged";
  return fmt::format("rank {}, relative residual {:.1e}, {}", rank, relative_residual, words);
}

}  // namespace udv
