// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "udv/core/entries.hpp"
#include "udv/core/random.hpp"

namespace udv::bench {

/// Made-up ratings: mu + b_i + c_j + u_i . v_j + noise, rounded to 1..5. Rows and columns are
/// chosen by power laws, so that some have hundreds of entries and many have few.
struct RatingsOptions {
  Index rows = 943, cols = 1682, entries = 100'000, factors = 5;
  double mean = 3.5, row_bias = 0.4, col_bias = 0.6, noise = 0.85;
  double first_factor = 0.5, decay = 0.75;  ///< sd of u_k v_k: first_factor * decay^k
  double power = 0.6;                       ///< share of line i: (i + 1)^-power
  double col_power = 0;                     ///< of columns, where not 0
  bool rounded = true;
  double level = 1;      ///< between two marks; the lowest mark is one level, the highest 5
  bool by_time = false;  ///< rows come one after the other, and the last fifth is held out
  std::uint64_t seed = 0;
};

struct Ratings {
  Entries train, test;             ///< a fifth is held out
  std::vector<double> test_truth;  ///< expected values of the test entries, before rounding
  RowMatrix<double> U, V;
  Vector<double> row_bias, col_bias;
};

/// Numbers of lines with shares (i + 1)^-power, in random order.
class PowerLaw {
 public:
  PowerLaw(Index size, double power, Random& random) : order_(random.permutation(size)) {
    double sum = 0;
    for (Index i = 0; i < size; ++i)
      cumulative_.push_back(sum += std::pow(static_cast<double>(i + 1), -power));
  }
  Index draw(Random& random) const {
    const double at = random.uniform() * cumulative_.back();
    const auto place = std::lower_bound(cumulative_.begin(), cumulative_.end(), at);
    const auto rank = std::min<std::ptrdiff_t>(place - cumulative_.begin(),
                                               static_cast<std::ptrdiff_t>(order_.size()) - 1);
    return order_[static_cast<size_t>(rank)];
  }

 private:
  std::vector<Index> order_;
  std::vector<double> cumulative_;
};

inline Ratings make_ratings(const RatingsOptions& o) {
  Random random(o.seed, kStreamProblem);
  Ratings data;
  const auto normals = [&](Index rows, Index cols) {
    RowMatrix<double> X(rows, cols);
    random.fill_normal(X);
    return X;
  };
  data.U = normals(o.rows, o.factors);
  data.V = normals(o.cols, o.factors);
  for (Index k = 0; k < o.factors; ++k)
    data.U.col(k) *= o.first_factor * std::pow(o.decay, static_cast<double>(k));
  data.row_bias = o.row_bias * normals(o.rows, 1);
  data.col_bias = o.col_bias * normals(o.cols, 1);
  const PowerLaw row_law(o.rows, o.power, random),
      col_law(o.cols, o.col_power > 0 ? o.col_power : o.power, random);
  std::set<std::pair<Index, Index>> places;
  while (static_cast<Index>(places.size()) < o.entries)
    places.emplace(row_law.draw(random), col_law.draw(random));
  data.train.rows = data.test.rows = o.rows;
  data.train.cols = data.test.cols = o.cols;
  for (const auto& [i, j] : places) {
    const double truth =
        o.mean + data.row_bias(i) + data.col_bias(j) + data.U.row(i).dot(data.V.row(j));
    double value = truth + o.noise * random.normal();
    if (o.rounded) value = std::clamp(o.level * std::round(value / o.level), o.level, 5.0);
    // Of a row that comes late, more is held out.
    const double late = 0.4 * static_cast<double>(i) / static_cast<double>(o.rows);
    const bool held_out = random.uniform() < (o.by_time ? late : 0.2);
    Entries& part = held_out ? data.test : data.train;
    part.row.push_back(static_cast<std::int32_t>(i));
    part.col.push_back(static_cast<std::int32_t>(j));
    part.value.push_back(value);
    if (held_out) data.test_truth.push_back(truth);
  }
  return data;
}

}  // namespace udv::bench
