// SPDX-License-Identifier: MIT
#include "recover/solver/solve_state.hpp"

#include "core/instantiate.hpp"
#include "recover/solver/state_archive.hpp"

namespace udv {

template <typename Archive>
void fields(Archive& archive, ColumnHistory& columns) {
  archive(columns.iteration, columns.norm_u, columns.d);
}

template <typename Archive, typename Scalar>
void fields(Archive& archive, StackedFactors<Scalar>& stack) {
  archive(stack.Z, stack.rows, stack.symmetric);
}

template <typename Archive, typename Scalar>
void fields(Archive& archive, RankFit<Scalar>& fit) {
  archive(fit.Z, fit.objective, fit.outer, fit.inner);
}

template <typename Archive>
void fields(Archive& archive, FinishedSearch& search) {
  archive(search.center, search.biases.global, search.biases.row, search.biases.col);
}

template <typename Archive>
void fields(Archive& archive, InterruptedSearch& search) {
  archive(search.number, search.fits, search.start, search.sweeps);
  if constexpr (std::is_same_v<Archive, ArchiveWriter>)
    if (search.write) return archive.text(search.write);
  archive(search.bytes);
}

template <typename Archive, typename Scalar>
void fields(Archive& archive, SolveState<Scalar>& c) {
  archive(c.fingerprint, c.seconds, c.has_gradient, c.gradient);
  archive(c.journal, c.searches, c.history, c.columns, c.search);
}

namespace {

template <typename Scalar>
std::string kind() {
  return message("solve ", scalar_name<Scalar>());
}

}  // namespace

template <typename Scalar>
std::string to_bytes(const SolveState<Scalar>& state) {
  return bytes_of_state(kind<Scalar>(), state);
}

template <typename Scalar>
SolveState<Scalar> solve_state_from_bytes(std::string_view bytes) {
  return state_from_bytes<SolveState<Scalar>>(kind<Scalar>(), bytes);
}

#define UDV_INSTANTIATE(Scalar)                             \
  template std::string to_bytes(const SolveState<Scalar>&); \
  template SolveState<Scalar> solve_state_from_bytes(std::string_view);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
