// SPDX-License-Identifier: MIT
// Does auto mode claim more than the data say? Thousands of small problems, from far too few
// measurements to many; every answer is held against a dense decomposition and against the truth.
//
// usage: bench_honesty [PROBLEMS [FIRST [verbose]]]
#include "support/honesty.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string>

#include "udv/core/parallel.hpp"

namespace {

using udv::testing::Honesty;

struct Tally {
  long problems = 0, exact = 0, claims = 0, false_claims = 0, entries = 0, different = 0,
       counts = 0;

  void add(const Honesty& each) {
    ++problems;
    exact += each.exact;
    claims += each.claimed;
    false_claims += each.false_claim();
    entries += each.entries;
    different += each.flags_different;
    counts += each.count_different;
  }
  void print(const std::string& name) const {
    const double agree = entries > 0 ? 100.0 * static_cast<double>(entries - different) /
                                           static_cast<double>(entries)
                                     : 100;
    fmt::print(
        "honesty, {}: {} problems, {} exact, {} called unique, {} false claims, flags agree in "
        "{:.3f} % of {} entries, "
        "free directions counted otherwise in {}\n",
        name, problems, exact, claims, false_claims, agree, entries, counts);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const long problems = argc > 1 ? std::atol(argv[1]) : 10'000;
  const long first = argc > 2 ? std::atol(argv[2]) : 0;
  const bool verbose = argc > 3;
  udv::set_num_threads(1);
  std::map<std::string, Tally> tallies;
  Tally all;
  for (long t = 0; t < problems; ++t) {
    const int kind = static_cast<int>(t % udv::testing::honesty_kinds());
    const Honesty each = udv::testing::examine_honesty(kind, static_cast<std::uint64_t>(first + t));
    tallies[each.problem.substr(0, each.problem.find(','))].add(each);
    all.add(each);
    const bool odd =
        each.false_claim() || (verbose && (each.flags_different || each.count_different));
    if (odd)
      fmt::print(stderr, "{} (kind {}, number {}): {} wrong entries{}, {} flags of {} differ\n",
                 each.problem, kind, first + t, each.wrong, each.refuted ? ", refuted" : "",
                 each.flags_different, each.entries);
  }
  for (const auto& [name, tally] : tallies) tally.print(name);
  all.print("all");
  return all.false_claims > 0 ? 1 : 0;
}
