// SPDX-License-Identifier: MIT
// A matrix of rank 1 from 30 linear measurements <A_i, X> = b_i.
#include <iostream>
#include <udv/core/random.hpp>
#include <udv/udv.hpp>

int main() {
  Eigen::VectorXd u = Eigen::VectorXd::LinSpaced(5, 1, 5);
  Eigen::MatrixXd X = u * u.transpose();
  Eigen::MatrixXd A(30, 25);  // one measurement a row
  udv::Random(1).fill_normal(A);
  const auto problem = udv::sensing(A, A * X.reshaped(), 5, 5, true);

  udv::jobs::Session session;  // writes nothing; RunOptions{.out = "run"} would
  const auto result = udv::jobs::sense(problem, {}, session);
  std::cout << "rank " << result.recovery.rank << '\n';
  std::cout << "X(2, 3) = " << result.recovery.predict(2, 3) << '\n';
}
