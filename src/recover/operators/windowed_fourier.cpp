// SPDX-License-Identifier: MIT
#include "windowed_fourier.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/clones.hpp"
#include "core/require.hpp"
#include "image_strips.hpp"
#include "pixel_planes.hpp"
#include "recover/kernels/pack.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr Index kMaxGroups = 8, kManyColumns = 8, kColumnParts = 4;
constexpr double kSumCost = 1.5;
constexpr Index kSumBudget = 1 << 20;  // samples in the sums of all groups together
constexpr Index kColBlock = 8;

// From the first to the last flag that is set; empty where none is.
template <typename Flags>
Band band_of(const Flags& flags) {
  Band band{0, flags.size()};
  while (band.size() > 0 && !flags(band.first)) ++band.first;
  while (band.size() > 0 && !flags(band.last - 1)) --band.last;
  return band;
}

}  // namespace

template <typename Real>
WindowedFourier<Real>::WindowedFourier(Index rows, Index cols, std::vector<Window> windows,
                                       const std::vector<RowMatrix<Complex>>& transfer,
                                       Fourier direction, const std::vector<SampleShift>& shifts)
    : rows_(rows), cols_(cols), windows_(std::move(windows)) {
  require(!windows_.empty() && !transfer.empty(), "imaging: no images");
  require(transfer.size() == 1 || transfer.size() == windows_.size(), "imaging: ", transfer.size(),
          " transfer functions for ", windows_.size(), " images");
  low_rows_ = transfer[0].rows();
  low_cols_ = transfer[0].cols();
  require(low_rows_ > 0 && low_cols_ > 0, "imaging: images are ", low_rows_, " x ", low_cols_);
  for (size_t l = 0; l < windows_.size(); ++l)
    require(windows_[l].row >= 0 && windows_[l].col >= 0 && windows_[l].row + low_rows_ <= rows &&
                windows_[l].col + low_cols_ <= cols,
            "imaging: the window of image ", l + 1, " leaves the spectrum of ", rows, " x ", cols);
  for (const auto& P : transfer) {
    require(P.rows() == low_rows_ && P.cols() == low_cols_, "imaging: a transfer function is ",
            P.rows(), " x ", P.cols(), ", ", low_rows_, " x ", low_cols_, " expected");
    require(P.allFinite(), "imaging: a transfer function holds a value that is not finite");
  }
  set_transfer(transfer, direction);
  set_shifts(shifts);
}

// Corners stay within the spectrum, so that planes need no margin of their own.
template <typename Real>
void WindowedFourier<Real>::set_shifts(const std::vector<SampleShift>& shifts) {
  if (shifts.empty()) return;
  require(static_cast<Index>(shifts.size()) == images(), "imaging: ", shifts.size(), " shifts for ",
          images(), " images");
  for (const Window& window : windows_)
    require(window.row > 0 && window.col > 0 && window.row + low_rows_ < rows_ &&
                window.col + low_cols_ < cols_,
            "imaging: a window that is moved reaches the edge of the spectrum of ", rows_, " x ",
            cols_);
  for (const SampleShift& shift : shifts) corners_.push_back(corners_of(shift));
}

template <typename Real>
void WindowedFourier<Real>::set_transfer(const std::vector<RowMatrix<Complex>>& transfer,
                                         Fourier direction) {
  using Flags = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic>;
  Flags used = Flags::Constant(low_rows_, low_cols_, false);
  for (const auto& P : transfer) used = used || (P.array() != Complex(0));
  Band rows = band_of(used.rowwise().any().eval());
  if (rows.size() == 0) rows = {0, 1};
  for (Index c = 0; c < low_cols_; ++c) {
    spans_.push_back(band_of(used.col(c).segment(rows.first, rows.size())));
    spans_.back().first -= spans_.back().first % kLanes<Real>;
  }
  fft_ = std::make_unique<BandFft<Real>>(low_rows_, low_cols_, rows, direction);
  const Real gain = 1 / std::sqrt(static_cast<Real>(pixels()));
  for (const auto& P : transfer) {
    transfer_.push_back(Vector<Real>::Zero(low_cols_ * fft_->spectrum_stride()));
    for (Index c = 0; c < low_cols_; ++c)
      for (Index r = 0; r < rows.size(); ++r)
        set_number<Real>(transfer_.back().data() + c * fft_->spectrum_stride(), r,
                         gain * P(rows.first + r, c));
  }
}

// Planes end with room for one register, and have no size that is a multiple of 4096 bytes: the
// same place of all of them would compete for one set of the cache.
template <typename Real>
void WindowedFourier<Real>::Spectra::resize(Index columns, Index size) {
  plane = (size + kLanes<Real> + 511) / 512 * 512 + 16;
  if (values.size() != 2 * columns * plane) values.setZero(2 * columns * plane);
}

// body(at, place): the block of a spectrum of fft_ at `at` belongs to kLanes numbers at `place` of
// a plane. All blocks in which a transfer function is not zero; the last of a column may reach
// further, where all of them are zero.
template <typename Real>
template <typename Body>
UDV_INLINE void WindowedFourier<Real>::over_window(Index l, const Body& body) const {
  const Window& window = windows_[static_cast<size_t>(l)];
  const Index first = window.row + fft_->row_band().first;
  for (Index c = 0; c < low_cols_; ++c)
    for (Index r = spans_[static_cast<size_t>(c)].first; r < spans_[static_cast<size_t>(c)].last;
         r += kLanes<Real>)
      body(c * fft_->spectrum_stride() + 2 * r, (window.col + c) * rows_ + first + r);
}

// Asks for the window of a spectrum, which will be needed after the next transforms.
template <typename Real>
void WindowedFourier<Real>::prefetch(Index l, const Spectra& spectra, Index c) const {
  const Real *const re = spectra.real(c), *const im = re + spectra.plane;
  over_window(l, [=](Index, Index place) {
    __builtin_prefetch(re + place);
    __builtin_prefetch(im + place);
  });
}

// P o window(u) between samples.
template <typename Real>
UDV_CLONED void WindowedFourier<Real>::load_between(Index l, const Spectra& spectra, Index c,
                                                    Scratch& scratch) const {
  const Real *const P = transfer(l), *const re = spectra.real(c), *const im = re + spectra.plane;
  Real* const to = scratch.spectrum.data();
  const std::array<Corner, 4>& corners = corners_[static_cast<size_t>(l)];
  const auto weight = [&](int i) { return static_cast<Real>(corners[i].weight); };
  const Index at0 = offset(corners[0]), at1 = offset(corners[1]), at2 = offset(corners[2]),
              at3 = offset(corners[3]);
  const Real w0 = weight(0), w1 = weight(1), w2 = weight(2), w3 = weight(3);
  over_window(l, [=](Index at, Index place) UDV_INLINE_BODY {
    const auto between = [=](const Real* from) UDV_INLINE_BODY {
      return w0 * load_lanes(from + at0) + w1 * load_lanes(from + at1) +
             w2 * load_lanes(from + at2) + w3 * load_lanes(from + at3);
    };
    const auto a = load_lanes(P + at), b = load_lanes(P + at + kLanes<Real>);
    const auto x = between(re + place), y = between(im + place);
    store_lanes<Real>(a * x - b * y, to + at);
    store_lanes<Real>(a * y + b * x, to + at + kLanes<Real>);
  });
}

// From column c to strips of image l: P o window(u), transformed along its rows. The spectrum is
// written in the band alone: all else of it stays zero.
template <typename Real>
UDV_CLONED void WindowedFourier<Real>::load(Index l, const Spectra& spectra, Index c,
                                            Scratch& scratch) const {
  if (!corners_.empty()) {
    load_between(l, spectra, c, scratch);
    return fft_->read_spectrum(scratch);
  }
  const Real *const P = transfer(l), *const re = spectra.real(c), *const im = re + spectra.plane;
  Real* const to = scratch.spectrum.data();
  over_window(l, [=](Index at, Index place) UDV_INLINE_BODY {
    const auto a = load_lanes(P + at), b = load_lanes(P + at + kLanes<Real>);
    const auto x = load_lanes(re + place), y = load_lanes(im + place);
    store_lanes<Real>(a * x - b * y, to + at);
    store_lanes<Real>(a * y + b * x, to + at + kLanes<Real>);
  });
  if (c + 1 < spectra.columns()) prefetch(l, spectra, c + 1);
  fft_->read_spectrum(scratch);
}

// The adjoint of load_between().
template <typename Real>
UDV_CLONED void WindowedFourier<Real>::add_between(Index l, const Scratch& scratch, Spectra& sums,
                                                   Index c) const {
  const Real *const P = transfer(l), *const from = scratch.back.data();
  Real *const re = sums.real(c), *const im = re + sums.plane;
  std::array<Index, 4> offsets;
  std::array<Real, 4> weights;
  for (size_t i = 0; i < 4; ++i) {
    const Corner& corner = corners_[static_cast<size_t>(l)][i];
    offsets[i] = offset(corner);
    weights[i] = static_cast<Real>(corner.weight);
  }
  over_window(l, [=](Index at, Index place) UDV_INLINE_BODY {
    const auto a = load_lanes(P + at), b = load_lanes(P + at + kLanes<Real>);
    const auto x = load_lanes(from + at), y = load_lanes(from + at + kLanes<Real>);
    const auto u = a * x + b * y, v = a * y - b * x;
    for (size_t i = 0; i < 4; ++i) {
      Real *const p = re + place + offsets[i], *const q = im + place + offsets[i];
      store_lanes<Real>(load_lanes(p) + weights[i] * u, p);
      store_lanes<Real>(load_lanes(q) + weights[i] * v, q);
    }
  });
}

// From the strips of image l: sum c += window^* (conj(P) o its spectrum).
template <typename Real>
UDV_CLONED void WindowedFourier<Real>::add(Index l, Scratch& scratch, Spectra& sums,
                                           Index c) const {
  prefetch(l, sums, c);
  fft_->write_spectrum(scratch);
  if (!corners_.empty()) return add_between(l, scratch, sums, c);
  const Real *const P = transfer(l), *const from = scratch.back.data();
  Real *const re = sums.real(c), *const im = re + sums.plane;
  over_window(l, [=](Index at, Index place) UDV_INLINE_BODY {
    const auto a = load_lanes(P + at), b = load_lanes(P + at + kLanes<Real>);
    const auto x = load_lanes(from + at), y = load_lanes(from + at + kLanes<Real>);
    store_lanes<Real>(load_lanes(re + place) + (a * x + b * y), re + place);
    store_lanes<Real>(load_lanes(im + place) + (a * y - b * x), im + place);
  });
}

// Few columns: threads share the images, in groups. More groups keep more threads busy, but each
// one has sums of its own that are cleared and added. That takes about as long as kSumCost images
// of their size. Many columns: one group, and threads share the columns.
template <typename Real>
Index WindowedFourier<Real>::groups(Index columns) const {
  if (parts(columns) > 1) return 1;
  const double worthwhile =
      static_cast<double>(images() * pixels()) / (kSumCost * static_cast<double>(size()));
  const Index fit = kSumBudget / (size() * columns);
  return std::min(images(),
                  std::clamp<Index>(std::min(static_cast<Index>(worthwhile), fit), 2, kMaxGroups));
}

// Into how many parts the columns are divided.
template <typename Real>
Index WindowedFourier<Real>::parts(Index columns) const {
  return columns < kManyColumns ? 1 : kColumnParts;
}

template <typename Real>
void WindowedFourier<Real>::spread(const ConstRows<Complex>& U, Spectra& spectra) const {
  spectra.resize(U.cols(), size());
  const PixelPlanes layout{rows_, cols_, 2 * U.cols(), 2 * U.outerStride(), spectra.plane};
  parallel_blocks(cols_, kColBlock, [&](Index begin, Index end) {
    to_planes(layout, begin, end, reals_of(U.data()), spectra.values.data());
  });
}

// out = sum over the groups, in order. The sums are zero afterwards: they are near here, and would
// be far when the next ones begin.
template <typename Real>
void WindowedFourier<Real>::collect(std::vector<Group>& groups, Rows<Complex> out) const {
  const Spectra& first = groups[0].sums;
  const PixelPlanes layout{rows_, cols_, 2 * out.cols(), 2 * out.outerStride(), first.plane};
  std::vector<Real*> sums;
  for (size_t g = 0; g < static_cast<size_t>(this->groups(out.cols())); ++g)
    sums.push_back(groups[g].sums.values.data());
  parallel_blocks(cols_, kColBlock, [&](Index begin, Index end) {
    sum_of_planes(layout, begin, end, sums, reals_of(out.data()));
  });
}

// For every image, group by group: there(task) for all parts of the columns, then between(image,
// group), then back(task) for all parts again. Threads that share the columns wait for each other
// once for each image: they take an image back and get the next one in one go.
template <typename Real>
template <typename There, typename Between, typename Back>
void WindowedFourier<Real>::over_images(Index columns, Workspace& work, const There& there,
                                        const Between& between, const Back& back) const {
  const Index count = groups(columns), pieces = parts(columns);
  work.groups.resize(std::max(work.groups.size(), static_cast<size_t>(count)));
  const auto run_group = [&](Index g) {
    Group& group = work.groups[static_cast<size_t>(g)];
    const Index begin = g * images() / count, end = (g + 1) * images() / count;
    group.sums.resize(columns, size());
    for (int slot = 0; slot < 2; ++slot) {
      const Index numbers = columns * fft_->image_size();
      if (group.images[slot].size() != numbers) group.images[slot].setZero(numbers);
      group.partials[slot].resize((pieces - 1) * pixels());
    }
    for (Index l = begin; l <= end; ++l) {
      parallel_blocks(pieces, 1, [&](Index p, Index) {
        const auto scratch = scratch_.borrow();
        if (scratch->spectrum.size() == 0) *scratch = fft_->scratch();
        const Index first = p * columns / pieces, last = (p + 1) * columns / pieces;
        if (l > begin) back(Task{l - 1, p, first, last, group, *scratch});
        if (l < end) there(Task{l, p, first, last, group, *scratch});
      });
      if (l < end) between(l, group);
    }
  };
  parallel_blocks(count, 1, [&](Index g, Index) { run_group(g); });
}

template <typename Real>
void WindowedFourier<Real>::project(const ConstRows<Complex>& U, RowMatrix<Complex>& fields) const {
  const Index k = U.cols();
  fields.resize(images() * pixels(), k);
  if (k == 0) return;
  const auto work = workspaces_.borrow();
  spread(U, work->spectra);
  const auto there = [&](const Task& task) {
    for (Index c = task.begin; c < task.end; ++c) {
      Real* const strip = task.picture(c, fft_->image_size());
      load(task.image, work->spectra, c, task.scratch);
      for (Index j = 0; j < low_cols_; j += kLanes<Real>) {
        fft_->write_strip(task.scratch, j, strip);
        for (Index r = 0; r < low_rows_; ++r)
          row_to_field(strip + r * kBlock<Real>, low_cols_ - j,
                       &fields(task.image * pixels() + r * low_cols_ + j, c), k);
      }
    }
  };
  over_images(
      k, *work, there, [](Index, Group&) {}, [](const Task&) {});
}

template <typename Real>
void WindowedFourier<Real>::back_project(const RowMatrix<Complex>& fields,
                                         Rows<Complex> out) const {
  const Index k = fields.cols();
  if (k == 0) return;
  const auto work = workspaces_.borrow();
  const auto back = [&](const Task& task) {
    for (Index c = task.begin; c < task.end; ++c) {
      Real* const strip = task.picture(c, fft_->image_size());
      for (Index j = 0; j < low_cols_; j += kLanes<Real>) {
        for (Index r = 0; r < low_rows_; ++r)
          row_from_field(&fields(task.image * pixels() + r * low_cols_ + j, c), k, low_cols_ - j,
                         strip + r * kBlock<Real>);
        fft_->read_strip(strip, j, task.scratch);
      }
      add(task.image, task.scratch, task.group.sums, c);
    }
  };
  over_images(
      k, *work, [](const Task&) {}, [](Index, Group&) {}, back);
  collect(work->groups, out);
}

template <typename Real>
void WindowedFourier<Real>::residual_products(const ConstRows<Complex>& U, const Vector<Real>& d,
                                              const Vector<Real>& b, Vector<Real>& z,
                                              Rows<Complex> out) const {
  const Index k = U.cols(), n = pixels();
  if (k == 0) {
    z = -b;
    return;
  }
  z.resize(b.size());
  const auto work = workspaces_.borrow();
  spread(U, work->spectra);
  // Strip j of image c, and the same columns of real numbers.
  const auto strip = [&](const Task& task, Index c, Index j, Real* values) {
    return Strip<Real>{fft_->strip(task.picture(c, fft_->image_size()), j), values + j, low_cols_,
                       low_rows_, low_cols_ - j};
  };
  const auto there = [&](const Task& task) {
    Eigen::Map<Vector<Real>> sum(
        task.part == 0 ? z.data() + task.image * n
                       : task.group.partials[task.image % 2].data() + (task.part - 1) * n,
        n);
    if (task.part == 0)
      sum = -b.segment(task.image * n, n);
    else
      sum.setZero();
    for (Index c = task.begin; c < task.end; ++c) {
      load(task.image, work->spectra, c, task.scratch);
      for (Index j = 0; j < low_cols_; j += kLanes<Real>) {
        const auto here = strip(task, c, j, sum.data());
        fft_->write_strip(task.scratch, j, here.image);
        add_intensity(d(c), here);
      }
    }
  };
  const auto between = [&](Index l, const Group& group) {
    for (Index p = 0; p + 1 < parts(k); ++p)
      z.segment(l * n, n) += group.partials[l % 2].segment(p * n, n);
  };
  const auto back = [&](const Task& task) {
    for (Index c = task.begin; c < task.end; ++c) {
      for (Index j = 0; j < low_cols_; j += kLanes<Real>) {
        const auto here = strip(task, c, j, z.data() + task.image * n);
        scale(here);
        fft_->read_strip(here.image, j, task.scratch);
      }
      add(task.image, task.scratch, task.group.sums, c);
    }
  };
  over_images(k, *work, there, between, back);
  collect(work->groups, out);
}

template <typename Real>
Vector<Real> WindowedFourier<Real>::coverage(const Vector<Real>& image_weights) const {
  Vector<Real> total = Vector<Real>::Zero(size());
  const Band& rows = fft_->row_band();
  for (Index l = 0; l < images(); ++l) {
    const Window& window = windows_[static_cast<size_t>(l)];
    const Real weight = image_weights(l) * static_cast<Real>(pixels());
    for (Index r = rows.first; r < rows.last; ++r)
      for (Index c = 0; c < low_cols_; ++c) {
        const Real light = weight * std::norm(get_number(transfer(l) + c * fft_->spectrum_stride(),
                                                         r - rows.first));
        if (corners_.empty()) {
          total((window.row + r) * cols_ + window.col + c) += light;
          continue;
        }
        for (const Corner& at : corners_[static_cast<size_t>(l)])
          total((window.row + r + at.down) * cols_ + window.col + c + at.right) +=
              light * static_cast<Real>(at.weight * at.weight);
      }
  }
  return total;
}

template class WindowedFourier<float>;
template class WindowedFourier<double>;

}  // namespace udv
