// SPDX-License-Identifier: MIT
#pragma once

// The parser asserts some things that files of others break, and reports them as errors right
// after: an error it is in every build.
#ifndef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
#endif
#include <toml++/toml.h>
