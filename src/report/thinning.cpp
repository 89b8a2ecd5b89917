// SPDX-License-Identifier: MIT
#include "thinning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace udv::report {
namespace {

std::vector<std::size_t> all_of(std::size_t size) {
  std::vector<std::size_t> which(size);
  std::iota(which.begin(), which.end(), std::size_t{0});
  return which;
}

void sort_unique(std::vector<std::size_t>& which) {
  std::sort(which.begin(), which.end());
  which.erase(std::unique(which.begin(), which.end()), which.end());
}

}  // namespace

std::vector<std::size_t> thinned(const std::vector<double>& x, const std::vector<double>& y,
                                 std::size_t buckets, bool log_x) {
  const std::size_t size = x.size();
  if (size <= 3 * buckets + 2 || buckets == 0) return all_of(size);
  const auto place = [&](double value) {
    return log_x ? std::log(std::max(value, 0.5)) : value;  // 0 is left of 1
  };
  const double first = place(x.front()), width = place(x.back()) - first;
  const auto bucket_of = [&](std::size_t i) {
    const double share = width > 0 ? (place(x[i]) - first) / width : 0;
    return static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(buckets) *
                                    (1 - 1e-12));
  };
  // The end of the bucket that begins at `begin`: x ascends, so that halving finds it.
  const auto end_of = [&](std::size_t begin) {
    const std::size_t bucket = bucket_of(begin);
    std::size_t inside = begin, outside = size;
    while (outside - inside > 1) {
      const std::size_t middle = inside + (outside - inside) / 2;
      (bucket_of(middle) == bucket ? inside : outside) = middle;
    }
    return outside;
  };
  std::vector<std::size_t> which{0, size - 1};
  for (std::size_t begin = 0; begin < size;) {
    const std::size_t end = end_of(begin);
    std::size_t lowest = begin, highest = begin;
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (y[i] < y[lowest] || std::isnan(y[lowest])) lowest = i;
      if (y[i] > y[highest] || std::isnan(y[highest])) highest = i;
    }
    which.insert(which.end(), {lowest, highest, end - 1});
    begin = end;
  }
  sort_unique(which);
  return which;
}

std::vector<std::size_t> log_spread(std::size_t size, std::size_t count) {
  if (size <= count || count < 2) return all_of(size);
  std::vector<std::size_t> which;
  const double top = std::log(static_cast<double>(size));
  for (std::size_t k = 0; k < count; ++k) {
    const double share = static_cast<double>(k) / static_cast<double>(count - 1);
    which.push_back(std::min(size, static_cast<std::size_t>(std::lround(std::exp(share * top)))) -
                    1);
  }
  sort_unique(which);
  return which;
}

}  // namespace udv::report
