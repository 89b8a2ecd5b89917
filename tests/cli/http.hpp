// SPDX-License-Identifier: MIT
#pragma once

#include <httplib.h>

#undef _res  // of <resolv.h>; Eigen has parameters of this name
