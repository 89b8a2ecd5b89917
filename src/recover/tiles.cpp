// SPDX-License-Identifier: MIT
#include "udv/recover/tiles.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/require.hpp"

namespace udv {
namespace {

using Complex = std::complex<float>;
using Image = RowMatrix<Complex>;

constexpr Index kMultiple = 8;
constexpr double kMostTurns = 1;     // of a tilt over the longer side of an overlap
constexpr double kTurnStep = 0.25;   // of the search for tilts
constexpr int kPlaneSteps = 6;       // of the fit of a plane to phases
constexpr double kTiltPrior = 0.3;   // that a tile has no tilt, in units of a pair that says so
constexpr double kGainPrior = 0.01;  // the same for its gain
constexpr double kAnchor = 1e-6;     // phases have no zero of their own

Index spread_count(Index size, const TileOptions& options) {
  if (size <= options.side) return 1;
  const double step = static_cast<double>(options.side - options.overlap);
  return std::max<Index>(
      2, static_cast<Index>(std::lround(static_cast<double>(size - options.overlap) / step)));
}

// The smallest multiple of 8 with which `count` tiles cover `size` pixels and share `overlap`.
Index spread_side(Index size, Index count, Index overlap) {
  if (count == 1) return size;
  const Index least = (size + (count - 1) * overlap + count - 1) / count;
  return std::min(size, (least + kMultiple - 1) / kMultiple * kMultiple);
}

Index begin_of(Index i, Index count, Index size, Index side) {
  return count == 1 ? 0 : (i * (size - side) + (count - 1) / 2) / (count - 1);
}

// Pixels that two tiles share, in the joined image.
Tile shared(const Tile& a, const Tile& b, Index upsampling, Index cut) {
  Tile both;
  const Index top = std::max(a.row, b.row), left = std::max(a.col, b.col);
  const Index bottom = std::min(a.row + a.rows, b.row + b.rows);
  const Index right = std::min(a.col + a.cols, b.col + b.cols);
  // What lies near the edge of a tile is not trusted.
  const Index down = bottom - top > 4 * cut ? cut : 0, across = right - left > 4 * cut ? cut : 0;
  both.row = (top + down) * upsampling;
  both.col = (left + across) * upsampling;
  both.rows = (bottom - top - 2 * down) * upsampling;
  both.cols = (right - left - 2 * across) * upsampling;
  return both;
}

// log(x_a / x_b) over what two tiles share, as a plane: gain, phase at the middle and tilts.
struct Pair {
  Index a = 0, b = 0;
  double row = 0, col = 0;  // middle of what they share
  double phase = 0, down = 0, right = 0, log_gain = 0;
  double weight = 0;  // 0: they share nothing that tells
  double tall = 0, wide = 0;
};

class Quotient {
 public:
  Quotient(const TileGrid& grid, const Image& a, const Image& b, Index first, Index second,
           Index upsampling, Index cut)
      : area_(shared(grid.tiles[static_cast<size_t>(first)],
                     grid.tiles[static_cast<size_t>(second)], upsampling, cut)) {
    pair_.a = first;
    pair_.b = second;
    pair_.row = static_cast<double>(area_.row) + 0.5 * static_cast<double>(area_.rows - 1);
    pair_.col = static_cast<double>(area_.col) + 0.5 * static_cast<double>(area_.cols - 1);
    pair_.tall = static_cast<double>(area_.rows);
    pair_.wide = static_cast<double>(area_.cols);
    values_.resize(area_.rows, area_.cols);
    const Tile& at = grid.tiles[static_cast<size_t>(first)];
    const Tile& bt = grid.tiles[static_cast<size_t>(second)];
    double power_a = 0, power_b = 0;
    for (Index r = 0; r < area_.rows; ++r)
      for (Index c = 0; c < area_.cols; ++c) {
        const std::complex<double> x(
            a(area_.row + r - at.row * upsampling, area_.col + c - at.col * upsampling));
        const std::complex<double> y(
            b(area_.row + r - bt.row * upsampling, area_.col + c - bt.col * upsampling));
        values_(r, c) = x * std::conj(y);
        power_a += std::norm(x);
        power_b += std::norm(y);
      }
    if (!(power_a > 0) || !(power_b > 0)) return;
    pair_.log_gain = 0.5 * std::log(power_a / power_b);
    pair_.weight = std::sqrt(power_a * power_b);
    fit_plane();
  }

  const Pair& pair() const { return pair_; }

 private:
  double y(Index r) const { return static_cast<double>(area_.row + r) - pair_.row; }
  double x(Index c) const { return static_cast<double>(area_.col + c) - pair_.col; }

  std::complex<double> sum_with(double down, double right) const {
    std::complex<double> sum = 0;
    for (Index r = 0; r < area_.rows; ++r) {
      std::complex<double> line = 0;
      const std::complex<double> step = std::polar(1.0, -right);
      std::complex<double> turn = std::polar(1.0, -right * x(0));
      for (Index c = 0; c < area_.cols; ++c, turn *= step) line += values_(r, c) * turn;
      sum += line * std::polar(1.0, -down * y(r));
    }
    return sum;
  }

  void fit_plane() {
    double best = 0;
    const double turn = 2 * std::numbers::pi;
    const double unit = turn / static_cast<double>(std::max(area_.rows, area_.cols));
    for (double v = -kMostTurns; v <= kMostTurns; v += kTurnStep)
      for (double h = -kMostTurns; h <= kMostTurns; h += kTurnStep) {
        const std::complex<double> sum = sum_with(v * unit, h * unit);
        // Of equals the one with less tilt.
        if (std::abs(sum) * (1 - 1e-3 * std::hypot(v, h)) <= best) continue;
        best = std::abs(sum) * (1 - 1e-3 * std::hypot(v, h));
        pair_.down = v * unit;
        pair_.right = h * unit;
        pair_.phase = std::arg(sum);
      }
    for (int step = 0; step < kPlaneSteps; ++step) improve_plane();
  }

  // Least squares for the phases that are left over, weighted by the light.
  void improve_plane() {
    Eigen::Matrix3d normal = 1e-12 * Eigen::Matrix3d::Identity();
    Eigen::Vector3d right_side = Eigen::Vector3d::Zero();
    for (Index r = 0; r < area_.rows; ++r)
      for (Index c = 0; c < area_.cols; ++c) {
        const double angle = pair_.phase + pair_.down * y(r) + pair_.right * x(c);
        const double left = std::arg(values_(r, c) * std::polar(1.0, -angle));
        const Eigen::Vector3d at(1, y(r), x(c));
        const double weight = std::abs(values_(r, c));
        normal += weight * at * at.transpose();
        right_side += weight * left * at;
      }
    const Eigen::Vector3d change = normal.ldlt().solve(right_side);
    pair_.phase += change(0);
    pair_.down += change(1);
    pair_.right += change(2);
  }

  Tile area_;
  Pair pair_;
  RowMatrix<std::complex<double>> values_;
};

std::vector<Pair> pairs_of(const TileGrid& grid, const std::vector<const Image*>& images,
                           Index upsampling, Index cut) {
  std::vector<Pair> pairs;
  const auto add = [&](Index a, Index b) {
    const Image& one = *images[static_cast<size_t>(a)];
    const Image& other = *images[static_cast<size_t>(b)];
    if (one.size() == 0 || other.size() == 0) return;
    const Pair pair = Quotient(grid, one, other, a, b, upsampling, cut).pair();
    if (pair.weight > 0) pairs.push_back(pair);
  };
  for (Index y = 0; y < grid.down; ++y)
    for (Index x = 0; x < grid.across; ++x) {
      if (x + 1 < grid.across) add(grid.at(y, x), grid.at(y, x + 1));
      if (y + 1 < grid.down) add(grid.at(y, x), grid.at(y + 1, x));
    }
  return pairs;
}

// Values v_t with v_a - v_b = difference for each pair, in the sense of weighted least squares,
// near 0.
template <typename Difference, typename Weight>
Vector<double> level_out(Index tiles, const std::vector<Pair>& pairs, double prior,
                         const Difference& difference, const Weight& weight_of) {
  Matrix<double> normal = prior * Matrix<double>::Identity(tiles, tiles);
  Vector<double> right = Vector<double>::Zero(tiles);
  for (const Pair& pair : pairs) {
    const double weight = weight_of(pair), wanted = weight * difference(pair);
    normal(pair.a, pair.a) += weight;
    normal(pair.b, pair.b) += weight;
    normal(pair.a, pair.b) -= weight;
    normal(pair.b, pair.a) -= weight;
    right(pair.a) += wanted;
    right(pair.b) -= wanted;
  }
  return normal.ldlt().solve(right);
}

double middle_row(const Tile& tile, Index upsampling) {
  return (static_cast<double>(tile.row) + 0.5 * static_cast<double>(tile.rows)) *
             static_cast<double>(upsampling) -
         0.5;
}

double middle_col(const Tile& tile, Index upsampling) {
  return (static_cast<double>(tile.col) + 0.5 * static_cast<double>(tile.cols)) *
             static_cast<double>(upsampling) -
         0.5;
}

double tilt_at(const TileGrid& grid, const TileFactor& factor, Index t, double row, double col,
               Index upsampling) {
  const Tile& tile = grid.tiles[static_cast<size_t>(t)];
  return factor.down * (row - middle_row(tile, upsampling)) +
         factor.right * (col - middle_col(tile, upsampling));
}

// Phases along a tree of pairs from the middle outwards: which multiple of a turn is meant.
Vector<double> rough_phases(const TileGrid& grid, const std::vector<Pair>& pairs,
                            const std::vector<double>& wanted) {
  const auto count = static_cast<Index>(grid.tiles.size());
  Vector<double> phases = Vector<double>::Zero(count);
  std::vector<bool> known(static_cast<size_t>(count), false);
  std::vector<Index> order;
  for (Index t = 0; t < count; ++t) order.push_back(t);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return grid.ring(a) < grid.ring(b); });
  for (const Index start : order) {
    if (known[static_cast<size_t>(start)]) continue;
    known[static_cast<size_t>(start)] = true;
    for (bool more = true; more;) {
      more = false;
      for (size_t i = 0; i < pairs.size(); ++i) {
        const auto a = static_cast<size_t>(pairs[i].a), b = static_cast<size_t>(pairs[i].b);
        if (known[a] == known[b]) continue;
        if (known[a])
          phases(pairs[i].b) = phases(pairs[i].a) - wanted[i];
        else
          phases(pairs[i].a) = phases(pairs[i].b) + wanted[i];
        known[a] = known[b] = more = true;
      }
    }
  }
  return phases;
}

std::vector<TileFactor> factors_of(const TileGrid& grid, const std::vector<Pair>& pairs,
                                   Index upsampling) {
  const auto count = static_cast<Index>(grid.tiles.size());
  std::vector<TileFactor> factors(grid.tiles.size());
  const auto equal = [](const Pair&) { return 1.0; };
  // A tilt is known the better the longer the way along which it is seen.
  const auto seen_along = [](double length, const Pair& p) {
    return std::pow(length / std::max(p.tall, p.wide), 2);
  };
  const Vector<double> down = level_out(
      count, pairs, kTiltPrior, [](const Pair& p) { return -p.down; },
      [&](const Pair& p) { return seen_along(p.tall, p); });
  const Vector<double> right = level_out(
      count, pairs, kTiltPrior, [](const Pair& p) { return -p.right; },
      [&](const Pair& p) { return seen_along(p.wide, p); });
  const Vector<double> gains = level_out(
      count, pairs, kGainPrior, [](const Pair& p) { return -p.log_gain; }, equal);
  for (Index t = 0; t < count; ++t)
    factors[static_cast<size_t>(t)] = {0, down(t), right(t), std::exp(gains(t))};
  std::vector<double> wanted;
  for (const Pair& pair : pairs)
    wanted.push_back(-pair.phase -
                     tilt_at(grid, factors[static_cast<size_t>(pair.a)], pair.a, pair.row, pair.col,
                             upsampling) +
                     tilt_at(grid, factors[static_cast<size_t>(pair.b)], pair.b, pair.row, pair.col,
                             upsampling));
  const Vector<double> rough = rough_phases(grid, pairs, wanted);
  size_t next = 0;
  const Vector<double> change = level_out(
      count, pairs, kAnchor,
      [&](const Pair& pair) {
        return std::remainder(wanted[next++] - rough(pair.a) + rough(pair.b), 2 * std::numbers::pi);
      },
      equal);
  for (Index t = 0; t < count; ++t) factors[static_cast<size_t>(t)].phase = rough(t) + change(t);
  return factors;
}

// The curvature that makes neighbours have the same tilt: down_ab = bend (row_a - row_b), and the
// same to the right, in the sense of least squares.
double common_bend(const TileGrid& grid, const std::vector<Pair>& pairs, Index upsampling) {
  double product = 0, square = 0;
  for (const Pair& pair : pairs) {
    const Tile& a = grid.tiles[static_cast<size_t>(pair.a)];
    const Tile& b = grid.tiles[static_cast<size_t>(pair.b)];
    const double down = middle_row(a, upsampling) - middle_row(b, upsampling);
    const double right = middle_col(a, upsampling) - middle_col(b, upsampling);
    product += pair.down * down + pair.right * right;
    square += down * down + right * right;
  }
  return square > 0 ? product / square : 0;
}

Image corrected(const Image& image, const TileFactor& factor, double bend = 0) {
  Image result(image.rows(), image.cols());
  const double row = 0.5 * static_cast<double>(image.rows() - 1);
  const double col = 0.5 * static_cast<double>(image.cols() - 1);
  for (Index r = 0; r < image.rows(); ++r)
    for (Index c = 0; c < image.cols(); ++c) {
      const double y = static_cast<double>(r) - row, x = static_cast<double>(c) - col;
      const double angle =
          factor.phase + factor.down * y + factor.right * x + 0.5 * bend * (x * x + y * y);
      result(r, c) = image(r, c) * Complex(std::polar(factor.gain, angle));
    }
  return result;
}

std::vector<const Image*> addresses(const std::vector<Image>& images) {
  std::vector<const Image*> all;
  for (const Image& image : images) all.push_back(&image);
  return all;
}

// 1 in the middle of a tile; falls to nearly 0 over what it shares with a neighbour, but for the
// outermost pixels; stays 1 at the edge of the field.
double fade(Index i, Index begin, Index side, Index size, Index before, Index after, Index cut) {
  constexpr double kNothing = 1e-6;
  const auto ramp = [&](Index from_edge, Index width) {
    const double inner = static_cast<double>(width - 2 * cut);
    const double at = (static_cast<double>(from_edge - cut) + 0.5) / std::max(inner, 1.0);
    const double share = std::sin(0.5 * std::numbers::pi * std::clamp(at, 0.0, 1.0));
    return std::max(kNothing, share * share);
  };
  double weight = 1;
  if (begin > 0) weight *= ramp(i, before);
  if (begin + side < size) weight *= ramp(side - 1 - i, after);
  return weight;
}

// Fading of all tiles along one direction: tile k of `count` begins at begins[k].
std::vector<double> fading(const std::vector<Index>& begins, size_t k, Index side, Index size,
                           Index upsampling, Index cut) {
  const Index before = k > 0 ? begins[k - 1] + side - begins[k] : 0;
  const Index after = k + 1 < begins.size() ? begins[k] + side - begins[k + 1] : 0;
  std::vector<double> weights;
  for (Index i = 0; i < side * upsampling; ++i)
    weights.push_back(fade(i, begins[k], side * upsampling, size * upsampling, before * upsampling,
                           after * upsampling, cut * upsampling));
  return weights;
}

// |x_a - x_b| / |x| over what neighbours share.
double mismatch_of(const TileGrid& grid, const std::vector<Image>& images, Index upsampling,
                   const std::vector<Pair>& pairs, Index cut) {
  double square = 0, norm = 0;
  for (const Pair& pair : pairs) {
    const Tile& a = grid.tiles[static_cast<size_t>(pair.a)];
    const Tile& b = grid.tiles[static_cast<size_t>(pair.b)];
    const Tile area = shared(a, b, upsampling, cut);
    const auto one = images[static_cast<size_t>(pair.a)].block(
        area.row - a.row * upsampling, area.col - a.col * upsampling, area.rows, area.cols);
    const auto other = images[static_cast<size_t>(pair.b)].block(
        area.row - b.row * upsampling, area.col - b.col * upsampling, area.rows, area.cols);
    square += static_cast<double>((one - other).squaredNorm());
    norm += 0.5 * static_cast<double>(one.squaredNorm() + other.squaredNorm());
  }
  return norm > 0 ? std::sqrt(square / norm) : 0;
}

}  // namespace

void TileOptions::validate() const {
  require(side >= 32, "tile = ", side, ", at least 32 expected");
  require(overlap >= 0 && overlap <= side / 2, "overlap = ", overlap, ", 0 to ", side / 2,
          " expected");
}

Index TileGrid::ring(Index tile) const {
  const Index y = tile / across - middle() / across, x = tile % across - middle() % across;
  return std::max(std::abs(y), std::abs(x));
}

Index TileGrid::parent(Index tile) const {
  const Index own = ring(tile);
  if (own == 0) return -1;
  Index y = tile / across - middle() / across, x = tile % across - middle() % across;
  if (std::abs(y) == own) y -= y > 0 ? 1 : -1;
  if (std::abs(x) == own) x -= x > 0 ? 1 : -1;
  return at(y + middle() / across, x + middle() % across);
}

TileGrid tile_grid(Index rows, Index cols, const TileOptions& options) {
  options.validate();
  require(rows > 0 && cols > 0, "a field of ", rows, " x ", cols, " pixels, one or more expected");
  TileGrid grid{rows, cols, spread_count(rows, options), spread_count(cols, options), {}};
  const Index tall = spread_side(rows, grid.down, options.overlap);
  const Index wide = spread_side(cols, grid.across, options.overlap);
  for (Index y = 0; y < grid.down; ++y)
    for (Index x = 0; x < grid.across; ++x)
      grid.tiles.push_back(
          {begin_of(y, grid.down, rows, tall), begin_of(x, grid.across, cols, wide), tall, wide});
  return grid;
}

RowMatrix<Complex> join_tiles(const TileGrid& grid, const std::vector<const Image*>& images,
                              Index upsampling, Index cut, Seams& seams) {
  // A tilt of q = x_a / x_b is the difference of two curvatures: bend times the distance.
  seams.bend = common_bend(grid, pairs_of(grid, images, upsampling, cut), upsampling);
  std::vector<Image> placed(images.size());
  for (size_t t = 0; t < images.size(); ++t) placed[t] = corrected(*images[t], {}, seams.bend);
  const std::vector<Pair> pairs = pairs_of(grid, addresses(placed), upsampling, cut);
  seams.factors = factors_of(grid, pairs, upsampling);
  std::vector<Index> tops, lefts;
  for (Index y = 0; y < grid.down; ++y)
    tops.push_back(grid.tiles[static_cast<size_t>(grid.at(y, 0))].row);
  for (Index x = 0; x < grid.across; ++x)
    lefts.push_back(grid.tiles[static_cast<size_t>(grid.at(0, x))].col);
  Image sum = Image::Zero(grid.rows * upsampling, grid.cols * upsampling);
  RowMatrix<float> weight = RowMatrix<float>::Zero(sum.rows(), sum.cols());
  for (size_t t = 0; t < images.size(); ++t) {
    if (images[t]->size() == 0) continue;
    const Tile& tile = grid.tiles[t];
    placed[t] = corrected(placed[t], seams.factors[t]);
    const auto rows =
        fading(tops, t / static_cast<size_t>(grid.across), tile.rows, grid.rows, upsampling, cut);
    const auto cols =
        fading(lefts, t % static_cast<size_t>(grid.across), tile.cols, grid.cols, upsampling, cut);
    for (Index r = 0; r < placed[t].rows(); ++r)
      for (Index c = 0; c < placed[t].cols(); ++c) {
        const auto w =
            static_cast<float>(rows[static_cast<size_t>(r)] * cols[static_cast<size_t>(c)]);
        sum(tile.row * upsampling + r, tile.col * upsampling + c) += w * placed[t](r, c);
        weight(tile.row * upsampling + r, tile.col * upsampling + c) += w;
      }
  }
  seams.mismatch = mismatch_of(grid, placed, upsampling, pairs, cut);
  return (weight.array() > 0).select(sum.array() / weight.array().max(1e-30f), Complex(0));
}

}  // namespace udv
