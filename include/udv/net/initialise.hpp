// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "udv/core/export.hpp"
#include "udv/net/network.hpp"

namespace udv::net {

/// Random weights of the dense layers; D is the identity. Then the constraint sets.
///   pytorch           uniform in +- 1 / sqrt(inputs), weights and biases (nn.Linear's default)
///   truncated-normal  N(0, 0.02^2) within two standard deviations, biases zero (the paper's heads)
/// Throws InvalidArgument that lists the known names.
template <typename Real>
UDV_EXPORT void initialise(Network<Real>& network, std::string_view name, std::uint64_t seed);

UDV_EXPORT std::string initialisation_names();
/// Throws InvalidArgument that lists the known names.
UDV_EXPORT void check_initialisation(std::string_view name);

}  // namespace udv::net
