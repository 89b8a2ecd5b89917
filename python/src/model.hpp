// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "bindings.hpp"
#include "udv/net/files/model_file.hpp"

namespace udv::python {

/// A trained network as Python keeps it, in the precision that it was trained in.
struct TrainedModel {
  std::variant<net::Model<float>, net::Model<double>> model;
  std::shared_ptr<const net::Model<double>> exact = nullptr;  ///< made when first asked for

  const net::Model<double>& in_double();
  net::Model<float> in_float() const;
  const net::Preprocessing& preprocessing() const;
};

std::shared_ptr<TrainedModel> trained(net::Model<float> model);
std::shared_ptr<TrainedModel> trained(net::Model<double> model);

}  // namespace udv::python
