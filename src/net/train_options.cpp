// SPDX-License-Identifier: MIT
// The table of settings, apart from the trainer: a build of the LibTorch component alone needs the
// trainer and has no command line.
#include "udv/net/initialise.hpp"
#include "udv/net/trainer.hpp"
#include "udv/net/variant.hpp"

namespace udv::net {

void describe(OptionTable& table, TrainOptions& o) {
  constexpr double kMost = 2147483648.0;
  table.group("Training");
  table.add("variant", o.variant, variant_names());
  table.add("optimizer", o.optimizer, optimizer_names());
  table.add("lr", o.learning_rate, "Learning rate").positive();
  table.add("epochs", o.epochs, "Passes over the training part").between(1, kMost);
  table.add("batch", o.batch, "Samples of one step, or all").between(1, kMost).word("all", 0);
  table.add("hidden", o.hidden, "Hidden neurons; auto: as in the paper")
      .between(1, kMost)
      .word("auto", 0);
  table
      .add("average-last", o.average_last,
           "Epochs whose mean is reported; auto: 20 for values, 3 for classes")
      .between(1, kMost)
      .word("auto", 0);
  table.add("weight-decay", o.rule.weight_decay, "Weight decay of the optimizer");
  table.add("momentum", o.rule.momentum, "Momentum of mbgdm");
  table.add("schedule", o.schedule.name, schedule_names());
  table.add("schedule-length", o.schedule.length, "Epochs between two steps of the schedule step");
  table.add("schedule-factor", o.schedule.factor, "Factor of each of these steps");
  table.add("init", o.initialisation, initialisation_names());
  table.add("bias", o.bias, "Dense layers have biases");
  table.add("shrink", o.shrink, "Remove neurons while training");
  table.add("shrink-tail", o.shrink_tail, "Share of the energy of UD that may be removed");
  table.add("shrink-every", o.shrink_every, "Epochs between two looks at the spectrum");
}

}  // namespace udv::net
