// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// "1.2e-13", "0.52", "33.1": three digits, the shorter form.
UDV_EXPORT std::string short_number(double value);

/// "2.1 ms", "3.4 s", "2 min 5 s".
UDV_EXPORT std::string short_duration(double seconds);

/// The first eight singular values on one line, and dots where there are more.
UDV_EXPORT std::string short_spectrum(const Vector<double>& spectrum);

}  // namespace udv
