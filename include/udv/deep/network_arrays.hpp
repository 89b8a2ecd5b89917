// SPDX-License-Identifier: MIT
#pragma once

#include "udv/net/network_arrays.hpp"

namespace udv::deep {

using net::BlockInfo;
using net::NamedArray;

}  // namespace udv::deep
