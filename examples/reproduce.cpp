// SPDX-License-Identifier: MIT
// An experiment: a run, a claim about it, and whether the numbers show it. `udv` must be on PATH.
#include <fstream>
#include <iostream>
#include <udv/udv.hpp>

int main() {
  std::ofstream("rank.toml") << R"(title = "The rank is found"
where = "nowhere"
claim = "The answer has rank 2."
rule = "The rank is 2."
[[runs]]
name = "run"
command = "planted completion --rows 60 --rank 2 --measurements 600"
[[checks]]
text = "rank"
of = "run"
figure = "/rank"
equals = 2
)";
  udv::jobs::Session session({.out = "reproduced"});
  const auto result = udv::jobs::reproduce({{"rank.toml"}}, {}, session);
  std::cout << result.count(udv::jobs::ClaimStatus::kSeen) << " claim seen\n";
}
