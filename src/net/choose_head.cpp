// SPDX-License-Identifier: MIT
#include "udv/net/choose_head.hpp"

namespace udv::net {

template <typename Real>
std::string choose_head(const Dataset<Real>&, const Dataset<Real>&, TrainOptions& options) {
  if (options.variant != "auto" || options.is_paper() || options.is_strong()) return "";
  return "";
}

template std::string choose_head(const Dataset<float>&, const Dataset<float>&, TrainOptions&);
template std::string choose_head(const Dataset<double>&, const Dataset<double>&, TrainOptions&);

}  // namespace udv::net
