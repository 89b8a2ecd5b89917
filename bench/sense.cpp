// SPDX-License-Identifier: MIT
// Dense Gaussian measurements of a 40 x 40 positive semidefinite matrix of rank 3, five per degree
// of freedom; and the same number of rank-one measurements. Auto mode, 10 seeds each.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "udv/core/random.hpp"
#include "udv/recover/recover.hpp"

namespace {

using udv::Index;

constexpr Index kSize = 40, kRank = 3;
constexpr Index kMeasurements = 5 * (kSize * kRank - kRank * (kRank - 1) / 2);

struct Worst {
  int rank_right = 0;
  double error = 0, seconds = 0;
};

void run(const std::string& kind, std::uint64_t seed, Worst& worst) {
  udv::Random random(seed, udv::kStreamProblem);
  udv::Planted planted;
  planted.U.resize(kSize, kRank);
  random.fill_normal(planted.U);
  planted.V = planted.U;
  const udv::RowMatrix<double> X = planted.U * planted.U.transpose();
  udv::RowMatrix<double> A(kMeasurements, kind == "dense" ? kSize * kSize : kSize);
  random.fill_normal(A);
  udv::Problem problem;
  if (kind == "dense") {
    const udv::Vector<double> b = A * Eigen::Map<const udv::Vector<double>>(X.data(), X.size());
    problem = udv::sensing(A, b, kSize, kSize, true);
  } else {
    const udv::Vector<double> b = (A * planted.U).rowwise().squaredNorm();
    problem = udv::quadratic_sensing(A, b);
  }
  const udv::Recovery found = udv::recover(problem);
  worst.rank_right += found.rank == kRank;
  worst.error = std::max(worst.error, planted.relative_error(found.U, found.d, found.U));
  worst.seconds = std::max(worst.seconds, found.seconds);
}

}  // namespace

int main() {
  for (const std::string kind : {"dense", "rank-one"}) {
    Worst worst;
    for (std::uint64_t seed = 0; seed < 10; ++seed) run(kind, seed, worst);
    fmt::print(
        "{} {} measurements of a {} x {} matrix: rank {} in {} of 10, worst error {:.1e}, "
        "worst {:.3f} s\n",
        kMeasurements, kind, kSize, kSize, kRank, worst.rank_right, worst.error, worst.seconds);
  }
}
