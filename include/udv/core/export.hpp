// SPDX-License-Identifier: MIT
#pragma once

/// Marks what users of the library call. Nothing else is visible outside of a shared library.
#define UDV_EXPORT __attribute__((visibility("default")))
