// SPDX-License-Identifier: MIT
#pragma once

namespace udv::net {

/// experiments/paper-tables.csv, as it was when the library was built.
const char* paper_tables();

}  // namespace udv::net
