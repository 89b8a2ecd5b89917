// SPDX-License-Identifier: MIT
#include "recover/solver/saver.hpp"

#include <utility>

namespace udv {

Saver::Saver(const Hooks& hooks, const Recorder& recorder, ToBytes to_bytes)
    : hooks_(hooks),
      recorder_(recorder),
      to_bytes_(std::move(to_bytes)),
      last_save_(recorder.seconds()) {}

bool Saver::go_on(Verdict verdict) {
  if (verdict != Verdict::kContinue) verdict_ = verdict;
  const bool due =
      hooks_.save && (stopped() || recorder_.seconds() - last_save_ > hooks_.save_every_seconds);
  if (due) save();
  return !stopped();
}

void Saver::save() {
  last_save_ = recorder_.seconds();
  hooks_.save(to_bytes_(recorder_.state_at(part_ ? *part_ : recorder_.mark())));
}

}  // namespace udv
