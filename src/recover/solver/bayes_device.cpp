// SPDX-License-Identifier: MIT
#include "recover/solver/bayes_device.hpp"

#include "core/small_solves.hpp"
#include "recover/device/thin.hpp"
#include "recover/solver/leading_triples.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"

namespace udv {
namespace {

using device::DeviceMatrix;
using device::kernels;

// Subspace iteration on the device: z by rows and by columns.
class DeviceSubspace {
 public:
  using Columns = DeviceMatrix<double>;

  DeviceSubspace(const device::EntriesOnDevice<double>& entries, const device::Array<double>* z)
      : entries_(entries), z_(z) {}

  // Blocks of lines have streams of their own; the first one has that of the host.
  Columns start(Index lines, Index count, std::uint64_t seed) const {
    constexpr Index kLines = 1 << 14, kStreams = 16;
    RowMatrix<double> V(lines, count);
    parallel_blocks(lines, kLines, [&](Index begin, Index end) {
      const auto block = static_cast<std::uint64_t>(kStreams * (begin / kLines));
      Random random(seed, kStreamLanczos + block);
      auto own = V.middleRows(begin, end - begin);
      random.fill_normal(own);
    });
    return Columns(V);
  }
  void times(const Columns& V, Columns& U) const { gather(0, V, U); }
  void transpose_times(const Columns& U, Columns& V) const { gather(1, U, V); }

  // By Householder on the host where Cholesky factors do not do.
  void orthonormalise(Columns& X) const {
    if (!device::orthonormalise(X)) X.upload(orthonormal(X.host()));
  }
  Matrix<double> gram(const Columns& X) const { return device::gram(X); }
  void multiply(Columns& X, const RowMatrix<double>& M) const { device::multiply(X, M); }
  void divide(Columns& X, const Vector<double>& d) const {
    device::scale_columns(X, (d.array() > 0).select(d.cwiseInverse(), 1.0));
  }

 private:
  void gather(int side, const Columns& from, Columns& to) const {
    to.resize(entries_.lines(side), from.cols());
    kernels<double>().adjoint(entries_.pattern(), side, z_[side].data(), from.data(), from.cols(),
                              1.0, false, to.data());
  }

  const device::EntriesOnDevice<double>& entries_;
  const device::Array<double>* z_;
};

}  // namespace

template <typename Real>
BayesOnDevice<Real>::BayesOnDevice(const EntriesOperator<double>& op, const double* value)
    : entries_(op.device()) {
  const auto shared = std::make_shared<Shared>();
  const Vector<double>& root = op.root_weights();
  std::vector<Real> known;
  for (const double r : root) known.push_back(static_cast<Real>(r * r));
  entries_->place(value, shared->value);
  if (!known.empty()) entries_->place(known.data(), shared->known);
  shared_ = shared;
}

template <typename Real>
const Real* BayesOnDevice<Real>::known(int side) const {
  return shared_->known[side].size() > 0 ? shared_->known[side].data() : nullptr;
}

template <typename Real>
const Real* BayesOnDevice<Real>::weight(int side) const {
  return weight_ ? (*weight_)[static_cast<size_t>(side)].data() : known(side);
}

template <typename Real>
BayesSums BayesOnDevice<Real>::update(int side, const BayesSide<Real>& other,
                                      const BayesUpdate& update, BayesSide<Real>& own,
                                      Vector<double>* line_squares) const {
  const Index D = own.width;
  Vector<double> mean_sum(D), means(device::packed_size(D)), spread(device::packed_size(D));
  if (line_squares) line_squares->resize(own.lines);
  const device::BayesTask task{D, update.mean, update.variance, own.prior.data(), update.measure};
  device::BayesTotals totals{0, 0, 0, 0, mean_sum.data(), means.data(), spread.data()};
  kernels<Real>().bayes_update(entries_->pattern(), side, &task, other.away.data(),
                               shared_->value[side].data(), weight(side), own.away.data(), &totals,
                               line_squares ? line_squares->data() : nullptr);
  device::check();
  BayesSums sums;
  sums.lines = static_cast<Index>(totals.lines);
  sums.log_det = totals.log_det;
  sums.residual = totals.residual;
  sums.squares = totals.squares;
  sums.moment = sums.means = Matrix<double>::Zero(D + 1, D + 1);
  sums.means(0, 0) = totals.lines;
  for (Index r = 0, e = 0; r < D; ++r) {
    sums.means(r + 1, 0) = sums.means(0, r + 1) = mean_sum(r);
    for (Index c = 0; c <= r; ++c, ++e) {
      sums.means(r + 1, c + 1) = sums.means(c + 1, r + 1) = means(e);
      sums.moment(r + 1, c + 1) = sums.moment(c + 1, r + 1) = spread(e);
    }
  }
  sums.moment += sums.means;
  return sums;
}

template <typename Real>
void BayesOnDevice<Real>::visit(int side, const BayesSide<Real>& own, const BayesSide<Real>& other,
                                double mean, double limit, device::ResidualStatistics* statistics,
                                double* weighted, double* predicted) const {
  kernels<Real>().bayes_residuals(entries_->pattern(), side, own.away.data(), other.away.data(),
                                  own.width, mean, shared_->value[side].data(), weight(side), limit,
                                  statistics, weighted, predicted);
  device::check();
}

template <typename Real>
device::ResidualStatistics BayesOnDevice<Real>::residuals(const BayesSide<Real>& rows,
                                                          const BayesSide<Real>& cols, double mean,
                                                          double limit) const {
  device::ResidualStatistics found{};
  visit(0, rows, cols, mean, limit, &found, nullptr, nullptr);
  return found;
}

template <typename Real>
Vector<double> BayesOnDevice<Real>::fitted(const BayesSide<Real>& rows, const BayesSide<Real>& cols,
                                           double mean) const {
  device::Array<double> by_row(entries_->size()), by_entry(entries_->size());
  visit(0, rows, cols, mean, 0, nullptr, nullptr, by_row.data());
  kernels<double>().unplace(entries_->pattern(), by_row.data(), by_entry.data());
  Vector<double> result(entries_->size());
  by_entry.download(result.data());
  return result;
}

template <typename Real>
typename BayesOnDevice<Real>::WeightSums BayesOnDevice<Real>::weigh(const NoiseLevels& noise,
                                                                    const BayesSide<Real>& rows,
                                                                    const BayesSide<Real>& cols,
                                                                    double mean) {
  std::array<device::Array<Real>, 2> next;
  WeightSums result;
  for (int side = 0; side < 2; ++side) {
    device::Array<double> predicted;
    if (noise.smallest_count > 0) {
      predicted.resize(entries_->size());
      visit(side, side == 0 ? rows : cols, side == 0 ? cols : rows, mean, 0, nullptr, nullptr,
            predicted.data());
    }
    const Vector<double>*const own = side == 0 ? noise.rows : noise.cols, *const other =
                                                                              side == 0
                                                                                  ? noise.cols
                                                                                  : noise.rows;
    double sums[3];
    device::Array<Real>& weight = next[static_cast<size_t>(side)];
    weight.resize(entries_->size());
    kernels<Real>().bayes_weigh(entries_->pattern(), side, known(side), own ? own->data() : nullptr,
                                other ? other->data() : nullptr, predicted.data(),
                                noise.smallest_count, weight.data(), sums);
    device::check();
    if (side == 0) result = {sums[0], sums[1], sums[2]};
  }
  weight_ = std::make_shared<const std::array<device::Array<Real>, 2>>(std::move(next));
  return result;
}

template <typename Real>
Directions BayesOnDevice<Real>::directions(const BayesSide<Real>& rows, const BayesSide<Real>& cols,
                                           double mean, Index count, int rounds,
                                           std::uint64_t seed) const {
  device::Array<double> z[2];
  for (int side = 0; side < 2; ++side) {
    z[side].resize(entries_->size());
    visit(side, side == 0 ? rows : cols, side == 0 ? cols : rows, mean, 0, nullptr, z[side].data(),
          nullptr);
  }
  auto t = leading_triples(DeviceSubspace(*entries_, z), entries_->cols(), count, rounds, seed);
  Directions result;
  result.away_U.swap(t.U);
  result.away_V.swap(t.V);
  result.d = t.d;
  result.overlap.resize(count);
  kernels<double>().overlap(entries_->pattern(), result.away_U.data(), result.away_V.data(), count,
                            result.overlap.data());
  device::check();
  return result;
}

template class BayesOnDevice<float>;
template class BayesOnDevice<double>;

}  // namespace udv
