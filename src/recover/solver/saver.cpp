// SPDX-License-Identifier: MIT
#include "recover/solver/saver.hpp"

#include <utility>

namespace udv {

Saver::Saver(const Hooks& hooks, const Recorder& recorder, ToBytes to_bytes)
    : hooks_(hooks), recorder_(recorder), to_bytes_(std::move(to_bytes)), clock_(hooks) {}

bool Saver::should_continue(Verdict verdict) {
  if (verdict != Verdict::kContinue) verdict_ = verdict;
  if (hooks_.save && (stopped() || clock_.due())) save();
  return !stopped();
}

void Saver::end_part() {
  part_.reset();
  if (!stopped() && clock_.due_at_point()) save();
}

void Saver::save() {
  clock_.save([this] { return to_bytes_(recorder_.state_at(part_ ? *part_ : recorder_.mark())); });
}

}  // namespace udv
