// SPDX-License-Identifier: MIT
#include "udv/recover/solver/solve_state.hpp"

#include "core/archive.hpp"
#include "core/instantiate.hpp"

namespace udv {

template <typename Archive>
void fields(Archive& archive, IterationRecord& r) {
  archive(r.iteration, r.seconds, r.objective, r.rank, r.norm_u, r.max_d, r.step);
}

template <typename Archive>
void fields(Archive& archive, ColumnHistory& columns) {
  archive(columns.iteration, columns.norm_u, columns.d);
}

template <typename Archive, typename Scalar>
void fields(Archive& archive, Stack<Scalar>& stack) {
  archive(stack.Z, stack.rows, stack.symmetric);
}

template <typename Archive, typename Scalar>
void fields(Archive& archive, RankFit<Scalar>& fit) {
  archive(fit.Z, fit.objective, fit.outer, fit.inner);
}

template <typename Archive, typename Scalar>
void fields(Archive& archive, BasicGradientState<Scalar>& s) {
  archive(s.factors, s.step_rule, s.iteration, s.objective, s.ball_active);
  archive(s.live, s.live_since, s.grey, s.names, s.stop);
}

template <typename Archive, typename Scalar>
void fields(Archive& archive, SolveState<Scalar>& c) {
  archive(c.fingerprint, c.seconds, c.has_gradient, c.gradient);
  archive(c.journal, c.history, c.columns);
}

namespace {

template <typename Scalar>
std::string header() {
  return std::string("solve ") + scalar_name<Scalar>();
}

}  // namespace

template <typename Scalar>
std::string to_bytes(const SolveState<Scalar>& state) {
  ArchiveWriter archive;
  std::string first = header<Scalar>();
  // fields() lists members for both directions
  archive(first, const_cast<SolveState<Scalar>&>(state));
  return archive.take();
}

template <typename Scalar>
SolveState<Scalar> solve_state_from_bytes(std::string_view bytes) {
  ArchiveReader archive(bytes);
  std::string first;
  SolveState<Scalar> state;
  archive(first);
  require(first == header<Scalar>(), "checkpoint: a state of '", first.substr(0, 60), "' found, '",
          header<Scalar>(), "' expected");
  archive(state);
  require(archive.at_end(), "checkpoint: bytes left over at the end");
  return state;
}

#define UDV_INSTANTIATE(Scalar)                                  \
  template std::string to_bytes(const SolveState<Scalar>&); \
  template SolveState<Scalar> solve_state_from_bytes(std::string_view);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
