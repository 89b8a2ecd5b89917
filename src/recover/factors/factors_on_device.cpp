// SPDX-License-Identifier: MIT
#include "core/instantiate.hpp"
#include "recover/device/device.hpp"
#include "udv/recover/factors/factorization.hpp"

namespace udv {

template <typename Scalar>
const StackedFactors<Scalar>& Factorization<Scalar>::stack() const {
  if (moved_) device::download(*away_, Z_.Z);
  moved_ = false;
  return Z_;
}

#define UDV_INSTANTIATE(Scalar) \
  template const StackedFactors<Scalar>& Factorization<Scalar>::stack() const;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
