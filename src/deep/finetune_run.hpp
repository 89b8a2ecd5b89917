// SPDX-License-Identifier: MIT
#pragma once

#include "deep/learner.hpp"

namespace udv::deep {

/// All epochs, or what is left of them after a checkpoint. The classifier's head is the trained one
/// afterwards.
FinetuneResult run_finetuning(Classifier& classifier, Learner& learner, const FinetuneHooks& hooks);

}  // namespace udv::deep
