// SPDX-License-Identifier: MIT
// Are 600 entries enough for a matrix of this size and rank? A made-up one tells.
#include <iostream>
#include <udv/udv.hpp>

int main() {
  udv::jobs::PlantedJobOptions options;
  options.rows = 60;
  options.rank = 2;
  options.measurements = 600;
  udv::jobs::Session session;
  const auto result = udv::jobs::planted({}, options, session);
  std::cout << "rank " << result.recovery.rank << '\n';
  std::cout << "error below 1e-9: " << std::boolalpha << (*result.relative_error < 1e-9) << '\n';
}
