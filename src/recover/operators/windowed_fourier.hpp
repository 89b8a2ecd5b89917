// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "recover/kernels/band_fft.hpp"
#include "recover/kernels/object_pool.hpp"
#include "recover/operators/image_pupils.hpp"
#include "udv/recover/optics.hpp"

namespace udv {

/// The linear map of imaging by Fourier transforms: image l of u is
///   psi_l = F^-1 (P_l o window_l(u)) / sqrt(pixels), or F instead of F^-1,
/// with u a rows x cols array, window_l its part of the size of an image, F unnormalised and P_l a
/// transfer function: one for all images, or one for each. Where images have shifts, window_l(u) is
/// taken between samples: sum_c weight_c u(k + corner_c) (corners_of()). Threads share the images,
/// in groups, or the columns of U, in parts. How many there are depends on the problem alone and
/// their sums are added in order: the same bits for any number of threads.
template <typename Real>
class WindowedFourier {
 public:
  using Complex = std::complex<Real>;

  WindowedFourier(Index rows, Index cols, std::vector<Window> windows,
                  const std::vector<RowMatrix<Complex>>& transfer, Fourier direction,
                  const std::vector<SampleShift>& shifts = {});

  Index size() const { return rows_ * cols_; }
  Index images() const { return static_cast<Index>(windows_.size()); }
  Index pixels() const { return low_rows_ * low_cols_; }
  /// psi of all images, one after the other: (images * pixels) x k.
  void project(const ConstRows<Complex>& U, RowMatrix<Complex>& fields) const;
  /// The adjoint of project.
  void back_project(const RowMatrix<Complex>& fields, Rows<Complex> out) const;
  /// z = sum_c d_c |psi_c|^2 - b and out = sum_l window_l^* conj(P_l) F (z psi): one gradient.
  void residual_products(const ConstRows<Complex>& U, const Vector<Real>& d, const Vector<Real>& b,
                         Vector<Real>& z, Rows<Complex> out) const;
  /// sum_l w_l |P_l|^2 where its window lies: the diagonal of W^* W with weights.
  Vector<Real> coverage(const Vector<Real>& image_weights) const;

 private:
  using Scratch = typename BandFft<Real>::Scratch;
  // Columns of U or sums over images: for each one a plane of real and one of imaginary parts, as
  // transposed arrays of rows x cols.
  struct Spectra {
    Vector<Real> values;
    Index plane;

    void resize(Index columns, Index size);
    Index columns() const { return values.size() / (2 * plane); }
    Real* real(Index c) { return values.data() + 2 * c * plane; }
    const Real* real(Index c) const { return values.data() + 2 * c * plane; }
  };
  // Arrays of one group of images. What belongs to an image is there twice: while one image is on
  // its way back, the next one comes.
  struct Group {
    Spectra sums;              // zero between calls
    Vector<Real> images[2];    // one for each column
    Vector<Real> partials[2];  // intensities of all but the first part of the columns
  };
  // Arrays of one call, kept for the next one.
  struct Workspace {
    Spectra spectra;
    std::vector<Group> groups;
  };
  // Some columns of one image, and where they work.
  struct Task {
    Index image, part, begin, end;  // columns begin to end - 1
    Group& group;
    Scratch& scratch;

    Real* picture(Index c, Index size) const { return group.images[image % 2].data() + c * size; }
  };

  void set_shifts(const std::vector<SampleShift>& shifts);
  const Real* transfer(Index l) const {
    return transfer_[transfer_.size() == 1 ? 0 : static_cast<size_t>(l)].data();
  }
  void set_transfer(const std::vector<RowMatrix<Complex>>& transfer, Fourier direction);
  Index offset(const Corner& corner) const { return corner.right * rows_ + corner.down; }
  template <typename Body>
  void over_window(Index l, const Body& body) const;
  void load_between(Index l, const Spectra& spectra, Index c, Scratch& scratch) const;
  void add_between(Index l, const Scratch& scratch, Spectra& sums, Index c) const;
  void prefetch(Index l, const Spectra& spectra, Index c) const;
  void load(Index l, const Spectra& spectra, Index c, Scratch& scratch) const;
  void add(Index l, Scratch& scratch, Spectra& sums, Index c) const;
  Index groups(Index columns) const;
  Index parts(Index columns) const;
  void spread(const ConstRows<Complex>& U, Spectra& spectra) const;
  void collect(std::vector<Group>& groups, Rows<Complex> out) const;
  template <typename There, typename Between, typename Back>
  void over_images(Index columns, Workspace& work, const There& there, const Between& between,
                   const Back& back) const;

  Index rows_, cols_, low_rows_, low_cols_;
  std::vector<Window> windows_;
  // Its band are the rows in which some transfer function is not zero; spans_ those of each column,
  // counted from there, in blocks.
  std::unique_ptr<BandFft<Real>> fft_;
  std::vector<Band> spans_;
  std::vector<Vector<Real>> transfer_;          // divided by sqrt(pixels), as spectra of fft_
  std::vector<std::array<Corner, 4>> corners_;  // of each image; empty: windows are on samples
  mutable ObjectPool<Workspace> workspaces_;
  mutable ObjectPool<Scratch> scratch_;
};

}  // namespace udv
