// SPDX-License-Identifier: MIT
// A vector x from the intensities |<a_i, x>|^2, up to its sign.
#include <iostream>
#include <udv/core/random.hpp>
#include <udv/udv.hpp>

int main() {
  const udv::Vector<double> x = udv::Vector<double>::LinSpaced(8, 1, 8);
  Eigen::MatrixXd A(64, 8);
  udv::Random(1).fill_normal(A);
  const udv::Vector<double> b = (A * x).cwiseAbs2();

  udv::jobs::Session session;
  const auto result = udv::jobs::phase<double>(std::make_shared<udv::RankOneOperator<double>>(A), b,
                                               x, {}, session);
  std::cout << "rank " << result.recovery.rank << '\n';
  std::cout << "x = " << result.x.transpose().array().round() << '\n';
  std::cout << "error below 1e-6: " << std::boolalpha << (*result.relative_error < 1e-6) << '\n';
}
