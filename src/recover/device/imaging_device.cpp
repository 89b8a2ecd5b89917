// SPDX-License-Identifier: MIT
#include "recover/device/imaging_device.hpp"

#include "core/require.hpp"
#include "udv/recover/operators/generic_linearization.hpp"

namespace udv::device {
namespace {

// Fields of all columns, as many numbers again for cuFFT, and about ten arrays like the spectrum.
double bytes_needed(double measured, double spectrum, double columns, double real_bytes) {
  return 2 * real_bytes * (columns * (2 * measured + 10 * spectrum) + 4 * measured);
}

// P / sqrt(pixels), row by row.
template <typename Real>
std::vector<Real> numbers_of(const std::vector<RowMatrix<std::complex<double>>>& transfer) {
  std::vector<Real> numbers;
  for (const auto& P : transfer) {
    const Real gain = 1 / std::sqrt(static_cast<Real>(P.size()));
    for (Index i = 0; i < P.size(); ++i) {
      const std::complex<Real> value = gain * std::complex<Real>(P.data()[i]);
      numbers.push_back(value.real());
      numbers.push_back(value.imag());
    }
  }
  return numbers;
}

std::shared_ptr<const Array<float>> uploaded_side_by_side(
    const std::vector<RowMatrix<float>>& supports) {
  std::vector<float> masks;
  masks.reserve(supports.size() * static_cast<size_t>(supports[0].size()));
  for (const RowMatrix<float>& support : supports)
    masks.insert(masks.end(), support.data(), support.data() + support.size());
  return std::make_shared<Array<float>>(masks.data(), static_cast<Index>(masks.size()));
}

template <typename Scalar>
Vector<double> repeated_ones(const DeviceMatrix<Scalar>& lines) {
  return Vector<double>::Ones(lines.cols() / 2);
}

}  // namespace

template <typename Real>
ImagingOnDevice<Real>::ImagingOnDevice(Index rows, Index cols, const std::vector<Window>& windows,
                                       const std::vector<RowMatrix<std::complex<double>>>& transfer,
                                       const ImagePupils& own, bool forward, Index columns,
                                       const ImagingOnDevice* supports_of)
    : rows_(rows),
      cols_(cols),
      low_rows_(transfer.at(0).rows()),
      low_cols_(transfer[0].cols()),
      images_(static_cast<Index>(windows.size())),
      moved_(!own.shifts.empty()) {
  require_memory(bytes_needed(static_cast<double>(measured()), static_cast<double>(size()),
                              static_cast<double>(columns), sizeof(Real)),
                 "this set of images");
  std::vector<std::int32_t> corners;
  for (const Window& window : windows) {
    corners.push_back(static_cast<std::int32_t>(window.row));
    corners.push_back(static_cast<std::int32_t>(window.col));
  }
  if (supports_of)
    supports_ = supports_of->supports_;
  else if (!own.supports.empty())
    supports_ = uploaded_side_by_side(own.supports);
  std::vector<double> shifts;
  for (const SampleShift& shift : own.shifts) {
    shifts.push_back(shift.down);
    shifts.push_back(shift.right);
  }
  const std::vector<Real> numbers = numbers_of<Real>(transfer);
  const ImagingShape shape{rows_,          cols_,
                           low_rows_,      low_cols_,
                           images_,        static_cast<Index>(transfer.size()),
                           corners.data(), moved_ ? shifts.data() : nullptr,
                           forward};
  imaging_ =
      kernels<Real>().make_imaging(&shape, numbers.data(), supports_ ? supports_->data() : nullptr);
  check();
}

template <typename Real>
ImagingOnDevice<Real>::ImagingOnDevice(const ImagingOnDevice& from, Imaging* imaging)
    : rows_(from.low_rows_ + (from.moved_ ? 2 : 0)),
      cols_(from.low_cols_ + (from.moved_ ? 2 : 0)),
      low_rows_(from.low_rows_),
      low_cols_(from.low_cols_),
      images_(from.images_),
      imaging_(imaging) {}

template <typename Real>
ImagingOnDevice<Real>::~ImagingOnDevice() {
  module().release_imaging(imaging_);
}

template <typename Real>
std::unique_ptr<ImagingOnDevice<Real>> ImagingOnDevice<Real>::seen(
    const DeviceMatrix<Real>& spectrum) const {
  Imaging* const made = kernels<Real>().seen_imaging(imaging_, spectrum.data());
  return std::unique_ptr<ImagingOnDevice>(new ImagingOnDevice(*this, made));
}

template <typename Real>
void ImagingOnDevice<Real>::project(const DeviceMatrix<Real>& U, Array<Real>& fields) const {
  fields.resize(U.cols() * measured());
  if (U.cols() > 0) kernels<Real>().project(imaging_, U.data(), U.cols() / 2, fields.data());
}

template <typename Real>
void ImagingOnDevice<Real>::back_project(Array<Real>& fields, DeviceMatrix<Real>& out) const {
  const Index columns = fields.size() / (2 * measured());
  out.resize(size(), 2 * columns);
  if (columns > 0) kernels<Real>().back_project(imaging_, fields.data(), columns, out.data());
}

template <typename Real>
void ImagingOnDevice<Real>::coverage(const Vector<double>& image_weights, Array<Real>& out) const {
  // The transfer functions are divided by sqrt(pixels).
  const Vector<double> weights = static_cast<double>(pixels()) * image_weights;
  out.resize(size());
  kernels<Real>().coverage(imaging_, weights.data(), out.data());
}

template <typename Real>
ImagingResidual<Real>::ImagingResidual(const ImagingOnDevice<Real>& images, const Vector<Real>& b)
    : images_(images), b_(b.data(), b.size()), residual_(b.size()) {}

template <typename Real>
double ImagingResidual<Real>::products(const DeviceMatrix<Real>& Z, const Vector<double>& d,
                                       DeviceMatrix<Real>& G) const {
  images_.project(Z, fields_);
  double squares = 0;
  const Vector<double> weights = d.size() > 0 ? d : repeated_ones(Z);
  kernels<Real>().intensity(fields_.data(), images_.measured(), Z.cols() / 2, weights.data(),
                            b_.data(), true, residual_.data(), &squares);
  images_.back_project(fields_, G);
  check();
  return squares;
}

template <typename Scalar>
void ImagingProducts<Scalar>::project(const ConstRows<Scalar>& U, RowMatrix<Scalar>& fields) const {
  Array<Real> away;
  images_.project(uploaded<Scalar>(U), away);
  fields.resize(images_.measured(), U.cols());
  if (U.cols() == 1) return away.download(reals_of(fields.data()));
  Matrix<Scalar> by_columns(fields.rows(), fields.cols());
  away.download(reals_of(by_columns.data()));
  fields = by_columns;
}

template <typename Scalar>
void ImagingProducts<Scalar>::sum_windows(Array<Real>& fields, Rows<Scalar> out) const {
  DeviceMatrix<Real> sums;
  images_.back_project(fields, sums);
  RowMatrix<Scalar> host;
  download(sums, host);
  out = host;
}

template <typename Scalar>
void ImagingProducts<Scalar>::back_project(const RowMatrix<Scalar>& fields,
                                           Rows<Scalar> out) const {
  const Matrix<Scalar> by_columns = fields;
  Array<Real> away(reals_of(by_columns.data()), 2 * fields.size());
  sum_windows(away, out);
}

template <typename Scalar>
void ImagingProducts<Scalar>::apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                                    const ConstRows<Scalar>& V, Reals<Scalar>& y) const {
  const Vector<double> weights = d.template cast<double>();
  Array<Real> left, right, measured(images_.measured());
  images_.project(uploaded<Scalar>(U), left);
  if (U.data() == V.data()) {
    kernels<Real>().intensity(left.data(), measured.size(), d.size(), weights.data(), nullptr,
                              false, measured.data(), nullptr);
  } else {
    images_.project(uploaded<Scalar>(V), right);
    kernels<Real>().overlaps(left.data(), right.data(), measured.size(), d.size(), weights.data(),
                             false, measured.data());
  }
  y.resize(measured.size());
  measured.download(y.data());
}

template <typename Scalar>
void ImagingProducts<Scalar>::adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
                                            Rows<Scalar> out) const {
  if (V.cols() == 0) return;
  Array<Real> fields;
  images_.project(uploaded<Scalar>(V), fields);
  const Array<Real> weights(z.data(), z.size());
  kernels<Real>().scale_fields(weights.data(), z.size(), V.cols(), fields.data());
  sum_windows(fields, out);
}

template <typename Scalar>
void ImagingProducts<Scalar>::residual_products(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                                                const Reals<Scalar>& b, Reals<Scalar>& z,
                                                Rows<Scalar> out) const {
  if (U.cols() == 0) {
    z = -b;
    return;
  }
  const Vector<double> weights = d.template cast<double>();
  Array<Real> fields, residual(b.size());
  const Array<Real> data(b.data(), b.size());
  images_.project(uploaded<Scalar>(U), fields);
  kernels<Real>().intensity(fields.data(), b.size(), U.cols(), weights.data(), data.data(), true,
                            residual.data(), nullptr);
  sum_windows(fields, out);
  z.resize(b.size());
  residual.download(z.data());
}

template <typename Scalar>
Reals<Scalar> ImagingProducts<Scalar>::coverage(const Vector<double>& image_weights) const {
  Array<Real> away;
  images_.coverage(image_weights, away);
  Reals<Scalar> light(away.size());
  away.download(light.data());
  return light;
}

namespace {

// J^T J P = 4 W^* (Re(sum_c conj (W U)_c o (W P)_c) o W U)
template <typename Scalar>
class IntensityModel final : public GenericLinearization<Scalar> {
 public:
  using Real = RealOf<Scalar>;
  IntensityModel(const ImagingOperator<Scalar>& op, const StackedFactors<Scalar>& Z)
      : GenericLinearization<Scalar>(op, Z),
        images_(*op.device()),
        weights_(Vector<double>::Constant(Z.rank(), 4)),
        measured_(images_.measured()) {
    images_.project(uploaded(Z.Z), at_);
  }

  void normal_product(const RowMatrix<Scalar>& P, RowMatrix<Scalar>& Y) override {
    images_.project(uploaded(P), moved_);
    kernels<Real>().overlaps(at_.data(), moved_.data(), measured_.size(), P.cols(), weights_.data(),
                             true, measured_.data());
    images_.back_project(moved_, sums_);
    download(sums_, Y);
  }

 private:
  const ImagingOnDevice<Real>& images_;
  Vector<double> weights_;
  Array<Real> at_, moved_, measured_;
  DeviceMatrix<Real> sums_;
};

}  // namespace

template <typename Scalar>
std::unique_ptr<Linearization<Scalar>> linearize_on_device(const ImagingOperator<Scalar>& op,
                                                           const StackedFactors<Scalar>& Z) {
  return std::make_unique<IntensityModel<Scalar>>(op, Z);
}

#define UDV_INSTANTIATE(Real)                                                      \
  template class ImagingOnDevice<Real>;                                            \
  template class ImagingResidual<Real>;                                            \
  template class ImagingProducts<std::complex<Real>>;                              \
  template std::unique_ptr<Linearization<std::complex<Real>>> linearize_on_device( \
      const ImagingOperator<std::complex<Real>>&, const StackedFactors<std::complex<Real>>&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)

}  // namespace udv::device
