// SPDX-License-Identifier: MIT
#pragma once

#include "core/archive.hpp"
#include "udv/net/trainer.hpp"

namespace udv::net {

// Found by the archive through its argument.
template <typename Archive>
void fields(Archive& archive, EpochRecord& r) {
  archive(r.epoch, r.step, r.seconds, r.train_loss, r.test_loss, r.test_accuracy, r.validation_loss,
          r.validation_accuracy, r.learning_rate, r.live_width, r.effective_rank);
}

}  // namespace udv::net
