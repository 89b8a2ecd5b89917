// SPDX-License-Identifier: MIT
#pragma once

/// A function that is compiled for several kinds of processors, with AVX-512, with AVX2 and FMA,
/// and for any; the program takes the best one when it starts. Not where the whole build is for one
/// machine (UDV_NATIVE). What such a function calls in its loops must be inlined, lambdas too: else
/// it is the version for any processor.
#if defined(UDV_CLONE_KERNELS)
#define UDV_CLONED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define UDV_CLONED
#endif
