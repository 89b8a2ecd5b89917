// SPDX-License-Identifier: MIT
#include "recover/solver/bayes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/sums.hpp"
#include "recover/operators/entry_shares.hpp"
#include "recover/operators/measured_sums.hpp"
#include "recover/operators/team_columns.hpp"
#include "recover/solver/bayes_gauge.hpp"
#include "recover/solver/bias_fit.hpp"
#include "recover/solver/live_lines.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr double kSmallShare = 0.01;  // of a column's moments that its means must have
constexpr Index kSweepsBeforePruning = 5;
constexpr double kSmallest = 1e-12;     // prior variance, of the variance of the data
constexpr double kSmallestCount = 0.1;  // expectation of a count, of the average
constexpr Index kEntryBlock = 1 << 15;

size_t at(Index i) {
  return static_cast<size_t>(i);
}

// Sum of what add(row, column, entry, sum) adds for each entry, row by row.
template <typename Add>
double sum_by_rows(const EntriesOperator<double>& op, const Add& add) {
  const SparseLines rows = op.by_row();
  return sum_over<double>(op, [&](Index begin, Index end) {
    const auto* const after = std::upper_bound(rows.first + rows.begin, rows.first + rows.count,
                                               static_cast<std::int32_t>(begin));
    double sum = 0;
    Index i = std::max<Index>(after - rows.first - 1, rows.begin);
    for (; i < rows.count && rows.first[i] < end; ++i)
      for (auto s = rows.first[i]; s < rows.first[i + 1]; ++s)
        add(i, Index{rows.other[s]}, Index{rows.entry[s]}, sum);
    return sum;
  });
}

}  // namespace

template <typename Real>
BayesFit<Real>::BayesFit(const EntriesOperator<double>& op, const Vector<double>& b)
    : op_(&op), in_dead_lines_(num_entries_in_dead_lines(op, b)) {
  if (in_dead_lines_ > 0) live_ = live_lines(op, b);
  const Vector<double>& root = op.root_weights();
  if (root.size() > 0) {
    auto values = std::make_shared<Vector<double>>(b);
    for (Index t = 0; t < b.size(); ++t) (*values)(t) = root(t) > 0 ? b(t) / root(t) : 0;
    own_values_ = std::move(values);
    value_ = own_values_->data();
  } else {
    value_ = b.data();
  }
  if (op.is_spread()) col_values_ = std::make_shared<std::vector<double>>(to_columns(op, value_));
  if (op.device()) device_.emplace(op, value_);
  weigh();
}

// weight_ = w_t times what the noise model adds; nothing where all are 1.
template <typename Real>
void BayesFit<Real>::weigh() {
  const Vector<double>& root = op_->root_weights();
  const Index n = op_->num_measurements();
  num_entries_ = static_cast<double>(n - in_dead_lines_);
  total_weight_ = static_cast<double>(n);
  half_log_weight_ = 0;
  if (root.size() == 0 && noise_ == NoiseKind::kEqual) return;
  if (noise_ == NoiseKind::kBySignal)
    signal_ = std::make_shared<const Signal>(Signal{rows_.means(), cols_.means(), mean_});
  if (device_) return weigh_on_device();
  Vector<double> x;
  if (noise_ == NoiseKind::kBySignal) x = fitted();
  // Copies of a fit share their weights until one of them changes them.
  weight_ = std::make_shared<std::vector<Real>>(at(op_->num_own()));
  // What is known of an entry's weight, and all of it.
  const auto weigh_entry = [&](Index i, Index j, Index t) {
    double known = root.size() > 0 ? root(t) * root(t) : 1;
    if (x.size() > 0) known /= std::max(x(t), smallest_count_);
    const double all = known * (row_noise_.any() ? row_noise_.expected()(i) : 1) *
                       (col_noise_.any() ? col_noise_.expected()(j) : 1);
    return std::pair(known, all);
  };
  const auto add = [&](const auto& term) {
    return sum_by_rows(*op_, [&](Index i, Index j, Index t, double& sum) {
      if (root.size() == 0 || root(t) * root(t) > 0) term(i, j, t, sum);
    });
  };
  total_weight_ = add([&](Index i, Index j, Index t, double& sum) {
    const double all = weigh_entry(i, j, t).second;
    (*weight_)[at(t)] = static_cast<Real>(all);
    sum += all;
  });
  num_entries_ =
      add([](Index, Index, Index, double& sum) { sum += 1; }) - static_cast<double>(in_dead_lines_);
  half_log_weight_ = add([&](Index i, Index j, Index t, double& sum) {
    sum += 0.5 * std::log(weigh_entry(i, j, t).first);
  });
  if (op_->is_spread())
    col_weight_ = std::make_shared<std::vector<Real>>(to_columns(*op_, weight_->data()));
}

template <typename Real>
void BayesFit<Real>::weigh_on_device() {
  typename BayesOnDevice<Real>::NoiseLevels levels;
  if (row_noise_.any()) levels.rows = &row_noise_.expected();
  if (col_noise_.any()) levels.cols = &col_noise_.expected();
  if (noise_ == NoiseKind::kBySignal) levels.smallest_count = smallest_count_;
  const auto sums = device_->weigh(levels, rows_, cols_, mean_);
  num_entries_ = sums.entries - static_cast<double>(in_dead_lines_);
  total_weight_ = sums.total;
  half_log_weight_ = sums.half_log;
}

template <typename Real>
device::ResidualStatistics BayesFit<Real>::residuals_on_device(double limit) const {
  return device_->residuals(rows_, cols_, mean_, limit);
}

// Entries of each line that say something of its noise.
template <typename Real>
Vector<double> BayesFit<Real>::counts(bool by_rows) const {
  if (in_dead_lines_ == 0) {
    const std::vector<Index>& sizes = by_rows ? op_->row_sizes() : op_->col_sizes();
    return Eigen::Map<const Vector<Index>>(sizes.data(), static_cast<Index>(sizes.size()))
        .cast<double>();
  }
  const BayesEntries<Real> entries = by_rows ? row_entries() : col_entries();
  const Vector<double>& root = op_->root_weights();
  Vector<double> count = Vector<double>::Zero(by_rows ? rows_.lines : cols_.lines);
  for (const SparseLines& tile : entries.tiles)
    for (Index i = tile.begin; i < tile.count; ++i)
      for (auto s = tile.first[i]; s < tile.first[i + 1]; ++s) {
        const Index j = tile.other[s];
        const bool dead = in_dead_lines_ > 0 && !(by_rows ? live_.hold(i, j) : live_.hold(j, i));
        if (!dead && (root.size() == 0 || root(tile.entry[s]) > 0)) count(i) += 1;
      }
  if (entries.shares) entries.shares->gather(count.data(), sizeof(double));
  return count;
}

template <typename Real>
LineNoise BayesFit<Real>::equal_noise(bool by_rows) const {
  const EntrySpread* const spread = op_->shares().spread.get();
  if (!spread) return LineNoise(counts(by_rows));
  return LineNoise(counts(by_rows), by_rows ? spread->rows : spread->cols);
}

template <typename Real>
double BayesFit<Real>::gain_of_line_noise(bool by_rows) {
  const BayesEntries<Real> entries = by_rows ? row_entries() : col_entries();
  BayesSide<Real>& own = by_rows ? rows_ : cols_;
  BayesSums& sums = by_rows ? row_sums_ : col_sums_;
  Vector<double> squares;
  sums = update_side(entries, by_rows ? cols_ : rows_, {mean_, variance_, true}, own, &squares);
  LineNoise noise = equal_noise(by_rows);
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round)
    noise.update(squares.cwiseProduct(noise.expected()), variance_);
  return noise.log_likelihood() -
         0.5 * squares.dot(noise.expected() - Vector<double>::Ones(own.lines)) / variance_;
}

template <typename Real>
void BayesFit<Real>::set_noise(NoiseKind kind) {
  noise_ = kind;
  const bool both = kind == NoiseKind::kByRowAndCol;
  row_noise_ = col_noise_ = {};
  if (both || kind == NoiseKind::kByRow) row_noise_ = equal_noise(true);
  if (both || kind == NoiseKind::kByCol) col_noise_ = equal_noise(false);
  if (kind == NoiseKind::kBySignal) {
    const double sum = sum_over<double>(*op_, [&](Index begin, Index end) {
      double part = 0;
      for (Index t = begin; t < end; ++t) part += std::abs(value_[t]);
      return part;
    });
    const double average = sum / static_cast<double>(op_->num_measurements());
    smallest_count_ = kSmallestCount * average;
    // The same noise on average in the new units.
    if (!fixed_variance_) variance_ /= average;
  }
  weigh();
}

template <typename Real>
void BayesFit<Real>::update_rows() {
  rows_.make_room();
  const bool by_rows = row_noise_.any();
  Vector<double> squares;
  row_sums_ = update_side(row_entries(), cols_, {mean_, variance_, by_rows}, rows_,
                          by_rows ? &squares : nullptr);
  if (by_rows) row_noise_.update(squares, variance_);
  if (by_rows || noise_ == NoiseKind::kBySignal) weigh();
}

template <typename Real>
void BayesFit<Real>::update_cols() {
  const bool by_cols = col_noise_.any();
  Vector<double> squares;
  // reparametrise() follows, and gathers.
  col_sums_ = update_side(col_entries(), rows_, {mean_, variance_, true, false}, cols_,
                          by_cols ? &squares : nullptr);
  if (!by_cols) return;
  const Vector<double> before = col_noise_.expected();
  col_noise_.update(squares, variance_);
  // The sums in the new units of the noise.
  col_sums_.squares = 0;
  for (Index j = 0; j < squares.size(); ++j)
    col_sums_.squares += squares(j) * col_noise_.expected()(j) / before(j);
  col_sums_.residual = 0;
  weigh();
}

template <typename Real>
BayesEntries<Real> BayesFit<Real>::row_entries() const {
  const EntrySpread* const spread = op_->shares().spread.get();
  return {{op_->by_row()},
          value_,
          weight_ ? weight_->data() : nullptr,
          op_->num_measurements(),
          spread ? &spread->rows : nullptr,
          device_ ? &*device_ : nullptr,
          0};
}

template <typename Real>
BayesEntries<Real> BayesFit<Real>::col_entries() const {
  const EntrySpread* const spread = op_->shares().spread.get();
  const auto& weight = spread ? col_weight_ : weight_;
  BayesEntries<Real> entries{{},
                             spread ? col_values_->data() : value_,
                             weight ? weight->data() : nullptr,
                             op_->num_measurements(),
                             spread ? &spread->cols : nullptr,
                             device_ ? &*device_ : nullptr,
                             1};
  for (Index t = 0; t < op_->by_col().tiles(); ++t) entries.tiles.push_back(op_->by_col().tile(t));
  return entries;
}

// sum w r and sum w r^2 over all entries.
template <typename Real>
std::pair<double, double> BayesFit<Real>::sums_of_values() {
  if (device_) {
    mean_ = 0;
    const auto all = residuals_on_device();
    return {all.sum, all.squares};
  }
  const double sum = sum_over<double>(*op_, [&](Index begin, Index end) {
    double part = 0;
    for (Index t = begin; t < end; ++t) part += weight_of(t) * value_[t];
    return part;
  });
  const double squares = sum_over<double>(*op_, [&](Index begin, Index end) {
    double part = 0;
    for (Index t = begin; t < end; ++t) part += weight_of(t) * value_[t] * value_[t];
    return part;
  });
  return {sum, squares};
}

template <typename Real>
double BayesFit<Real>::squared_residuals() const {
  const Vector<double> x = fitted();
  return sum_over<double>(*op_, [&](Index begin, Index end) {
    double part = 0;
    for (Index t = begin; t < end; ++t)
      part += weight_of(t) * (value_[t] - x(t)) * (value_[t] - x(t));
    return part;
  });
}

template <typename Real>
void BayesFit<Real>::start(Centering center) {
  center_ = center;
  rows_ = BayesSide<Real>(op_->rows(), 1, device_.has_value(), op_->is_spread());
  cols_ = BayesSide<Real>(op_->cols(), 1, device_.has_value(), op_->is_spread());
  const auto [sum, squares] = sums_of_values();
  mean_ = center == Centering::kNone ? 0 : sum / total_weight_;
  const double spread = squares / total_weight_ - mean_ * (2 * sum / total_weight_ - mean_);
  if (!fixed_variance_) variance_ = std::max(spread, 1e-30 * squares / total_weight_);
  if (has_rows(center)) rows_.prior(0) = spread / 4;
  if (has_cols(center)) cols_.prior(0) = spread / 4;
  since_growth_ = pruned_ = tied_sweeps_ = 0;
}

template <typename Real>
void BayesFit<Real>::set_biases(const Biases& biases) {
  if (center_ != Centering::kNone) mean_ = biases.global;
  const auto set = [](const Vector<double>& bias, BayesSide<Real>& side) {
    if (bias.size() > 0 && side.prior(0) > 0) side.set_bias(bias);
  };
  set(biases.row, rows_);
  set(biases.col, cols_);
}

template <typename Real>
void BayesFit<Real>::fix_variance(double variance) {
  variance_ = variance;
  fixed_variance_ = true;
}

template <typename Real>
void BayesFit<Real>::append(const StackedFactors<double>& Z) {
  if (Z.rank() == 0) return;
  const RowMatrix<double> U = Z.U(), V = Z.V();
  rows_.append(U, mean_squares(U, {}));
  cols_.append(V, mean_squares(V, {}));
  since_growth_ = tied_sweeps_ = 0;
}

template <typename Real>
void BayesFit<Real>::measure_noise(double freedom) {
  if (fixed_variance_) return;
  const double squares = device_ ? residuals_on_device().squares : squared_residuals();
  variance_ = std::max(squares / std::max(0.1 * num_entries_, num_entries_ - freedom), 1e-300);
}

// By the operator's weights: A*(z) has w_t (value_t - fitted_t) at entry t.
template <typename Real>
Vector<double> BayesFit<Real>::weighted_residual() const {
  Vector<double> z = fitted();
  const Vector<double>& root = op_->root_weights();
  for (Index t = 0; t < z.size(); ++t)
    z(t) = (value_[t] - z(t)) * (weight_ ? static_cast<double>((*weight_)[at(t)]) : 1) /
           (root.size() > 0 && root(t) > 0 ? root(t) : 1);
  return z;
}

template <typename Real>
void BayesFit<Real>::restrict_to(Centering center) {
  // Biases no larger than the errors of their least-squares estimates would not be worth a column.
  const double row_error = variance_ * static_cast<double>(op_->rows()) / num_entries_;
  const double col_error = variance_ * static_cast<double>(op_->cols()) / num_entries_;
  StackedFactors<double> Z(op_->rows(), op_->cols(), false, 0);
  const auto add = [&](const Vector<double>& u, const Vector<double>& v) {
    Z.Z.conservativeResize(Eigen::NoChange, Z.rank() + 1);
    Z.Z.col(Z.rank() - 1) << u, v;
  };
  const Biases now = biases();
  const double rows_square = now.row.size() > 0 ? now.row.squaredNorm() / now.row.size() : 0;
  const double cols_square = now.col.size() > 0 ? now.col.squaredNorm() / now.col.size() : 0;
  const bool lost_mean = center == Centering::kNone && center_ != Centering::kNone;
  const bool lost_rows = has_rows(center_) && !has_rows(center);
  const bool lost_cols = has_cols(center_) && !has_cols(center);
  const double mean_for_rows = lost_mean ? mean_ : 0;
  const bool rows_column =
      (lost_rows && rows_square > row_error) || mean_for_rows * mean_for_rows > row_error;
  if (rows_column) {
    Vector<double> u = lost_rows ? now.row : Vector<double>::Zero(op_->rows());
    u.array() += mean_for_rows;
    const double balance = std::sqrt(std::max(1e-300, std::sqrt(u.squaredNorm() / u.size())));
    add(u / balance, Vector<double>::Constant(op_->cols(), balance));
  }
  if (lost_cols && cols_square > col_error) {
    const double balance = std::sqrt(std::sqrt(cols_square));
    add(Vector<double>::Constant(op_->rows(), balance), now.col / balance);
  }
  if (lost_rows) rows_.remove_bias();
  if (lost_cols) cols_.remove_bias();
  if (lost_mean) mean_ = 0;
  center_ = center;
  append(Z);
}

template <typename Real>
void BayesFit<Real>::learn_noise() {
  double squares = col_sums_.squares;
  if (center_ != Centering::kNone) {
    const double step = col_sums_.residual / total_weight_;
    mean_ += step;
    squares -= step * col_sums_.residual;
  }
  col_sums_.squares = squares;
  if (!fixed_variance_) variance_ = std::max(squares / num_entries_, 1e-300);
}

template <typename Real>
void BayesFit<Real>::learn_priors() {
  const auto learn = [&](const BayesSums& sums, BayesSide<Real>& side) {
    const double smallest = kSmallest * variance_;
    for (Index c = 0; c < side.width; ++c)
      if (side.prior(c) > 0)
        side.prior(c) =
            std::max(sums.moment(c + 1, c + 1) / static_cast<double>(sums.lines), smallest);
  };
  learn(row_sums_, rows_);
  learn(col_sums_, cols_);
}

template <typename Real>
void BayesFit<Real>::tie_priors() {
  if (rank() == 0) return;
  for (Vector<double>* const prior : {&rows_.prior, &cols_.prior})
    prior->tail(rank()).setConstant(prior->tail(rank()).maxCoeff());
}

// The rows are about to be updated, so only the columns and all moments are changed.
template <typename Real>
void BayesFit<Real>::reparametrise() {
  BayesGauge gauge(row_sums_, col_sums_, mean_);
  if (has_rows(center_)) gauge.shift_to_rows(rows_.prior, cols_.prior);
  if (has_cols(center_)) gauge.shift_to_cols(rows_.prior, cols_.prior);
  if (has_rows(center_)) gauge.center_rows();
  if (has_cols(center_)) gauge.center_cols();
  gauge.rotate();
  cols_.transform(gauge.cols_map(), gauge.cols_shift());
}

// E log p - E log q with Gaussian posteriors.
template <typename Real>
double BayesFit<Real>::evidence() const {
  const auto side_part = [](const BayesSums& sums, const Vector<double>& prior) {
    double part = sums.log_det;
    const auto lines = static_cast<double>(sums.lines);
    for (Index c = 0; c < prior.size(); ++c)
      if (prior(c) > 0)
        part += lines * (1 - std::log(prior(c))) - sums.moment(c + 1, c + 1) / prior(c);
    return 0.5 * part;
  };
  const double noise =
      -0.5 * (num_entries_ * std::log(2 * M_PI * variance_) + col_sums_.squares / variance_);
  return noise + half_log_weight_ + row_noise_.log_likelihood() + col_noise_.log_likelihood() +
         side_part(row_sums_, rows_.prior) + side_part(col_sums_, cols_.prior);
}

template <typename Real>
double BayesFit<Real>::sweep() {
  update_rows();
  update_cols();
  learn_noise();
  learn_priors();
  reparametrise();
  learn_priors();
  if (since_growth_ < tied_sweeps_) tie_priors();
  ++sweeps_;
  ++since_growth_;
  return bound_ = evidence();
}

template <typename Real>
void BayesFit<Real>::finish() {
  rows_.make_room();
  row_sums_ = update_side(row_entries(), cols_, {mean_, variance_, false}, rows_);
}

template <typename Real>
Index BayesFit<Real>::prune() {
  std::vector<Index> kept = {0};
  for (Index c = 1; c < rows_.width; ++c) {
    const double means = row_sums_.means(c + 1, c + 1) * col_sums_.means(c + 1, c + 1);
    const double all = row_sums_.moment(c + 1, c + 1) * col_sums_.moment(c + 1, c + 1);
    if (means >= kSmallShare * all) kept.push_back(c);
  }
  const Index removed = rows_.width - static_cast<Index>(kept.size());
  if (removed == 0) return 0;
  rows_.keep(kept);
  cols_.keep(kept);
  pruned_ += removed;
  return removed;
}

template <typename Real>
bool BayesFit<Real>::settled(double gain, const BayesStop& stop) const {
  if (gain < stop.tolerance * num_entries_) return true;
  // Gains shrink from sweep to sweep: ten more of this size are not to be expected.
  constexpr double kExpected = 10;
  return since_growth_ >= 2 * kSweepsBeforePruning && bound_ + kExpected * gain < stop.to_beat;
}

template <typename Real>
void BayesFit<Real>::run(const BayesStop& stop, BayesRun& run) {
  while (run.sweeps < stop.max_sweeps) {
    const double before = std::exchange(run.bound, sweep());
    ++run.sweeps;
    const bool removed = stop.prune && since_growth_ >= kSweepsBeforePruning && prune() > 0;
    const bool wait = removed || since_growth_ <= std::max<Index>(1, tied_sweeps_);
    if (!wait && settled(run.bound - before, stop)) break;
    if (stop.go_on && !stop.go_on(std::sqrt(variance_))) break;
  }
}

template <typename Real>
StackedFactors<double> BayesFit<Real>::factors() const {
  StackedFactors<double> Z;
  Z.rows = op_->rows();
  Z.Z.resize(op_->rows() + op_->cols(), rank());
  rows_.get_factors(Z.U());
  cols_.get_factors(Z.V());
  return Z;
}

template <typename Real>
Biases BayesFit<Real>::biases() const {
  Biases result;
  result.global = mean_;
  if (has_rows(center_)) result.row = rows_.bias();
  if (has_cols(center_)) result.col = cols_.bias();
  return result;
}

template <typename Real>
template <typename Use>
void BayesFit<Real>::for_each_fitted(const Use& use) const {
  const SparseLines rows = op_->by_row();
  const Index n = op_->num_measurements();
  const Index lines = std::max<Index>(1, kEntryBlock * op_->rows() / std::max<Index>(1, n));
  parallel_blocks(rows.count - rows.begin, lines, [&](Index begin, Index end) {
    for (Index i = rows.begin + begin; i < rows.begin + end; ++i)
      for (auto s = rows.first[i]; s < rows.first[i + 1]; ++s) {
        const Real *const a = rows_.record(i), *const b = cols_.record(rows.other[s]);
        double sum = mean_ + static_cast<double>(a[0]) + static_cast<double>(b[0]);
        for (Index c = 1; c < rows_.width; ++c)
          sum += static_cast<double>(a[c]) * static_cast<double>(b[c]);
        use(i, Index{rows.entry[s]}, sum);
      }
  });
}

template <typename Real>
Vector<double> BayesFit<Real>::fitted() const {
  if (device_) return device_->fitted(rows_, cols_, mean_);
  Vector<double> x(op_->num_own());
  for_each_fitted([&](Index, Index t, double value) { x(t) = value; });
  return x;
}

template <typename Real>
void BayesFit<Real>::gather_rows(Vector<double>& of_rows) const {
  if (op_->is_spread()) op_->shares().spread->rows.gather(of_rows.data(), sizeof(double));
}

template <typename Real>
double BayesFit<Real>::largest_residual() const {
  if (device_) return std::sqrt(residuals_on_device().largest / variance_);
  Vector<double> largest = Vector<double>::Zero(op_->rows());  // of each row
  for_each_fitted([&](Index i, Index t, double value) {
    const double w = weight_ ? static_cast<double>((*weight_)[at(t)]) : 1;
    largest(i) = std::max(largest(i), w * (value_[t] - value) * (value_[t] - value));
  });
  gather_rows(largest);
  return std::sqrt(largest.maxCoeff() / variance_);
}

template <typename Real>
double BayesFit<Real>::share_beyond(double deviations) const {
  const double limit = deviations * deviations * variance_;
  if (device_) return residuals_on_device(limit).beyond / num_entries_;
  Vector<double> count = Vector<double>::Zero(op_->rows());  // of each row
  for_each_fitted([&](Index i, Index t, double value) {
    const double w = weight_ ? static_cast<double>((*weight_)[at(t)]) : 1;
    count(i) += w * (value_[t] - value) * (value_[t] - value) >= limit ? 1 : 0;
  });
  gather_rows(count);
  return count.sum() / num_entries_;
}

template class BayesFit<float>;
template class BayesFit<double>;

}  // namespace udv
