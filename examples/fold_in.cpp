// SPDX-License-Identifier: MIT
// Completes a table of prices with names, then places a new shop beside the old ones.
#include <cmath>
#include <fstream>
#include <iostream>
#include <udv/udv.hpp>

int main() {
  std::ofstream("prices.csv") << "shop,tea,rye,milk,jam,oats,figs\n"
                                 "ann,4,5,3,,,6\nbob,,5,4,6,10,8\ncyd,7,8,5,11,9,\n"
                                 "dan,3,3,,4,4,4\neve,8,7,5,,11,10\nfay,6,,5,13,7,10\n";
  std::ofstream("new.csv") << "shop,product,price\nivy,tea,8\nivy,jam,14\nivy,figs,12\n";
  std::ofstream("pairs.csv") << "ivy,rye\nivy,oats\n";

  udv::jobs::Session completion({.out = "run"}), session;
  udv::jobs::complete({.file = "prices.csv", .test = "", .predict = ""}, {}, completion);
  const auto result =
      udv::jobs::fold_in({.run = "run", .file = "new.csv", .predict = "pairs.csv"}, {}, session);
  for (const udv::Prediction& p : result.predictions)
    std::cout << result.row_keys[p.row] << ", " << result.col_keys[p.col] << ": "
              << std::round(1e6 * p.value) / 1e6 << (p.determined ? "" : " (a guess)") << '\n';
}
