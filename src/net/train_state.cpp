// SPDX-License-Identifier: MIT
#include "core/require.hpp"
#include "net/train_archive.hpp"

namespace udv::net {

// Found by the archive through their arguments.
template <typename Archive, typename Real>
void fields(Archive& archive, OptimizerState<Real>& s) {
  archive(s.steps, s.mu_product, s.moments);
}

template <typename Archive, typename Real>
void fields(Archive& archive, TrainState<Real>& s) {
  archive(s.epoch, s.batch, s.loss_sum, s.samples, s.seconds, s.hidden, s.parameters, s.optimizer,
          s.average, s.best, s.best_objective, s.best_step, s.next_look, s.history);
}

namespace {

template <typename Real>
std::string header() {
  return message("training ", scalar_name<Real>());
}

}  // namespace

template <typename Real>
std::string to_bytes(const TrainState<Real>& state) {
  ArchiveWriter writer;
  std::string first = header<Real>();
  TrainState<Real> copy = state;  // the archive lists members for reading and writing alike
  writer(first, copy);
  return writer.take();
}

template <typename Real>
TrainState<Real> train_state_from_bytes(std::string_view bytes) {
  ArchiveReader reader(bytes);
  std::string first;
  TrainState<Real> state;
  reader(first);
  require(first == header<Real>(), "checkpoint: a state of '", first.substr(0, 60), "' found, '",
          header<Real>(), "' expected");
  reader(state);
  require(reader.at_end(), "checkpoint: more bytes than expected");
  return state;
}

template std::string to_bytes(const TrainState<float>&);
template std::string to_bytes(const TrainState<double>&);
template TrainState<float> train_state_from_bytes<float>(std::string_view);
template TrainState<double> train_state_from_bytes<double>(std::string_view);

}  // namespace udv::net
