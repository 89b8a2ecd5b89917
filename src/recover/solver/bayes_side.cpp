// SPDX-License-Identifier: MIT
#include "recover/solver/bayes_side.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/clones.hpp"
#include "core/communicator.hpp"
#include "core/require.hpp"
#include "recover/kernels/pack.hpp"
#include "recover/operators/entry_shares.hpp"
#include "recover/solver/bayes_device.hpp"
#include "udv/core/options.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr Index kMultiple = 4;  // widths of scratch rows

Index padded(Index width) {
  return (width + kMultiple - 1) / kMultiple * kMultiple;
}

constexpr Index packed_size(Index k) {
  return k * (k + 1) / 2;
}

// Calls body with the padded width as a constant where it is small, else with 0.
template <typename Body>
void with_padded(Index width, const Body& body) {
  switch (padded(width)) {
    case 4:
      return body(std::integral_constant<int, 4>());
    case 8:
      return body(std::integral_constant<int, 8>());
    case 12:
      return body(std::integral_constant<int, 12>());
    case 16:
      return body(std::integral_constant<int, 16>());
    default:
      return body(std::integral_constant<int, 0>());
  }
}

constexpr Index kBatch = 4;  // entries that pass through the sums of a line at once

// y += factor x
template <int P, typename Real>
UDV_INLINE void add_row(Real factor, const Real* x, Real* y, Index padded_width) {
  const Index size = P > 0 ? P : padded_width;
#pragma omp simd
  for (Index c = 0; c < size; ++c) y[c] += factor * x[c];
}

// y += factor_0 x_0 + factor_1 x_1 + ..., in this order, for rows x_n of this width, one
// after another, and factors at a distance of `step`.
template <int P, typename Real>
UDV_INLINE void add_rows(const Real* factor, Index step, const Real* x, Real* y,
                         Index padded_width) {
  const Index size = P > 0 ? P : padded_width;
#pragma omp simd
  for (Index c = 0; c < size; ++c) {
    Real sum = y[c];
    for (Index n = 0; n < kBatch; ++n) sum += factor[n * step] * x[n * size + c];
    y[c] = sum;
  }
}

// Sums of one line over its entries, and the normal equations made of them. P is the padded width
// where it is known, else 0.
template <int P, typename Real>
class LineSystem {
 public:
  explicit LineSystem(Index width)
      : D_(width),
        P_(P > 0 ? P : padded(width)),
        outer_(static_cast<size_t>(D_ * P_)),
        right_(static_cast<size_t>(P_)),
        feature_(static_cast<size_t>(kBatch * P_)),
        weighted_(static_cast<size_t>(kBatch * P_)),
        spread_(static_cast<size_t>(packed_size(D_))),
        system_(static_cast<size_t>(D_ * P_)),
        factor_(static_cast<size_t>(D_ * P_)),
        inverse_(static_cast<size_t>(D_ * P_)),
        mean_(static_cast<size_t>(P_)),
        moment_(static_cast<size_t>(D_ * P_)),
        means_(static_cast<size_t>(D_ * P_)),
        mean_sum_(static_cast<size_t>(P_)) {}

  void clear() {
    std::fill(outer_.begin(), outer_.end(), Real(0));
    std::fill(right_.begin(), right_.end(), Real(0));
    std::fill(spread_.begin(), spread_.end(), Real(0));
    total_weight_ = 0;
  }

  // One entry: partner's record, value less mu. finish_sums() comes after the last one.
  UDV_INLINE void add(const Real* partner, double value, Real weight) {
    Real* const F = feature_.data() + queued_ * P_;
    Real* const weighted = weighted_.data() + queued_ * P_;
    F[0] = 1;
    for (Index c = 1; c < D_; ++c) F[c] = partner[c];
    for (Index c = 0; c < D_; ++c) weighted[c] = weight * F[c];
    const Real y = static_cast<Real>(value - static_cast<double>(partner[0]));
    product_[queued_] = weight * y;
    weight_[queued_] = weight;
    record_[queued_] = partner;
    total_weight_ += static_cast<double>(weight);
    if (++queued_ == kBatch) add_queued();
  }

  // What is left in the queue, filled up with entries of weight 0.
  UDV_INLINE void finish_sums() {
    if (queued_ == 0) return;
    for (Index n = queued_; n < kBatch; ++n) {
      std::fill_n(weighted_.data() + n * P_, P_, Real(0));
      product_[n] = weight_[n] = 0;
      record_[n] = record_[0];
    }
    add_queued();
  }

  // Posterior from the sums; returns log det C over the parts that are present.
  double solve(double precision, const Vector<double>& prior) {
    fill_system(precision, prior);
    const double log_det = -2 * cholesky();
    invert();
    std::fill(mean_.begin(), mean_.end(), 0.0);
    for (Index c = 0; c < D_; ++c) {
      const double h = static_cast<double>(right_[at(c)]) -
                       (c > 0 ? static_cast<double>(spread_[at(packed_size(c))]) : 0.0);
      if (prior(c) > 0) add_row<P>(h, inverse_.data() + c * P_, mean_.data(), P_);
    }
    for (double& value : mean_) value *= precision;
    for (Index r = 0; r < D_; ++r)
      if (!(prior(r) > 0)) {
        mean_[at(r)] = 0;
        inverse_[at(r * P_ + r)] = 0;
      }
    return log_det;
  }

  // sum of weight * Var(prediction): tr(C G) + (1, v)^T (sum S) (1, v).
  double spread() const {
    double sum = 0;
    for (Index r = 0; r < D_; ++r)
      for (Index c = 0; c < D_; ++c) {
        const double S = static_cast<double>(spread_[at(packed_at(r, c))]);
        const double G = static_cast<double>(outer_[at(r * P_ + c)]) + (r > 0 && c > 0 ? S : 0.0);
        sum += inverse_[at(r * P_ + c)] * G + part(r) * S * part(c);
      }
    return sum;
  }

  // value less mu and the expected prediction for a partner.
  UDV_INLINE double residual(const Real* partner, double value) const {
    double sum = mean_[0] + static_cast<double>(partner[0]);
    for (Index c = 1; c < D_; ++c) sum += mean_[at(c)] * static_cast<double>(partner[c]);
    return value - sum;
  }

  void store(Real* record) const {
    for (Index c = 0; c < D_; ++c) record[c] = static_cast<Real>(mean_[at(c)]);
    Real* S = record + D_;
    for (Index r = 0; r < D_; ++r)
      for (Index c = 0; c <= r; ++c) *S++ = static_cast<Real>(inverse_[at(r * P_ + c)]);
  }

  // Adds this line to the sums that take_moments() hands over.
  void add_moments() {
    ++lines_;
    add_row<P>(1.0, mean_.data(), mean_sum_.data(), P_);
    for (Index r = 0; r < D_; ++r) {
      add_row<P>(1.0, inverse_.data() + r * P_, moment_.data() + r * P_, P_);
      add_row<P>(mean_[at(r)], mean_.data(), means_.data() + r * P_, P_);
    }
  }

  // Sums over the lines so far: of C, and of (1, m) (1, m)^T.
  void take_moments(Matrix<double>& moment, Matrix<double>& means) const {
    means(0, 0) += static_cast<double>(lines_);
    for (Index c = 0; c < D_; ++c) {
      means(c + 1, 0) += mean_sum_[at(c)];
      for (Index r = c; r < D_; ++r) {
        means(r + 1, c + 1) += means_[at(r * P_ + c)];
        moment(r + 1, c + 1) += moment_[at(r * P_ + c)];
      }
    }
  }

  double total_weight() const { return total_weight_; }

 private:
  static size_t at(Index i) { return static_cast<size_t>(i); }

  // right += F (w y), outer += (w F) F^T, spread += w S over the queue.
  UDV_INLINE void add_queued() {
    const Real* const F = feature_.data();
    add_rows<P>(product_, 1, F, right_.data(), P_);
    for (Index r = 0; r < D_; ++r)
      add_rows<P>(weighted_.data() + r, P_, F, outer_.data() + r * P_, P_);
    Real* const sum = spread_.data();
    const Index size = packed_size(D_);
#pragma omp simd
    for (Index c = 0; c < size; ++c) {
      Real value = sum[c];
      for (Index n = 0; n < kBatch; ++n) value += weight_[n] * record_[n][D_ + c];
      sum[c] = value;
    }
    queued_ = 0;
  }

  static Index packed_at(Index r, Index c) {
    return packed_size(std::max(r, c)) + std::min(r, c);
  }
  double part(Index c) const {
    return c == 0 ? 1 : mean_[at(c)];
  }

  // The upper part of G / sigma^2 + diag(1 / prior), by rows; absent parts decoupled.
  void fill_system(double precision, const Vector<double>& prior) {
    for (Index r = 0; r < D_; ++r)
      for (Index c = 0; c <= r; ++c) {
        double G = static_cast<double>(outer_[at(r * P_ + c)]);
        if (c > 0) G += static_cast<double>(spread_[at(packed_at(r, c))]);
        system_[at(c * P_ + r)] = precision * G;
      }
    for (Index r = 0; r < D_; ++r) {
      if (prior(r) > 0) {
        system_[at(r * P_ + r)] += 1 / prior(r);
        continue;
      }
      for (Index c = 0; c < r; ++c) system_[at(c * P_ + r)] = 0;
      for (Index c = r + 1; c < D_; ++c) system_[at(r * P_ + c)] = 0;
      system_[at(r * P_ + r)] = 1;
    }
  }

  // factor_ = L^T by rows with L L^T = system_; 1 / L_rr on the diagonal. Each row is subtracted
  // from those below it, whose lower parts mean nothing. Returns sum log L_rr.
  double cholesky() {
    double log_sum = 0, product = 1;
    std::copy(system_.begin(), system_.end(), factor_.begin());
    for (Index k = 0; k < D_; ++k) {
      double* const row = factor_.data() + k * P_;
      const double pivot = std::max(row[k], 1e-14 * system_[at(k * P_ + k)]);
      const double scale = 1 / std::sqrt(pivot);
      for (Index c = k + 1; c < D_; ++c) row[c] *= scale;
      row[k] = scale;
      for (Index r = k + 1; r < D_; ++r) add_row<P>(-row[r], row, factor_.data() + r * P_, P_);
      product *= pivot;
      if (product < 1e-100 || product > 1e100 || k + 1 == D_) {
        log_sum += 0.5 * std::log(product);
        product = 1;
      }
    }
    return log_sum;
  }

  // inverse_ = L^-T L^-1; L^-1 by rows replaces system_.
  void invert() {
    double* const X = system_.data();
    std::fill(system_.begin(), system_.end(), 0.0);
    for (Index r = 0; r < D_; ++r) {
      X[r * P_ + r] = 1;
      for (Index c = 0; c < r; ++c)
        add_row<P>(-factor_[at(c * P_ + r)], X + c * P_, X + r * P_, P_);
      const double scale = factor_[at(r * P_ + r)];
      for (Index c = 0; c <= r; ++c) X[r * P_ + c] *= scale;
    }
    std::fill(inverse_.begin(), inverse_.end(), 0.0);
    for (Index k = 0; k < D_; ++k)
      for (Index r = 0; r <= k; ++r)
        add_row<P>(X[k * P_ + r], X + k * P_, inverse_.data() + r * P_, P_);
  }

  Index D_, P_;
  std::vector<Real> outer_, right_, feature_, weighted_, spread_;  // sums F F^T, F y; F, w F; sum S
  std::vector<double> system_, factor_, inverse_, mean_;
  std::vector<double> moment_, means_, mean_sum_;  // sums over lines
  Index lines_ = 0;
  Real product_[kBatch], weight_[kBatch];  // w y and w of the entries in the queue
  const Real* record_[kBatch];
  Index queued_ = 0;
  double total_weight_ = 0;
};

// One block of lines.
template <typename Real>
struct BlockUpdate {
  const BayesEntries<Real>& entries;
  const BayesSide<Real>& other;
  const BayesUpdate& update;
  BayesSide<Real>& own;
  Vector<double>* line_squares;

  template <typename Visit>
  UDV_INLINE void visit(Index line, const Visit& visit_entry) const {
    const Index stride = other.stride();
    const Real* const records = other.records.data();
    for (const SparseLines& tile : entries.tiles)
      for (Index s = tile.first[line]; s < tile.first[line + 1]; ++s) {
        const Index t = tile.entry[s];
        visit_entry(records + tile.other[s] * stride, entries.value[t] - update.mean,
                    entries.weight ? entries.weight[t] : Real(1));
      }
  }

  void set_prior(Real* record) const {
    std::fill(record, record + own.stride(), Real(0));
    for (Index c = 0; c < own.width; ++c)
      record[own.width + packed_size(c) + c] = static_cast<Real>(own.prior(c));
  }

  template <int P>
  UDV_CLONED void run(std::integral_constant<int, P>, Index begin, Index end,
                      BayesSums& sums) const {
    LineSystem<P, Real> line(own.width);
    for (Index i = begin; i < end; ++i) {
      line.clear();
      visit(i, [&](const Real* partner, double value, Real weight)
                   UDV_INLINE_BODY { line.add(partner, value, weight); });
      line.finish_sums();
      double squares = 0;
      if (line.total_weight() > 0) {
        ++sums.lines;
        sums.log_det += line.solve(1 / update.variance, own.prior);
        line.store(own.record(i));
        line.add_moments();
        if (update.measure) {
          double residual = 0;
          visit(i, [&](const Real* partner, double value, Real weight) UDV_INLINE_BODY {
            const double r = line.residual(partner, value), w = static_cast<double>(weight);
            residual += w * r;
            squares += w * r * r;
          });
          squares += line.spread();
          sums.residual += residual;
          sums.squares += squares;
        }
      } else {
        set_prior(own.record(i));
      }
      if (line_squares) (*line_squares)(i) = squares;
    }
    line.take_moments(sums.moment, sums.means);
  }
};

template <typename Real>
Index work_of(const BayesEntries<Real>& entries, Index lines, Index width) {
  return entries.total * width * width + lines * width * width * width;
}

// Blocks depend on sizes alone.
Index lines_in_block(Index work, Index lines) {
  const Index work_per_block = many_entries() / kLineBlocks;
  const Index blocks = std::clamp<Index>(work / work_per_block, 1, kLineBlocks);
  return (lines + blocks - 1) / blocks;
}

// Whole blocks for each process, so that sums over blocks are those of one process.
template <typename Real>
LineShares block_shares(const BayesEntries<Real>& entries, Index work, Index lines,
                        Index per_block) {
  if (entries.shares) return *entries.shares;
  if (communicator().is_alone() || work < communicator().smallest_work()) return {};
  std::vector<Index> before{0};
  for (Index begin = 0; begin < lines; begin += per_block) {
    const Index end = std::min(lines, begin + per_block);
    Index weight = end - begin;
    for (const SparseLines& tile : entries.tiles) weight += tile.first[end] - tile.first[begin];
    before.push_back(before.back() + weight);
  }
  LineShares shares = fair_shares(before);
  for (Index& bound : shares.bounds) bound = std::min(lines, bound * per_block);
  return shares;
}

// log_det, residual, squares, lines, then moment and means.
void write_sums(const BayesSums& sums, double* to) {
  *to++ = sums.log_det;
  *to++ = sums.residual;
  *to++ = sums.squares;
  *to++ = static_cast<double>(sums.lines);
  to = std::copy_n(sums.moment.data(), sums.moment.size(), to);
  std::copy_n(sums.means.data(), sums.means.size(), to);
}

void read_sums(const double* from, BayesSums& sums) {
  sums.log_det = *from++;
  sums.residual = *from++;
  sums.squares = *from++;
  sums.lines = static_cast<Index>(*from++);
  std::copy_n(from, sums.moment.size(), sums.moment.data());
  std::copy_n(from + sums.moment.size(), sums.means.size(), sums.means.data());
}

// The sums of all blocks, where each process has those of its own.
void gather_sums(const LineShares& shares, Index per_block, std::vector<BayesSums>& parts) {
  if (!shares.shared()) return;
  const Index size = 4 + 2 * parts.front().moment.size();
  std::vector<double> numbers(parts.size() * static_cast<size_t>(size));
  const auto place = [&](size_t b) { return numbers.data() + static_cast<Index>(b) * size; };
  for (size_t b = 0; b < parts.size(); ++b) write_sums(parts[b], place(b));
  LineShares blocks = shares;
  for (Index& bound : blocks.bounds) bound = (bound + per_block - 1) / per_block;
  blocks.gather(numbers.data(), size * static_cast<Index>(sizeof(double)));
  for (size_t b = 0; b < parts.size(); ++b) read_sums(place(b), parts[b]);
}

}  // namespace

template <typename Real>
BayesSide<Real>::BayesSide(Index num_lines, Index w, bool is_on_device, bool is_in_team)
    : lines(num_lines),
      width(w),
      on_device(is_on_device),
      prior(Vector<double>::Zero(w)),
      in_team(is_in_team) {
  make_room();
  if (on_device) away.set_zero();
}

template <typename Real>
void BayesSide<Real>::make_room() {
  if (on_device)
    away.resize(lines * device::record_stride<Real>(width));
  else if (records.empty())
    records = new_records();
}

template <typename Real>
void BayesSide<Real>::release() {
  records.clear();
  away.clear();
}

template <typename Real>
void BayesSide<Real>::bring_to_host() {
  if (!on_device) return;
  const Index apart = device::record_stride<Real>(width);
  device::Array<Real> plain(lines * stride());
  device::kernels<Real>().restride(away.data(), apart, plain.data(), stride(), lines, stride());
  away.clear();
  records = new_records();
  plain.download(records.data());
  on_device = false;
}

// Part r of w is parts_r of the present one, or absent where that is negative.
template <typename Real>
void BayesSide<Real>::rearrange_away(const std::vector<std::int64_t>& parts) {
  const auto next_width = static_cast<Index>(parts.size());
  if (next_width > device::kMostBayesWidth)
    throw OptionError("device", message("cuda takes ", device::kMostBayesWidth - 1,
                                        " columns of noisy entries at most, more are needed"));
  if (away.size() > 0) {
    device::Array<Real> next(lines * device::record_stride<Real>(next_width));
    device::kernels<Real>().bayes_rearrange(away.data(), width, lines, parts.data(), next_width,
                                            next.data());
    away.swap(next);
  }
  width = next_width;
}

// Columns on the device, a line every `apart` numbers.
template <typename Real>
void BayesSide<Real>::set_means_away(Index first, const double* columns, Index count, Index apart) {
  if (away.size() > 0)
    device::kernels<Real>().bayes_set_means(away.data(), width, lines, first, count, columns,
                                            apart);
}

template <typename Real>
void BayesSide<Real>::get_means_away(Index first, Index count, double* out) const {
  device::Array<double> means(lines * count);
  device::kernels<Real>().bayes_means(away.data(), width, lines, first, count, means.data());
  means.download(out);
}

template <typename Real>
void BayesSide<Real>::get_variances(float* out) const {
  device::Array<float> numbers(lines * 2 * width);
  device::kernels<Real>().bayes_variances(away.data(), width, lines, numbers.data());
  numbers.download(out);
}

template <typename Real>
void BayesSide<Real>::remove_bias() {
  prior(0) = 0;
  if (on_device) {
    std::vector<std::int64_t> parts(static_cast<size_t>(width));
    std::iota(parts.begin(), parts.end(), 0);
    parts[0] = -1;
    return rearrange_away(parts);
  }
  meet();
  for (Index i = first_line(); i < last_line(); ++i) {
    record(i)[0] = 0;
    for (Index c = 0; c < width; ++c) record(i)[width + packed_size(c)] = 0;
  }
  meet();
}

template <typename Real>
void BayesSide<Real>::set_bias(const Vector<double>& bias) {
  if (on_device) {
    const device::Array<double> given(bias.data(), bias.size());
    return set_means_away(0, given.data(), 1, 1);
  }
  meet();
  for (Index i = first_line(); i < last_line(); ++i) record(i)[0] = static_cast<Real>(bias(i));
  meet();
}

template <typename Real>
Vector<double> BayesSide<Real>::bias() const {
  Vector<double> result(lines);
  if (on_device) {
    get_means_away(0, 1, result.data());
    return result;
  }
  for (Index i = 0; i < lines; ++i) result(i) = static_cast<double>(record(i)[0]);
  return result;
}

template <typename Real>
void BayesSide<Real>::get_factors(Rows<double> out) const {
  if (on_device) return get_means_away(1, width - 1, out.data());
  for (Index i = 0; i < lines; ++i)
    for (Index c = 0; c + 1 < width; ++c) out(i, c) = static_cast<double>(record(i)[c + 1]);
}

template <typename Real>
void BayesSide<Real>::keep(const std::vector<Index>& parts) {
  const Index old_width = width, old_stride = stride();
  std::vector<Real> old(static_cast<size_t>(old_stride));
  Vector<double> kept(static_cast<Index>(parts.size()));
  for (size_t c = 0; c < parts.size(); ++c) kept(static_cast<Index>(c)) = prior(parts[c]);
  prior = kept;
  if (on_device) return rearrange_away({parts.begin(), parts.end()});
  width = kept.size();
  // A record of this process alone moves forward in place.
  TeamArray<Real> others = records.is_shared() ? new_records() : TeamArray<Real>();
  Real* const next = records.is_shared() ? others.data() : records.data();
  for (Index i = first_line(); i < last_line(); ++i) {
    std::copy_n(records.data() + i * old_stride, old_stride, old.data());
    Real* const now = next + i * stride();
    for (size_t r = 0; r < parts.size(); ++r) {
      now[r] = old[static_cast<size_t>(parts[r])];
      for (size_t c = 0; c <= r; ++c) {
        const Index a = std::max(parts[r], parts[c]), b = std::min(parts[r], parts[c]);
        now[width + packed_size(static_cast<Index>(r)) + static_cast<Index>(c)] =
            old[static_cast<size_t>(old_width + packed_size(a) + b)];
      }
    }
  }
  if (records.is_shared())
    records = std::move(others);
  else
    records.shrink(lines * stride());
  meet();
}

// New parts with these prior variances, their means 0.
template <typename Real>
void BayesSide<Real>::widen_away(const Vector<double>& prior_variance) {
  std::vector<std::int64_t> parts(static_cast<size_t>(width + prior_variance.size()), -1);
  std::iota(parts.begin(), parts.begin() + width, 0);
  rearrange_away(parts);
  const Vector<double> before = prior;
  prior.resize(width);
  prior << before, prior_variance;
}

template <typename Real>
void BayesSide<Real>::append(const device::DeviceMatrix<double>& columns,
                             const Vector<double>& prior_variance) {
  const Index first = width;
  widen_away(prior_variance);
  set_means_away(first, columns.data(), columns.cols(), columns.stride());
}

template <typename Real>
void BayesSide<Real>::append(const ConstRows<double>& columns,
                             const Vector<double>& prior_variance) {
  if (on_device) {
    const Index first = width;
    const device::Array<double> given(columns.data(), columns.size());
    widen_away(prior_variance);
    return set_means_away(first, given.data(), columns.cols(), columns.cols());
  }
  BayesSide next(lines, width + columns.cols(), false, in_team);
  next.prior << prior, prior_variance;
  for (Index i = next.first_line(); i < next.last_line(); ++i) {
    const Real* const old = record(i);
    Real* const now = next.record(i);
    std::copy_n(old, width, now);
    for (Index c = 0; c < columns.cols(); ++c) now[width + c] = static_cast<Real>(columns(i, c));
    std::copy_n(old + width, packed_size(width), now + next.width);
  }
  next.meet();
  *this = std::move(next);
}

template <typename Real>
void BayesSide<Real>::transform(const Matrix<double>& T, const Vector<double>& shift) {
  if (on_device) {
    const RowMatrix<double> map = T;
    return device::kernels<Real>().bayes_transform(away.data(), lines, width, map.data(),
                                                   shift.data());
  }
  constexpr Index kLinesPerBlock = 256;
  const Index first = fresh.begin();
  parallel_blocks(fresh.end(lines) - first, kLinesPerBlock, [&](Index begin, Index end) {
    Matrix<double> C(width, width), half(width, width);
    Vector<double> m(width), turned(width);
    for (Index i = first + begin; i < first + end; ++i) {
      Real* const now = record(i);
      for (Index c = 0; c < width; ++c) m(c) = static_cast<double>(now[c]);
      turned.noalias() = T * m;
      turned += shift;
      for (Index c = 0; c < width; ++c) now[c] = static_cast<Real>(turned(c));
      Real* S = now + width;
      for (Index r = 0; r < width; ++r)
        for (Index c = 0; c <= r; ++c) C(r, c) = C(c, r) = static_cast<double>(*S++);
      half.noalias() = T.lazyProduct(C);
      C.noalias() = half.lazyProduct(T.transpose());
      S = now + width;
      for (Index r = 0; r < width; ++r)
        for (Index c = 0; c <= r; ++c) *S++ = static_cast<Real>(C(r, c));
    }
  });
  fresh.gather(records.data(), stride() * static_cast<Index>(sizeof(Real)));
  fresh = {};
}

template <typename Real>
BayesSums update_side(const BayesEntries<Real>& entries, const BayesSide<Real>& other,
                      const BayesUpdate& update, BayesSide<Real>& own,
                      Vector<double>* line_squares) {
  if (entries.device) return entries.device->update(entries.side, other, update, own, line_squares);
  const Index D = own.width;
  const Index work = work_of(entries, own.lines, D);
  const Index per_block = lines_in_block(work, own.lines);
  const LineShares shares = block_shares(entries, work, own.lines, per_block);
  const Index first = shares.begin(), count = shares.end(own.lines) - first;
  const Index blocks = (own.lines + per_block - 1) / per_block;
  BayesSums none;
  none.moment = none.means = Matrix<double>::Zero(D + 1, D + 1);
  std::vector<BayesSums> parts(static_cast<size_t>(blocks), none);
  if (line_squares) line_squares->resize(own.lines);
  const BlockUpdate<Real> block{entries, other, update, own, line_squares};
  with_padded(D, [&](auto width) {
    parallel_blocks(count, per_block, [&](Index begin, Index end) {
      block.run(width, first + begin, first + end,
                parts[static_cast<size_t>((first + begin) / per_block)]);
    });
  });
  if (update.gather)
    shares.gather(own.records.data(), own.stride() * static_cast<Index>(sizeof(Real)));
  else
    own.fresh = shares;
  if (line_squares) shares.gather(line_squares->data(), sizeof(double));
  gather_sums(shares, per_block, parts);
  BayesSums sums = std::move(none);
  for (const BayesSums& part : parts) {
    sums.lines += part.lines;
    sums.log_det += part.log_det;
    sums.residual += part.residual;
    sums.squares += part.squares;
    sums.moment += part.moment;
    sums.means += part.means;
  }
  sums.means = Matrix<double>(sums.means.selfadjointView<Eigen::Lower>());
  sums.moment = Matrix<double>(sums.moment.selfadjointView<Eigen::Lower>()) + sums.means;
  return sums;
}

#define UDV_INSTANTIATE(Real)                                                       \
  template struct BayesSide<Real>;                                                  \
  template BayesSums update_side(const BayesEntries<Real>&, const BayesSide<Real>&, \
                                 const BayesUpdate&, BayesSide<Real>&, Vector<double>*);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)

}  // namespace udv
