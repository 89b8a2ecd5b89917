// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// What a module for a device offers: memory there, and the loops over entries and lines that
/// operators and solvers are made of. The library loads it at run time; it knows nothing of the
/// library but this file. Pointers are to device memory unless a comment says "host".
///
/// Lines of a thin factor lie line_stride(width) numbers apart, filled up with zeros: each starts
/// at a multiple of 16 bytes. Nothing throws: failed() tells of the first error. Every sum is taken
/// in an order that depends on sizes and on the device alone.
namespace udv::device {

inline constexpr int kModuleVersion = 4;

/// Entries by rows (side 0) and by columns (side 1), on the device.
struct Pattern;

/// Images that are made by Fourier transforms, on the device.
struct Imaging;

/// psi_l = F^-1 (P_l o window_l(u)), or F where `forward`, for an unknown u of rows x cols samples;
/// F is unnormalised. P_l is transfer l, or made of the one transfer P: support_l o |P| with the
/// phase of P(k - shift_l) = sum of its four neighbours, bilinear; where that is 0, of P(k).
struct ImagingShape {
  std::int64_t rows, cols;
  std::int64_t low_rows, low_cols;  ///< of an image
  std::int64_t images, transfers;   ///< one transfer, or one for each image
  const std::int32_t* windows;      ///< host: row and column of each
  const double* shifts;             ///< host: down and right of each, between -1 and 1; or null
  bool forward;
};

/// Pixels of images that are compared with amplitudes a, image by image: weights w.
template <typename T>
struct ImageData {
  const T *amplitudes, *weights;
  std::int64_t images, pixels;
};

template <typename T>
constexpr std::int64_t line_stride(std::int64_t width) {
  constexpr std::int64_t kChunk = 16 / sizeof(T);
  return (width + kChunk - 1) / kChunk * kChunk;
}

/// Numbers of the packed lower triangle of a symmetric matrix.
constexpr std::int64_t packed_size(std::int64_t width) {
  return width * (width + 1) / 2;
}

/// A posterior: mean and packed covariance, filled up to whole sectors of 32 bytes.
template <typename T>
constexpr std::int64_t record_stride(std::int64_t width) {
  constexpr std::int64_t kSector = 32 / sizeof(T);
  return (width + packed_size(width) + kSector - 1) / kSector * kSector;
}

/// Most columns that the loops over entries take, and most numbers in a posterior.
template <typename T>
inline constexpr std::int64_t kMostColumns = 2048 / sizeof(T);
inline constexpr std::int64_t kMostBayesWidth = 100;

/// An update of the posteriors of one side: see recover/solver/bayes_side.hpp.
struct BayesTask {
  std::int64_t width;
  double mean, variance;
  const double* prior;  ///< host, `width` numbers; 0: absent
  bool measure;
};

/// Sums over lines; all but the last three have one number.
struct BayesTotals {
  double lines, log_det, residual, squares;
  double* mean_sum;  ///< host, width
  double* means;     ///< host, packed sum of m m^T
  double* spread;    ///< host, packed sum of C
};

/// Residuals r = value - mean - prediction of all entries with their weights w.
struct ResidualStatistics {
  double sum, squares, largest, beyond;  ///< w r, w r^2, max w r^2, count of w r^2 >= limit
};

template <typename T>
struct Kernels {
  /// <a, b>, added up in double precision.
  double (*dot)(const T* a, const T* b, std::int64_t size);
  /// out = a x + b y; out may be x or y.
  void (*combine)(T a, const T* x, T b, const T* y, T* out, std::int64_t size);
  /// Lines of one stride to lines of another, the rest filled with zeros.
  void (*restride)(const T* in, std::int64_t in_stride, T* out, std::int64_t out_stride,
                   std::int64_t lines, std::int64_t width);
  void (*from_doubles)(const double* in, T* out, std::int64_t size);
  /// sums_c = sum_i a_ic b_ic (host).
  void (*column_products)(const T* a, const T* b, std::int64_t lines, std::int64_t width,
                          double* sums);
  /// x_ic *= weights_c (host).
  void (*scale_columns)(T* x, const double* weights, std::int64_t lines, std::int64_t width);
  /// X^T X, width x width (host).
  void (*gram)(const T* x, std::int64_t lines, std::int64_t width, double* out);
  /// out = X M, M width x columns by rows (host).
  void (*multiply)(const T* x, std::int64_t lines, std::int64_t width, const double* M,
                   std::int64_t columns, T* out);

  /// by_side_s = by_entry[entry_s], and back for side 0.
  void (*place)(const Pattern* pattern, int side, const T* by_entry, T* by_side);
  void (*unplace)(const Pattern* pattern, const T* by_row, T* by_entry);
  /// z_s = <left_i, right_j> by rows.
  void (*products)(const Pattern* pattern, const T* left, const T* right, std::int64_t width, T* z);
  /// out_i (+)= scale sum_s z_s other_j for the lines of a side.
  void (*adjoint)(const Pattern* pattern, int side, const T* z, const T* other, std::int64_t width,
                  T scale, bool add, T* out);
  /// With r_s = <own_i, other_j> - value_s: out_i (+)= scale sum_s w_s r_s other_j, where out is
  /// not null, and squares = sum w r^2 (host), where that is not null. No weights: all are 1.
  void (*residual)(const Pattern* pattern, int side, const T* own, const T* other,
                   std::int64_t width, const T* value, const T* weight, T scale, bool add, T* out,
                   double* squares);
  /// (x_i, p_i) side by side: lines of 2 line_stride(width) numbers.
  void (*pairs)(const T* x, const T* p, std::int64_t lines, std::int64_t width, T* out);
  /// The Gauss-Newton product: out_i (+)= sum_s w_s (<p_i, x_j> + <x_i, p_j>) x_j.
  void (*normal)(const Pattern* pattern, int side, const T* own_pairs, const T* other_pairs,
                 std::int64_t width, const T* weight, bool add, T* out);
  /// Its diagonal blocks sum_s w_s x_j x_j^T, packed; entries (i, i) twice where symmetric.
  void (*blocks)(const Pattern* pattern, int side, const T* other, std::int64_t width,
                 const T* weight, bool symmetric, bool add, T* blocks);
  double (*trace)(const T* blocks, std::int64_t lines, std::int64_t width);
  /// Cholesky factors of the blocks + damping I, and x = (L L^T)^-1 rhs.
  void (*factor)(const T* blocks, double damping, std::int64_t lines, std::int64_t width,
                 T* factors);
  void (*solve)(const T* factors, const T* rhs, std::int64_t lines, std::int64_t width, T* x);
  /// sums_c = sum over entries of (left_ic right_jc)^2 (host).
  void (*overlap)(const Pattern* pattern, const T* left, const T* right, std::int64_t width,
                  double* sums);
  /// With r_s = value_s - mean - own_i - other_j: sums_i = sum_s w_s r_s of the lines of a side,
  /// and squares = sum w r^2 where not null. Biases and results on the host; no bias: all are 0.
  void (*line_sums)(const Pattern* pattern, int side, const T* value, const T* weight, double mean,
                    const double* own, const double* other, double* sums, double* squares);

  /// Posteriors of the lines of a side. Values by side; line_squares (host) may be null.
  void (*bayes_update)(const Pattern* pattern, int side, const BayesTask* task, const T* other,
                       const double* value, const T* weight, T* own, BayesTotals* totals,
                       double* line_squares);
  /// w <- map w + shift for all records; map by rows (host).
  void (*bayes_transform)(T* records, std::int64_t lines, std::int64_t width, const double* map,
                          const double* shift);
  /// Part r of a new record is parts_r (host) of the old one, or 0 where that is negative.
  void (*bayes_rearrange)(const T* old, std::int64_t old_width, std::int64_t lines,
                          const std::int64_t* parts, std::int64_t width, T* out);
  /// Means of `count` parts from `first` on: columns has lines of so many numbers, `apart`.
  void (*bayes_set_means)(T* records, std::int64_t width, std::int64_t lines, std::int64_t first,
                          std::int64_t count, const double* columns, std::int64_t apart);
  void (*bayes_means)(const T* records, std::int64_t width, std::int64_t lines, std::int64_t first,
                      std::int64_t count, double* out);
  /// Means, then variances: lines of 2 width numbers.
  void (*bayes_variances)(const T* records, std::int64_t width, std::int64_t lines, float* out);
  /// Residuals of all entries as a side sees them; weighted (w r) and predicted values by side,
  /// where not null.
  void (*bayes_residuals)(const Pattern* pattern, int side, const T* own, const T* other,
                          std::int64_t width, double mean, const double* value, const T* weight,
                          double limit, ResidualStatistics* statistics, double* weighted,
                          double* predicted);
  /// w_s = known_s own_i other_j / max(predicted_s, smallest) as a side sees it; known, both noises
  /// (host) and predicted may be null. sums (host): entries with known > 0, sum of w, sum of
  /// log(known / max(predicted, smallest)) / 2.
  void (*bayes_weigh)(const Pattern* pattern, int side, const T* known, const double* own_noise,
                      const double* other_noise, const double* predicted, double smallest,
                      T* weight, double* sums);

  /// Complex numbers are two real ones, (re, im): a thin factor of k complex columns is one of 2 k
  /// real ones. Fields psi lie column by column, in each image by image. Transfers are on the host;
  /// supports may be null.
  Imaging* (*make_imaging)(const ImagingShape* shape, const T* transfer, const float* supports);
  /// The same images as a function of a factor q on the transfer: P_l o window_l(u) instead of P_l,
  /// windows at (0, 0). Where there are shifts, q has one sample more on each side, windows are at
  /// (1, 1), and image l has q(k - shift_l), bilinear.
  Imaging* (*seen_imaging)(const Imaging* imaging, const T* u);
  void (*project)(const Imaging* imaging, const T* u, std::int64_t columns, T* fields);
  /// The adjoint of project. The fields are lost.
  void (*back_project)(const Imaging* imaging, T* fields, std::int64_t columns, T* out);
  /// out_k = sum_l weights_l |P_l|^2 where its window lies, the diagonal of W^* W; weights on the
  /// host.
  void (*coverage)(const Imaging* imaging, const double* weights, T* out);
  /// z_i = sum_c d_c |psi_ic|^2 - b_i, d on the host, and sum z^2 (host) where not null; b may be
  /// null. Then psi_ic *= z_i where `scale`.
  void (*intensity)(T* fields, std::int64_t size, std::int64_t columns, const double* d, const T* b,
                    bool scale, T* z, double* squares);
  /// y_i = sum_c d_c Re(conj(at_ic) psi_ic), d on the host; then psi_ic = y_i at_ic where
  /// `replace`.
  void (*overlaps)(const T* at, T* fields, std::int64_t size, std::int64_t columns, const double* d,
                   bool replace, T* y);
  /// psi_ic *= z_i
  void (*scale_fields)(const T* z, std::int64_t size, std::int64_t columns, T* fields);
  /// out_l = (sum w (1 - s), sum w s / (2 q^2)) with q = sqrt(|psi|^2 + b_l), s = a / q; b and out
  /// on the host.
  void (*slopes)(const T* psi, const ImageData<T>* data, const double* backgrounds, double* out);
  /// sum w (q - a)^2 (host) where not null; then psi = w (q - a) psi / q where `pull`.
  void (*amplitude_residual)(T* psi, const ImageData<T>* data, const double* backgrounds, bool pull,
                             double* squares);
  /// psi = psi / q, 1 where q = 0; inverse = 1 / q, 0 where q = 0.
  void (*directions)(T* psi, const ImageData<T>* data, const double* backgrounds, T* inverse);
  /// psi = w e (r - t_l / q) with r = Re(conj(e) psi), where moving_l (host) t_l = (sum w r / q) /
  /// (sum w / q^2), else 0.
  void (*keep_changes)(const T* e, const T* inverse, const ImageData<T>* data, const double* moving,
                       T* psi);
  /// out_i (+)= weights_i x_i for lines.
  void (*weigh_lines)(const T* weights, const T* x, std::int64_t lines, std::int64_t width,
                      bool add, T* out);
  /// out = 1 / (x + shift)
  void (*shifted_inverse)(const T* x, T shift, T* out, std::int64_t size);
};

struct Module {
  int version;
  /// Nothing where the device can be used; else why not. Called first.
  const char* (*start)();
  const char* (*name)();
  /// The first error since the start; nothing where there was none.
  const char* (*failed)();
  void (*memory)(std::size_t* free_bytes, std::size_t* all_bytes);
  void* (*allocate)(std::size_t bytes);
  void (*release)(void* memory);
  void (*upload)(void* to, const void* from_host, std::size_t bytes);
  void (*download)(void* to_host, const void* from, std::size_t bytes);
  void (*copy)(void* to, const void* from, std::size_t bytes);
  void (*zero)(void* memory, std::size_t bytes);
  void (*wait)();
  /// Rows with their entries (host): first has rows + 1 numbers. Columns are made from them.
  Pattern* (*make_pattern)(std::int64_t rows, std::int64_t cols, const std::int32_t* first,
                           const std::int32_t* other, const std::int32_t* entry);
  void (*release_pattern)(Pattern* pattern);
  /// Blocks of lines that entries connect; returns how many. Nodes are rows, then columns, of which
  /// those with a mark count (host, one mark a node). label (host, one number a node) is the
  /// smallest node of its block; not written where there is one block.
  std::int64_t (*connected_blocks)(const Pattern* pattern, const char* marks, std::int32_t* label);
  void (*release_imaging)(Imaging* imaging);
  Kernels<float> singles;
  Kernels<double> doubles;
};

/// The one name that a module exports, as C.
inline constexpr const char* kModuleSymbol = "udv_device_module";
using GetModule = const Module* (*)();

}  // namespace udv::device
