// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

namespace udv::report {

/// Which of the points (x_i, y_i), x ascending, a chart of them needs: the first and the last, and
/// of each of `buckets` equal pieces of log x (of x where `log_x` is false) the lowest, the highest
/// and the last y. Ascending, at most 3 `buckets` + 2 of them; all where there are no more.
std::vector<std::size_t> thinned(const std::vector<double>& x, const std::vector<double>& y,
                                 std::size_t buckets, bool log_x);

/// At most `count` of 0 .. size - 1, evenly spread in the logarithm, both ends among them.
std::vector<std::size_t> log_spread(std::size_t size, std::size_t count);

}  // namespace udv::report
