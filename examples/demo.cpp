// SPDX-License-Identifier: MIT
// Which methods find the rank of the paper's completion problem, which is 3?
#include <iostream>
#include <udv/udv.hpp>

int main() {
  udv::jobs::Session session;
  const auto result = udv::jobs::demo({}, {}, session);
  for (const udv::jobs::DemoRun& run : result.runs)
    std::cout << run.name << ": " << (run.recovery.rank == 3 ? "rank 3" : "another rank") << '\n';
}
