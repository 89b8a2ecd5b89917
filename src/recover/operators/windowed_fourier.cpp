// SPDX-License-Identifier: MIT
#include "windowed_fourier.hpp"

#include <algorithm>
#include <cmath>

#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr Index kMaxGroups = 8;
constexpr Index kSumBudget = 1 << 20;  // samples in the sums of all groups together
constexpr Index kLineBlock = 16, kTileRows = 8;

template <typename Complex>
auto line(const Complex* data, Index size) {
  return Eigen::Map<const Eigen::Array<Complex, Eigen::Dynamic, 1>>(data, size);
}
template <typename Complex>
auto line(Complex* data, Index size) {
  return Eigen::Map<Eigen::Array<Complex, Eigen::Dynamic, 1>>(data, size);
}

// y += weight |psi|^2
template <typename Real>
void add_intensity(Real weight, const std::complex<Real>* psi, Index size, Real* y) {
  const auto* const parts = reals_of(psi);
#pragma omp simd
  for (Index i = 0; i < size; ++i)
    y[i] += weight * (parts[2 * i] * parts[2 * i] + parts[2 * i + 1] * parts[2 * i + 1]);
}

// psi = z o psi
template <typename Real>
void scale(const Real* z, Index size, std::complex<Real>* psi) {
  auto* const parts = reals_of(psi);
#pragma omp simd
  for (Index i = 0; i < size; ++i) {
    parts[2 * i] *= z[i];
    parts[2 * i + 1] *= z[i];
  }
}

template <typename Complex>
bool row_is_zero(const std::vector<RowMatrix<Complex>>& list, Index row) {
  return std::all_of(list.begin(), list.end(), [&](const auto& P) { return P.row(row).isZero(0); });
}
template <typename Complex>
bool col_is_zero(const std::vector<RowMatrix<Complex>>& list, Index col) {
  return std::all_of(list.begin(), list.end(), [&](const auto& P) { return P.col(col).isZero(0); });
}

}  // namespace

// Takes a workspace from the shelf and puts it back.
template <typename Real>
class WindowedFourier<Real>::Lease {
 public:
  explicit Lease(const WindowedFourier& owner) : owner_(owner) {
    const std::lock_guard lock(owner.mutex_);
    if (owner.idle_.empty()) {
      work_ = std::make_unique<Workspace>();
    } else {
      work_ = std::move(owner.idle_.back());
      owner.idle_.pop_back();
    }
  }
  ~Lease() {
    const std::lock_guard lock(owner_.mutex_);
    owner_.idle_.push_back(std::move(work_));
  }
  Workspace& operator*() { return *work_; }

 private:
  const WindowedFourier& owner_;
  std::unique_ptr<Workspace> work_;
};

template <typename Real>
WindowedFourier<Real>::WindowedFourier(Index rows, Index cols, std::vector<Window> windows,
                                       std::vector<RowMatrix<Complex>> transfer,
                                       Direction direction)
    : rows_(rows), cols_(cols), windows_(std::move(windows)), transfer_(std::move(transfer)) {
  require(!windows_.empty() && !transfer_.empty(), "imaging: no images");
  require(transfer_.size() == 1 || transfer_.size() == windows_.size(),
          "imaging: ", transfer_.size(), " transfer functions for ", windows_.size(), " images");
  low_rows_ = transfer_[0].rows();
  low_cols_ = transfer_[0].cols();
  require(low_rows_ > 0 && low_cols_ > 0, "imaging: images are ", low_rows_, " x ", low_cols_);
  for (size_t l = 0; l < windows_.size(); ++l)
    require(windows_[l].row >= 0 && windows_[l].col >= 0 && windows_[l].row + low_rows_ <= rows &&
                windows_[l].col + low_cols_ <= cols,
            "imaging: the window of image ", l + 1, " leaves the spectrum of ", rows, " x ", cols);
  for (auto& P : transfer_) {
    require(P.rows() == low_rows_ && P.cols() == low_cols_, "imaging: a transfer function is ",
            P.rows(), " x ", P.cols(), ", ", low_rows_, " x ", low_cols_, " expected");
    require(P.allFinite(), "imaging: a transfer function holds a value that is not finite");
    P = (P.transpose() / std::sqrt(static_cast<Real>(pixels()))).eval();
  }
  first_row_ = first_col_ = 0;
  last_row_ = low_rows_;
  last_col_ = low_cols_;
  while (first_row_ + 1 < last_row_ && col_is_zero(transfer_, first_row_)) ++first_row_;
  while (first_row_ + 1 < last_row_ && col_is_zero(transfer_, last_row_ - 1)) --last_row_;
  while (first_col_ + 1 < last_col_ && row_is_zero(transfer_, first_col_)) ++first_col_;
  while (first_col_ + 1 < last_col_ && row_is_zero(transfer_, last_col_ - 1)) --last_col_;
  fft_ = std::make_unique<BandFft<Real>>(
      low_rows_, low_cols_, first_col_, last_col_,
      direction == Direction::kInverse ? FFTW_BACKWARD : FFTW_FORWARD);
}

// image = F^-1 (P o window(spectrum)), or F. The input is written in the band alone: all else of it
// stays zero.
template <typename Real>
void WindowedFourier<Real>::load(Index l, const Complex* spectrum, Scratch& scratch,
                                 Complex* image) const {
  const RowMatrix<Complex>& P = transfer(l);
  const Window& place = windows_[static_cast<size_t>(l)];
  const Index height = last_row_ - first_row_;
  for (Index c = first_col_; c < last_col_; ++c)
    line(scratch.input.data() + c * low_rows_ + first_row_, height) =
        line(P.data() + c * low_rows_ + first_row_, height) *
        line(spectrum + (place.col + c) * rows_ + place.row + first_row_, height);
  fft_->to_image(scratch, image);
}

// spectrum += window^* (conj(P) o F image), or F^-1.
template <typename Real>
void WindowedFourier<Real>::add(Index l, Complex* image, Scratch& scratch,
                                Complex* spectrum) const {
  const RowMatrix<Complex>& P = transfer(l);
  const Window& place = windows_[static_cast<size_t>(l)];
  const Index height = last_row_ - first_row_;
  fft_->from_image(image, scratch);
  for (Index c = first_col_; c < last_col_; ++c)
    line(spectrum + (place.col + c) * rows_ + place.row + first_row_, height) +=
        line(P.data() + c * low_rows_ + first_row_, height).conjugate() *
        line(scratch.output.data() + c * low_rows_ + first_row_, height);
}

template <typename Real>
Index WindowedFourier<Real>::groups(Index columns) const {
  const Index fit = std::clamp<Index>(kSumBudget / (size() * columns), 2, kMaxGroups);
  return std::min(fit, images());
}

// Columns of U, each on its own and transposed as an array of rows x cols.
template <typename Real>
void WindowedFourier<Real>::spread(const ConstRows<Complex>& U,
                                   std::vector<Complex>& spectra) const {
  const Index k = U.cols(), p = spectrum_stride();
  spectra.resize(static_cast<size_t>(k * p));
  parallel_blocks(cols_, kLineBlock, [&](Index begin, Index end) {
    for (Index r = 0; r < rows_; ++r)
      for (Index j = begin; j < end; ++j)
        for (Index c = 0; c < k; ++c)
          spectra[static_cast<size_t>(c * p + j * rows_ + r)] = U(r * cols_ + j, c);
  });
}

// out = sum over the groups, in order; the sums of the first group become those of all.
template <typename Real>
void WindowedFourier<Real>::collect(std::vector<Complex>& sums, Rows<Complex> out) const {
  const Index k = out.cols(), p = spectrum_stride(), count = groups(k);
  const auto add_groups = [&](Index c, Index begin, Index end) {
    const Index size = (end - begin) * rows_;
    Complex* const first = sums.data() + c * p + begin * rows_;
    for (Index g = 1; g < count; ++g) line(first, size) += line(first + g * k * p, size);
  };
  // Tiles: both the transposed sums and the rows of the result stay near.
  parallel_blocks(cols_, kLineBlock, [&](Index begin, Index end) {
    for (Index c = 0; c < k; ++c) add_groups(c, begin, end);
    for (Index tile = 0; tile < rows_; tile += kTileRows)
      for (Index j = begin; j < end; ++j)
        for (Index r = tile; r < std::min(rows_, tile + kTileRows); ++r)
          for (Index c = 0; c < k; ++c)
            out(r * cols_ + j, c) = sums[static_cast<size_t>(c * p + j * rows_ + r)];
  });
}

// body(image, group's sums, group's k images, its scratch) for every image, group by group.
template <typename Real>
template <typename Body>
void WindowedFourier<Real>::over_groups(Index columns, Workspace& work, const Body& body) const {
  const Index count = groups(columns), p = spectrum_stride();
  work.sums.resize(static_cast<size_t>(count * columns * p));
  work.images.resize(count * columns * image_stride());
  while (static_cast<Index>(work.scratch.size()) < count) work.scratch.push_back(fft_->scratch());
  const Index share = (images() + count - 1) / count;
  parallel_blocks(count, 1, [&](Index g, Index) {
    Complex* const sums = work.sums.data() + g * columns * p;
    std::fill(sums, sums + columns * p, Complex(0));
    for (Index l = g * share; l < std::min(images(), (g + 1) * share); ++l)
      body(l, sums, work.images.data() + g * columns * image_stride(),
           work.scratch[static_cast<size_t>(g)]);
  });
}

template <typename Real>
void WindowedFourier<Real>::project(const ConstRows<Complex>& U, RowMatrix<Complex>& fields) const {
  const Index k = U.cols(), n = pixels();
  fields.resize(images() * n, k);
  if (k == 0) return;
  Lease work(*this);
  spread(U, (*work).spectra);
  const auto& spectra = (*work).spectra;
  over_groups(k, *work, [&](Index l, Complex*, Complex* image, Scratch& scratch) {
    for (Index c = 0; c < k; ++c) {
      load(l, spectra.data() + c * spectrum_stride(), scratch, image);
      fields.col(c).segment(l * n, n) = line(image, n).matrix();
    }
  });
}

template <typename Real>
void WindowedFourier<Real>::back_project(const RowMatrix<Complex>& fields,
                                         Rows<Complex> out) const {
  const Index k = fields.cols(), n = pixels();
  if (k == 0) return;
  Lease work(*this);
  over_groups(k, *work, [&](Index l, Complex* sums, Complex* image, Scratch& scratch) {
    for (Index c = 0; c < k; ++c) {
      line(image, n) = fields.col(c).segment(l * n, n).array();
      add(l, image, scratch, sums + c * spectrum_stride());
    }
  });
  collect((*work).sums, out);
}

template <typename Real>
void WindowedFourier<Real>::residual_products(const ConstRows<Complex>& U, const Vector<Real>& d,
                                              const Vector<Real>& b, Vector<Real>& z,
                                              Rows<Complex> out) const {
  const Index k = U.cols(), n = pixels();
  z = -b;
  if (k == 0) return;
  Lease work(*this);
  spread(U, (*work).spectra);
  const auto& spectra = (*work).spectra;
  over_groups(k, *work, [&](Index l, Complex* sums, Complex* fields, Scratch& scratch) {
    Real* const residual = z.data() + l * n;
    for (Index c = 0; c < k; ++c) {
      load(l, spectra.data() + c * spectrum_stride(), scratch, fields + c * image_stride());
      add_intensity(d(c), fields + c * image_stride(), n, residual);
    }
    for (Index c = 0; c < k; ++c) {
      scale(residual, n, fields + c * image_stride());
      add(l, fields + c * image_stride(), scratch, sums + c * spectrum_stride());
    }
  });
  collect((*work).sums, out);
}

template <typename Real>
Vector<Real> WindowedFourier<Real>::coverage(const Vector<Real>& image_weights) const {
  Vector<Real> total = Vector<Real>::Zero(size());
  const auto pixel_count = static_cast<Real>(pixels());
  for (Index l = 0; l < images(); ++l) {
    const Window& window = windows_[static_cast<size_t>(l)];
    for (Index r = 0; r < low_rows_; ++r)
      total.segment((window.row + r) * cols_ + window.col, low_cols_) +=
          image_weights(l) * pixel_count * transfer(l).col(r).cwiseAbs2();
  }
  return total;
}

template class WindowedFourier<float>;
template class WindowedFourier<double>;

}  // namespace udv
