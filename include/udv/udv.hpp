// SPDX-License-Identifier: MIT
#pragma once

/// Everything: recover low-rank matrices without being told the rank.
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/version.hpp"
#include "udv/io/entries_io.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/png.hpp"
#include "udv/io/variables.hpp"
#include "udv/recover/operators/dense.hpp"
#include "udv/recover/operators/entries.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/operators/rank_one.hpp"
#include "udv/recover/operators/user.hpp"
#include "udv/recover/optics.hpp"
#include "udv/recover/phase.hpp"
#include "udv/recover/ptychography.hpp"
#include "udv/recover/recover.hpp"
#include "udv/recover/run_folder.hpp"
#include "udv/report/picture.hpp"
