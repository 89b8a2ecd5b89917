// SPDX-License-Identifier: MIT
#include "recover/device/entries_device.hpp"

#include "core/require.hpp"
#include "udv/core/options.hpp"

namespace udv::device {
namespace {

// Bytes an entry while the pattern is sorted, which is the most that an entry ever needs.
constexpr double kBytesPerEntry = 48;
// A line has its share of some factors of 16 columns and their posteriors, whatever is asked for.
constexpr double kLeastPerLine = 4096;
// Factors, gradients and directions that a solver has at a time.
constexpr double kArrays = 12;

// One line of all arrays of a gradient run.
template <typename Scalar>
double arrays_of_line(Index columns) {
  return kArrays * static_cast<double>(line_stride<Scalar>(columns) * sizeof(Scalar));
}

// Beside them in auto mode: the posterior of a line, or, where it is too wide for one, its block of
// the preconditioner and the factor of this.
template <typename Scalar>
double model_of_line(Index columns) {
  const Index numbers =
      columns < kMostBayesWidth ? record_stride<Scalar>(columns) : 2 * packed_size(columns);
  return static_cast<double>(numbers * static_cast<Index>(sizeof(Scalar)));
}

double bytes_needed(Index entries, Index lines, double line) {
  return kBytesPerEntry * static_cast<double>(entries) +
         std::max(kLeastPerLine, line) * static_cast<double>(lines);
}

template <typename Scalar>
void check_columns(Index width) {
  if (width > kMostColumns<Scalar>)
    throw OptionError("device", message("cuda takes ", kMostColumns<Scalar>, " columns at most, ",
                                        width, " found: a smaller max-rank expected"));
}

// A model with all that it refers to.
template <typename Scalar>
class HostModel final : public Linearization<Scalar> {
 public:
  HostModel(const EntriesOperator<Scalar>& op, const StackedFactors<Scalar>& Z)
      : residual_(op, Reals<Scalar>::Zero(op.num_measurements())),
        Z_(Z.Z),
        model_(residual_.linearize(Z_)) {}

  void normal_product(const RowMatrix<Scalar>& P, RowMatrix<Scalar>& Y) override {
    in_.upload(P);
    model_->normal_product(in_, out_);
    Y.resize(P.rows(), P.cols());
    out_.download(Y);
  }
  double mean_diagonal() const override { return model_->mean_diagonal(); }
  void factor_preconditioner(double damping) override { model_->factor_preconditioner(damping); }
  void precondition(const RowMatrix<Scalar>& R, RowMatrix<Scalar>& Y) const override {
    in_.upload(R);
    model_->precondition(in_, out_);
    Y.resize(R.rows(), R.cols());
    out_.download(Y);
  }

 private:
  EntriesResidual<Scalar> residual_;
  DeviceMatrix<Scalar> Z_;
  mutable DeviceMatrix<Scalar> in_, out_;
  std::unique_ptr<EntriesModel<Scalar>> model_;
};

}  // namespace

template <typename Scalar>
EntriesOnDevice<Scalar>::EntriesOnDevice(const EntriesOperator<Scalar>& op, Index columns)
    : rows_(op.rows()), cols_(op.cols()), size_(op.num_measurements()), columns_(columns) {
  require_memory(bytes_needed(size_, rows_ + cols_, arrays_of_line<Scalar>(columns)),
                 "this matrix");
  const SparseLines lines = op.by_row();
  pattern_ = module().make_pattern(rows_, cols_, lines.first, lines.other, lines.entry);
  check();
}

template <typename Scalar>
void EntriesOnDevice<Scalar>::require_model_memory(const EntriesOperator<Scalar>& op,
                                                   Index columns) {
  const double line = arrays_of_line<Scalar>(columns) + model_of_line<Scalar>(columns);
  const std::string what = message("this matrix with max-rank ", columns);
  require_memory(bytes_needed(op.num_measurements(), op.rows() + op.cols(), line), what.c_str());
}

template <typename Scalar>
EntriesOnDevice<Scalar>::~EntriesOnDevice() {
  module().release_pattern(pattern_);
}

template <typename Scalar>
std::vector<std::vector<Index>> EntriesOnDevice<Scalar>::connected_blocks(
    const std::vector<char>& marks) const {
  const auto nodes = static_cast<size_t>(rows_ + cols_);
  std::vector<std::int32_t> label(nodes);
  const std::int64_t count = module().connected_blocks(pattern_, marks.data(), label.data());
  check();
  if (count <= 1) return {};
  std::vector<std::vector<Index>> blocks;
  std::vector<std::int32_t> place(nodes);  // of the block with this root, which comes first
  for (size_t node = 0; node < nodes; ++node) {
    if (!marks[node]) continue;
    const auto root = static_cast<size_t>(label[node]);
    if (root == node) {
      place[root] = static_cast<std::int32_t>(blocks.size());
      blocks.emplace_back();
    }
    blocks[static_cast<size_t>(place[root])].push_back(static_cast<Index>(node));
  }
  return blocks;
}

template <typename Scalar>
void EntriesOnDevice<Scalar>::products(const ConstRows<Scalar>& left,
                                       const ConstRows<Scalar>& right, Scalar* y) const {
  check_columns<Scalar>(left.cols());
  const DeviceMatrix<Scalar> a((RowMatrix<Scalar>(left))), b((RowMatrix<Scalar>(right)));
  Array<Scalar> by_row(size_), by_entry(size_);
  kernels<Scalar>().products(pattern_, a.data(), b.data(), a.cols(), by_row.data());
  kernels<Scalar>().unplace(pattern_, by_row.data(), by_entry.data());
  by_entry.download(y);
}

template <typename Scalar>
void EntriesOnDevice<Scalar>::gather(int side, const Scalar* z, const ConstRows<Scalar>& other,
                                     Scalar scale, bool add, Rows<Scalar> out) const {
  check_columns<Scalar>(other.cols());
  const DeviceMatrix<Scalar> from((RowMatrix<Scalar>(other)));
  const Array<Scalar> given(z, size_);
  Array<Scalar> by_side(size_);
  kernels<Scalar>().place(pattern_, side, given.data(), by_side.data());
  DeviceMatrix<Scalar> to;
  if (add)
    to.upload(out);
  else
    to.resize(out.rows(), out.cols());
  kernels<Scalar>().adjoint(pattern_, side, by_side.data(), from.data(), from.cols(), scale, add,
                            to.data());
  to.download(out);
}

template <typename Scalar>
EntriesModel<Scalar>::EntriesModel(const EntriesOnDevice<Scalar>& entries, bool symmetric,
                                   const Array<Scalar>* weight, const DeviceMatrix<Scalar>& Z)
    : entries_(entries),
      symmetric_(symmetric),
      weight_(weight),
      Z_(Z),
      blocks_(Z.rows() * packed_size(Z.cols())) {
  const Index p = entries.rows();
  for (int side = 0; side < 2; ++side) {
    const bool second = side == 1 && !symmetric_;
    kernels<Scalar>().blocks(entries_.pattern(), side, Z.line(side == 0 && !symmetric_ ? p : 0),
                             Z.cols(), weight_ ? weight_[side].data() : nullptr, symmetric_,
                             side == 1 && symmetric_, blocks_.data() + (second ? p * packed() : 0));
  }
}

template <typename Scalar>
void EntriesModel<Scalar>::normal_product(const DeviceMatrix<Scalar>& P, DeviceMatrix<Scalar>& Y) {
  const Kernels<Scalar>& k = kernels<Scalar>();
  const Index p = entries_.rows(), width = Z_.cols();
  pairs_.resize(Z_.rows(), 2 * Z_.stride());
  k.pairs(Z_.data(), P.data(), Z_.rows(), width, pairs_.data());
  Y.resize(P.rows(), P.cols());
  for (int side = 0; side < 2; ++side) {
    const Index own = side == 1 && !symmetric_ ? p : 0, other = side == 0 && !symmetric_ ? p : 0;
    k.normal(entries_.pattern(), side, pairs_.line(own), pairs_.line(other), width,
             weight_ ? weight_[side].data() : nullptr, side == 1 && symmetric_, Y.line(own));
  }
}

template <typename Scalar>
double EntriesModel<Scalar>::mean_diagonal() const {
  const double sum = kernels<Scalar>().trace(blocks_.data(), Z_.rows(), Z_.cols());
  check();
  return sum / static_cast<double>(Z_.rows() * Z_.cols());
}

template <typename Scalar>
void EntriesModel<Scalar>::factor_preconditioner(double damping) {
  factors_.resize(blocks_.size());
  kernels<Scalar>().factor(blocks_.data(), damping, Z_.rows(), Z_.cols(), factors_.data());
}

template <typename Scalar>
void EntriesModel<Scalar>::precondition(const DeviceMatrix<Scalar>& R,
                                        DeviceMatrix<Scalar>& Y) const {
  Y.resize(R.rows(), R.cols());
  kernels<Scalar>().solve(factors_.data(), R.data(), R.rows(), R.cols(), Y.data());
}

template <typename Scalar>
EntriesResidual<Scalar>::EntriesResidual(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b)
    : op_(op), entries_(*op.device()), b_(&b) {
  const Reals<Scalar>& root = op.root_weights();
  const bool weighted = root.size() > 0;
  Reals<Scalar> values;
  if (weighted) values = (root.array() > 0).select(b.array() / root.array(), Scalar(0));
  const Reals<Scalar> weights = weighted ? Reals<Scalar>(root.cwiseAbs2()) : Reals<Scalar>();
  entries_.place(weighted ? values.data() : b.data(), value_);
  if (weighted) entries_.place(weights.data(), weight_);
}

template <typename Scalar>
void EntriesResidual<Scalar>::line_sums(int side, double mean, const double* own,
                                        const double* other, double* sums, double* squares) const {
  kernels<Scalar>().line_sums(entries_.pattern(), side, value_[side].data(),
                              weights() ? weight_[side].data() : nullptr, mean, own, other, sums,
                              squares);
  check();
}

template <typename Scalar>
void EntriesResidual<Scalar>::residual(const ThinMatrix& Z, Residual& r) const {
  check_columns<Scalar>(Z.cols());
  const bool symmetric = op_.symmetric();
  kernels<Scalar>().residual(entries_.pattern(), 0, Z.line(0),
                             Z.line(symmetric ? 0 : entries_.rows()), Z.cols(), value_[0].data(),
                             weights() ? weight_[0].data() : nullptr, Scalar(1), false, nullptr,
                             &r.squares);
  check();
}

template <typename Scalar>
double EntriesResidual<Scalar>::products(const ThinMatrix& Z, const Vector<double>& d,
                                         ThinMatrix& G) const {
  if (d.size() == 0) return products(Z, Z, G);
  ThinMatrix scaled = Z;
  kernels<Scalar>().scale_columns(scaled.data(), d.data(), Z.rows(), Z.cols());
  return products(Z, scaled, G);
}

template <typename Scalar>
double EntriesResidual<Scalar>::products(const ThinMatrix& Z, const ThinMatrix& scaled,
                                         ThinMatrix& G) const {
  check_columns<Scalar>(Z.cols());
  const bool symmetric = op_.symmetric();
  double squares = 0;
  G.resize(Z.rows(), Z.cols());
  for (int side = 0; side < 2; ++side) {
    const Index own = side == 1 && !symmetric ? entries_.rows() : 0;
    const Index other = side == 0 && !symmetric ? entries_.rows() : 0;
    kernels<Scalar>().residual(entries_.pattern(), side, scaled.line(own), Z.line(other), Z.cols(),
                               value_[side].data(), weights() ? weight_[side].data() : nullptr,
                               symmetric ? Scalar(0.5) : Scalar(1), side == 1 && symmetric,
                               G.line(own), side == 0 ? &squares : nullptr);
  }
  check();
  return squares;
}

// J^T r: twice A*(r) U where symmetric.
template <typename Scalar>
void EntriesResidual<Scalar>::gradient(const ThinMatrix& Z, const Residual&, ThinMatrix& G) const {
  products(Z, Z, G);
  if (op_.symmetric()) combine(2, G, 0, G, G);
}

template <typename Scalar>
std::unique_ptr<EntriesModel<Scalar>> EntriesResidual<Scalar>::linearize(
    const ThinMatrix& Z) const {
  return std::make_unique<EntriesModel<Scalar>>(entries_, op_.symmetric(), weights(), Z);
}

template <typename Scalar>
std::unique_ptr<Linearization<Scalar>> linearize_on_device(const EntriesOperator<Scalar>& op,
                                                           const StackedFactors<Scalar>& Z) {
  return std::make_unique<HostModel<Scalar>>(op, Z);
}

#define UDV_INSTANTIATE(Scalar)                                        \
  template class EntriesOnDevice<Scalar>;                              \
  template class EntriesModel<Scalar>;                                 \
  template class EntriesResidual<Scalar>;                              \
  template std::unique_ptr<Linearization<Scalar>> linearize_on_device( \
      const EntriesOperator<Scalar>&, const StackedFactors<Scalar>&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)

}  // namespace udv::device
