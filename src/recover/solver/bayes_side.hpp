// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "core/archive.hpp"
#include "core/communicator.hpp"
#include "core/team_array.hpp"
#include "recover/device/device.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {

/// Means of all lines, lines x D, on the host or on the device.
struct LineMeans {
  RowMatrix<double> here;
  device::Array<double> away;
};

/// Gaussian posteriors of the rows (or columns) of a matrix, one for each line: w = (bias, factor)
/// has D numbers with mean m and covariance C. A line is one contiguous record: m, then the lower
/// triangle of C by rows; D (D + 3) / 2 numbers. The records are on the host, or on the device.
/// With `in_team` the processes of one machine share the records if they can; all calls that change
/// some are collective.
template <typename Real>
struct UDV_EXPORT BayesSide {
  Index lines = 0, width = 0;
  TeamArray<Real> records;
  device::Array<Real> away;  ///< where the side is on the device, with record_stride() there
  bool on_device = false;
  Vector<double> prior;  ///< prior variances of w, D numbers; 0: that part of w is absent
  LineShares fresh;      ///< of an update whose records are not yet known to all processes
  bool in_team = false;  ///< each process has the entries of its own lines alone

  BayesSide() = default;
  BayesSide(Index lines, Index width, bool on_device = false, bool in_team = false);
  static Index record_size(Index width) { return width * (width + 3) / 2; }
  Index stride() const { return record_size(width); }
  Real* record(Index i) { return records.data() + i * stride(); }
  const Real* record(Index i) const { return records.data() + i * stride(); }

  /// Keeps the parts of w that are named, in that order.
  void keep(const std::vector<Index>& parts);
  /// Appends parts of w with means `columns` (lines x count), no variance.
  void append(const ConstRows<double>& columns, const Vector<double>& prior_variance);
  /// The same with columns on the device, where the side is.
  void append(const device::DeviceMatrix<double>& columns, const Vector<double>& prior_variance);
  /// w <- T w + shift for all lines. T is D x D. All processes know all records afterwards.
  void transform(const Matrix<double>& T, const Vector<double>& shift);
  /// Part 0 of w becomes absent.
  void remove_bias();
  /// Means of part 0 of w.
  void set_bias(const Vector<double>& bias);
  Vector<double> bias() const;
  /// Means of the other parts, lines x (D - 1).
  void get_factors(Rows<double> out) const;
  LineMeans means() const;
  /// Records with these means and no variance.
  void set_means(const RowMatrix<double>& means);
  /// The records as they are on the host, wherever they are.
  void write_records(ArchiveWriter& archive) const;
  /// Throws InvalidArgument where they are not those of so many lines of this width.
  void read_records(ArchiveReader& archive);
  /// Frees the records, and makes room for new ones.
  void release();
  void make_room();
  void bring_to_host();
  /// Means, then variances, of each line: lines x 2 D numbers. Where the side is on the device.
  void get_variances(float* out) const;

 private:
  Index first_line() const { return records.first_of(lines); }
  Index last_line() const { return records.last_of(lines); }
  // Nobody reads any more what is changed next, or all changes are seen by all.
  void meet() const {
    if (records.is_shared()) communicator().meet();
  }
  TeamArray<Real> new_records() const { return TeamArray<Real>(lines * stride(), in_team); }
  void rearrange_away(const std::vector<std::int64_t>& parts);
  void widen_away(const Vector<double>& prior_variance);
  void set_means_away(Index first, const double* columns, Index count, Index apart);
  void get_means_away(Index first, Index count, double* out) const;
};

template <typename Real>
class BayesOnDevice;

/// The entries as one side sees them.
template <typename Real>
struct BayesEntries {
  std::vector<SparseLines> tiles;      ///< line i has its entries in all of these
  const double* value = nullptr;       ///< by number of the entry
  const Real* weight = nullptr;        ///< nullptr: all are 1; 0 leaves the entry out
  Index total = 0;                     ///< entries of all processes together
  const LineShares* shares = nullptr;  ///< where each process has the entries of its lines alone
  /// Where the sides are on the device: all of the above are there.
  const BayesOnDevice<Real>* device = nullptr;
  int side = 0;  ///< 0: rows, 1: columns
};

/// Sums over the lines that have entries, after an update.
struct BayesSums {
  Index lines = 0;
  double log_det = 0;     ///< of C, parts that are present
  double residual = 0;    ///< sum of weight * (value - E prediction)
  double squares = 0;     ///< sum of weight * E (value - prediction)^2
  Matrix<double> moment;  ///< sum of E (1, w)(1, w)^T, (D + 1) x (D + 1)
  Matrix<double> means;   ///< sum of (1, m)(1, m)^T
};

/// Whether to measure the residuals, which costs another look at each entry.
struct BayesUpdate {
  double mean = 0;      ///< mu
  double variance = 1;  ///< sigma^2: an entry's noise has the variance sigma^2 / weight
  bool measure = false;
  bool gather = true;  ///< false: the records are about to be transformed
};

/// The posterior of each line of `own`, exactly, for the posteriors of the `other` side. With the
/// record (c, v) of partner j, F = (1, v), S its covariance and y = value - mu - c:
///   C = (sum_j weight [F F^T + S_vv] / sigma^2 + diag(1 / prior))^-1,
///   m = C sum_j weight [F y - (0, S_vc)] / sigma^2.
/// Lines without entries get their prior. `line_squares`, where not empty, gets each line's part of
/// `squares` (with `measure`). Same bits for any number of threads.
template <typename Real>
UDV_EXPORT BayesSums update_side(const BayesEntries<Real>& entries, const BayesSide<Real>& other,
                                 const BayesUpdate& update, BayesSide<Real>& own,
                                 Vector<double>* line_squares = nullptr);

}  // namespace udv
