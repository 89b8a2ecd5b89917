// SPDX-License-Identifier: MIT
// Fits between two sweeps and their sides, to go on from with the same bits.
#include <algorithm>

#include "core/require.hpp"
#include "recover/solver/bayes.hpp"
#include "udv/core/parallel.hpp"

namespace udv {

template <typename Real>
void BayesSide<Real>::write_records(ArchiveWriter& archive) const {
  if (!on_device) return archive.list(records.data(), records.size());
  BayesSide here = *this;
  here.bring_to_host();
  archive.list(here.records.data(), here.records.size());
}

template <typename Real>
void BayesSide<Real>::read_records(ArchiveReader& archive) {
  const auto found = archive.template list<Real>();
  const Index expected = lines * stride();
  require(found.size() == expected, "checkpoint: posteriors of ", found.size(), " numbers found, ",
          expected, " expected");
  make_room();
  if (!on_device) {
    const Index first = first_line() * stride();
    found.copy(first, last_line() * stride() - first, records.data() + first);
    return meet();
  }
  std::vector<Real> numbers(static_cast<size_t>(expected));
  found.copy(0, expected, numbers.data());
  const device::Array<Real> plain(numbers.data(), expected);
  device::kernels<Real>().restride(plain.data(), stride(), away.data(),
                                   device::record_stride<Real>(width), lines, stride());
}

template <typename Real>
LineMeans BayesSide<Real>::means() const {
  LineMeans means;
  if (on_device) {
    means.away.resize(lines * width);
    device::kernels<Real>().bayes_means(away.data(), width, lines, 0, width, means.away.data());
    return means;
  }
  constexpr Index kLinesPerBlock = 1 << 14;
  means.here.resize(lines, width);
  parallel_blocks(lines, kLinesPerBlock, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index c = 0; c < width; ++c) means.here(i, c) = static_cast<double>(record(i)[c]);
  });
  return means;
}

template <typename Real>
void BayesSide<Real>::set_means(const RowMatrix<double>& means) {
  make_room();
  if (on_device) {
    away.set_zero();
    const device::Array<double> given(means.data(), means.size());
    return device::kernels<Real>().bayes_set_means(away.data(), width, lines, 0, width,
                                                   given.data(), width);
  }
  meet();
  for (Index i = first_line(); i < last_line(); ++i) {
    std::fill_n(record(i), stride(), Real(0));
    for (Index c = 0; c < width; ++c) record(i)[c] = static_cast<Real>(means(i, c));
  }
  meet();
}

template <typename Real>
template <typename Archive>
void BayesFit<Real>::figures(Archive& archive) {
  archive(center_, noise_, mean_, variance_, bound_, smallest_count_);
  archive(sweeps_, pruned_, since_growth_, tied_sweeps_, rows_.prior, cols_.prior);
}

template <typename Real>
void BayesFit<Real>::write(ArchiveWriter& archive) const {
  // The lists of members are for both directions.
  auto& self = const_cast<BayesFit&>(*this);
  self.figures(archive);
  if (row_noise_.any()) self.row_noise_.learned(archive);
  if (col_noise_.any()) self.col_noise_.learned(archive);
  if (noise_ == NoiseKind::kBySignal) {
    double mean = signal_->mean;
    archive(mean);
    const auto write_means = [&](const LineMeans& means, Index lines) {
      RowMatrix<double> here = means.here;
      if (device_) here.resize(lines, means.away.size() / lines);
      if (device_) means.away.download(here.data());
      archive(here);
    };
    write_means(signal_->rows, rows_.lines);
    write_means(signal_->cols, cols_.lines);
  }
  cols_.write_records(archive);
}

template <typename Real>
void BayesFit<Real>::read(ArchiveReader& archive) {
  figures(archive);
  require(center_ > Centering::kAuto && center_ <= Centering::kBoth &&
              noise_ >= NoiseKind::kEqual && noise_ <= NoiseKind::kBySignal,
          "checkpoint: a kind of biases or of noise that is not known");
  const Index width = cols_.prior.size();
  require(width > 0 && rows_.prior.size() == width && width <= op_->rows() + op_->cols(),
          "checkpoint: ", rows_.prior.size(), " prior variances of rows and ", width,
          " of columns found, as many of both expected");
  rows_.lines = op_->rows();
  cols_.lines = op_->cols();
  rows_.width = cols_.width = width;
  rows_.on_device = cols_.on_device = device_.has_value();
  rows_.in_team = cols_.in_team = op_->is_spread();
  rows_.release();
  cols_.release();
  restore_noise(archive);
  cols_.read_records(archive);
}

// The levels of the noise, and the weights that follow from them.
template <typename Real>
void BayesFit<Real>::restore_noise(ArchiveReader& archive) {
  const bool both = noise_ == NoiseKind::kByRowAndCol;
  const auto read_levels = [&](bool by_rows, LineNoise& levels) {
    levels = equal_noise(by_rows);
    levels.learned(archive);
    const Index expected = by_rows ? op_->rows() : op_->cols();
    require(levels.expected().size() == expected, "checkpoint: ", levels.expected().size(),
            " noise levels found, ", expected, " expected");
  };
  row_noise_ = col_noise_ = {};
  if (both || noise_ == NoiseKind::kByRow) read_levels(true, row_noise_);
  if (both || noise_ == NoiseKind::kByCol) read_levels(false, col_noise_);
  if (noise_ != NoiseKind::kBySignal) return noise_ == NoiseKind::kEqual ? void() : weigh();
  const Index width = rows_.width;
  const double mean = mean_;
  archive(mean_);
  for (BayesSide<Real>* const side : {&rows_, &cols_}) {
    RowMatrix<double> means;
    archive(means);
    require(means.rows() == side->lines && means.cols() > 0, "checkpoint: means of ", means.rows(),
            " lines found, ", side->lines, " expected");
    side->width = means.cols();
    side->set_means(means);
  }
  require(rows_.width == cols_.width, "checkpoint: means of ", rows_.width, " and of ", cols_.width,
          " parts found, as many expected");
  weigh();
  mean_ = mean;
  for (BayesSide<Real>* const side : {&rows_, &cols_}) {
    side->release();
    side->width = width;
  }
}

#define UDV_INSTANTIATE(Real)                                         \
  template void BayesSide<Real>::write_records(ArchiveWriter&) const; \
  template void BayesSide<Real>::read_records(ArchiveReader&);        \
  template LineMeans BayesSide<Real>::means() const;                  \
  template void BayesSide<Real>::set_means(const RowMatrix<double>&); \
  template void BayesFit<Real>::write(ArchiveWriter&) const;          \
  template void BayesFit<Real>::read(ArchiveReader&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)

}  // namespace udv
