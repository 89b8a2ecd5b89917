// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/core/options.hpp"

namespace udv::io {

/// How large a packed file (.gz, .npz, .mat, HDF5) may become in memory. A few bytes can unpack to
/// more than any machine holds.
struct ExpansionLimit {
  double bytes = 16.0 * (1 << 30);
  double fold = 1000;  ///< of the packed size; results below 64 MiB are never too large
};

/// For all readers of this process from now on.
UDV_EXPORT void set_expansion_limit(const ExpansionLimit& limit);
UDV_EXPORT ExpansionLimit expansion_limit();

/// The option max-expand: GiB that a packed file may unpack to; 0: the usual limit.
UDV_EXPORT void add_max_expand(OptionTable& table, double& gib);
UDV_EXPORT void set_max_expand(double gib);

}  // namespace udv::io
