// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// Threads that kernels may use; 0 or less means all cores. Results do not depend on it.
UDV_EXPORT void set_num_threads(int count);
UDV_EXPORT int num_threads();

/// Runs body(begin, end) over 0 .. size - 1 cut into blocks of `block` indices, on all threads.
/// The cut depends on the sizes alone, never on the number of threads, so partial sums per block
/// that are added in order give the same bits everywhere. Threads inherit the caller's
/// floating-point mode. One block, one thread or a call from within a block: a plain loop.
UDV_EXPORT void parallel_blocks(Index size, Index block,
                                const std::function<void(Index, Index)>& body);

}  // namespace udv
