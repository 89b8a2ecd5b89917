// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/fft.hpp"
#include "udv/recover/optics.hpp"

namespace udv {

/// The linear map of imaging by Fourier transforms: image l of u is
///   psi_l = F^-1 (P_l o window_l(u)) / sqrt(pixels), or F instead of F^-1,
/// with u a rows x cols array, window_l its part of the size of an image, F unnormalised and P_l a
/// transfer function: one for all images, or one for each. Threads over groups of images; each
/// group adds up windows of its own, and the groups are added in order: the same bits for any
/// number of threads.
template <typename Real>
class WindowedFourier {
 public:
  using Complex = std::complex<Real>;

  enum class Direction { kInverse, kForward };

  WindowedFourier(Index rows, Index cols, std::vector<Window> windows,
                  std::vector<RowMatrix<Complex>> transfer, Direction direction);

  Index size() const { return rows_ * cols_; }
  Index images() const { return static_cast<Index>(windows_.size()); }
  Index pixels() const { return low_rows_ * low_cols_; }
  /// From one spectrum to the next in scratch memory: not a multiple of 4096 bytes, where the same
  /// place of all of them would compete for one set of the cache.
  Index spectrum_stride() const { return (size() + 511) / 512 * 512 + 8; }
  /// From one image to the next in scratch memory: each begins at an aligned address.
  Index image_stride() const { return (pixels() + 7) / 8 * 8; }

  /// psi of all images, one after the other: (images * pixels) x k.
  void project(const ConstRows<Complex>& U, RowMatrix<Complex>& fields) const;
  /// The adjoint of project.
  void back_project(const RowMatrix<Complex>& fields, Rows<Complex> out) const;
  /// z = sum_c d_c |psi_c|^2 - b and out = sum_l window_l^* conj(P_l) F (z psi): one gradient.
  void residual_products(const ConstRows<Complex>& U, const Vector<Real>& d, const Vector<Real>& b,
                         Vector<Real>& z, Rows<Complex> out) const;
  /// sum_l w_l |P_l|^2 where its window lies.
  Vector<Real> coverage(const Vector<Real>& image_weights) const;

 private:
  using Scratch = typename BandFft<Real>::Scratch;
  // Arrays of one call, kept for the next one.
  struct Workspace {
    std::vector<Complex> spectra, sums;
    Vector<Complex> images;
    std::vector<Scratch> scratch;  // one for each group
  };
  class Lease;

  const RowMatrix<Complex>& transfer(Index l) const {
    return transfer_[transfer_.size() == 1 ? 0 : static_cast<size_t>(l)];
  }
  void load(Index l, const Complex* spectrum, Scratch& scratch, Complex* image) const;
  void add(Index l, Complex* image, Scratch& scratch, Complex* spectrum) const;
  Index groups(Index columns) const;
  void spread(const ConstRows<Complex>& U, std::vector<Complex>& spectra) const;
  void collect(std::vector<Complex>& sums, Rows<Complex> out) const;
  template <typename Body>
  void over_groups(Index columns, Workspace& work, const Body& body) const;

  Index rows_, cols_, low_rows_, low_cols_;
  Direction direction_;
  std::vector<Window> windows_;
  std::vector<RowMatrix<Complex>> transfer_;           // divided by sqrt(pixels)
  Index first_row_, last_row_, first_col_, last_col_;  // where some transfer function is not zero
  std::unique_ptr<BandFft<Real>> fft_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace udv
