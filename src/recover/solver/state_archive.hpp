// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "core/archive.hpp"
#include "core/require.hpp"
#include "recover/solver/recorder.hpp"
#include "udv/recover/solver/projected_gradient.hpp"

/// States of the solvers as bytes. A state starts with a text that says what it is the state of.
namespace udv {

template <typename Archive>
void fields(Archive& archive, IterationRecord& r) {
  archive(r.iteration, r.seconds, r.objective, r.rank, r.norm_u, r.max_d, r.step);
}

template <typename Archive>
void fields(Archive& archive, RecorderState& s) {
  archive(s.seconds, s.latest, s.earlier_iterations, s.next_recorded, s.history);
}

template <typename Archive, typename Scalar>
void fields(Archive& archive, BasicGradientState<Scalar>& s) {
  archive(s.factors, s.step_rule, s.iteration, s.objective, s.ball_active);
  archive(s.live, s.live_since, s.undecided, s.names, s.stop);
}

template <typename State>
std::string bytes_of_state(std::string kind, const State& state) {
  ArchiveWriter archive;
  // fields() lists members for both directions
  archive(kind, const_cast<State&>(state));
  return archive.take();
}

/// Throws InvalidArgument where the bytes are not a whole state of this kind.
template <typename State>
State state_from_bytes(const std::string& kind, std::string_view bytes) {
  ArchiveReader archive(bytes);
  std::string found;
  archive(found);
  require(found == kind, "checkpoint: a state of '", found.substr(0, 60), "' found, '", kind,
          "' expected");
  State state;
  archive(state);
  require(archive.at_end(), "checkpoint: bytes left over at the end");
  return state;
}

/// Whether a gradient state that was read can be one of a symmetric problem of this size.
template <typename Scalar>
bool fits_symmetric(const BasicGradientState<Scalar>& state, Index size) {
  const StackedFactors<Scalar>& Z = state.factors.stack();
  return Z.symmetric && Z.rows == size && Z.Z.rows() == size &&
         state.factors.d().size() == Z.Z.cols() &&
         static_cast<Index>(state.names.size()) == Z.Z.cols();
}

}  // namespace udv
