// SPDX-License-Identifier: MIT
#include "udv/core/checkpoint.hpp"

#include <fmt/format.h>

#include <complex>

#include "core/archive.hpp"
#include "core/require.hpp"
#include "jobs/inspect/kinds.hpp"
#include "recover/solver/solve_state.hpp"
#include "udv/core/text.hpp"
#include "udv/io/file.hpp"
#include "udv/net/trainer.hpp"

namespace udv::jobs {
namespace {

constexpr std::string_view kSolve = "solve ", kTraining = "training ";

Checkpoint read_checkpoint(const Path& file) {
  try {
    return checkpoint_from_bytes(io::read_bytes(file));
  } catch (const InvalidArgument& error) {
    throw IoError(message(file.string(), ": ", error.what()));
  }
}

// The text that a state starts with, "solve float64" say; empty where it starts otherwise.
std::string state_name(const std::string& payload) {
  std::string name;
  try {
    ArchiveReader archive(payload);
    archive(name);
  } catch (const InvalidArgument&) {
    return "";
  }
  return name.size() <= 60 ? plain_text(name) : "";
}

std::string scalar_of(const std::string& name) {
  return name.substr(name.rfind(' ') + 1);
}

// Calls use(state) with what the payload holds.
template <typename Use>
void with_solve_state(const std::string& payload, const std::string& scalar, const Use& use) {
  if (scalar == scalar_name<float>()) return use(solve_state_from_bytes<float>(payload));
  if (scalar == scalar_name<std::complex<float>>())
    return use(solve_state_from_bytes<std::complex<float>>(payload));
  if (scalar == scalar_name<std::complex<double>>())
    return use(solve_state_from_bytes<std::complex<double>>(payload));
  return use(solve_state_from_bytes<double>(payload));
}

template <typename Use>
void with_training_state(const std::string& payload, const std::string& scalar, const Use& use) {
  if (scalar == scalar_name<float>()) return use(net::train_state_from_bytes<float>(payload));
  return use(net::train_state_from_bytes<double>(payload));
}

template <typename Factors>
std::string matrix_text(const Factors& stack) {
  const Index cols = stack.symmetric ? stack.rows : stack.Z.rows() - stack.rows;
  return fmt::format("{} x {}{}, {} columns", stack.rows, cols,
                     stack.symmetric ? ", symmetric" : "", stack.rank());
}

template <typename State>
std::string fits_text(const State& state) {
  std::string ranks;
  for (const auto& fit : state.journal)
    ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", fit.Z.rank());
  return fmt::format("{}{}", state.journal.size(),
                     ranks.empty() ? "" : ", of rank " + plain_text(ranks, 80));
}

template <typename State>
void add_solve_state(const State& state, InspectReport& report) {
  report.fact("time spent", short_duration(state.seconds));
  if (state.has_gradient) {
    report.fact("matrix", matrix_text(state.gradient.factors.stack()));
    report.fact("iteration", fmt::format("{}", state.gradient.iteration));
    report.fact("objective", short_number(state.gradient.objective));
    report.fact("live columns", fmt::format("{}", state.gradient.live));
  } else if (!state.journal.empty()) {
    report.fact("matrix", matrix_text(state.journal.back().Z));
  }
  report.fact("finished fits", fits_text(state));
  if (!state.search.bytes.empty())
    report.fact("Bayes sweeps", fmt::format("{}", state.search.sweeps));
  report.fact("history", fmt::format("{} lines", state.history.size()));
}

template <typename State>
void add_training_state(const State& state, InspectReport& report) {
  report.fact("time spent", short_duration(state.seconds));
  report.fact("next", fmt::format("epoch {}, batch {}", state.epoch, state.batch));
  report.fact("steps", fmt::format("{}", state.optimizer.steps));
  report.fact("hidden neurons", fmt::format("{}", state.hidden));
  report.fact("parameters", fmt::format("{}, and {} arrays of the optimizer as long",
                                        state.parameters.size(), state.optimizer.moments.size()));
  if (!state.history.empty())
    report.fact("last test loss", short_number(state.history.back().test_loss));
}

// Calls one of the two with a state that both know by name; others are told by their size alone.
template <typename Solve, typename Training>
void with_state(const Path& file, const std::string& payload, const Solve& solve,
                const Training& training) {
  const std::string name = state_name(payload);
  try {
    if (name.starts_with(kSolve)) with_solve_state(payload, scalar_of(name), solve);
    if (name.starts_with(kTraining)) with_training_state(payload, scalar_of(name), training);
  } catch (const InvalidArgument& error) {
    throw IoError(message(file.string(), ": ", error.what()));
  }
}

}  // namespace

bool looks_like_checkpoint(std::string_view bytes) {
  return bytes.starts_with("udv checkpoint");
}

std::string brief_checkpoint(const Path& file) {
  const Checkpoint checkpoint = read_checkpoint(file);
  std::string state = size_text(static_cast<double>(checkpoint.payload.size()));
  with_state(
      file, checkpoint.payload,
      [&](const auto& s) {
        state = fmt::format("iteration {}, {} fits", s.gradient.iteration, s.journal.size());
      },
      [&](const auto& s) { state = fmt::format("epoch {}, batch {}", s.epoch, s.batch); });
  return plain_text(checkpoint.job, 40) + ": " + state;
}

void show_checkpoint(const Path& file, const InspectOptions&, InspectReport& report) {
  const Checkpoint checkpoint = read_checkpoint(file);
  const std::string name = state_name(checkpoint.payload);
  add_file(file, report);
  report.fact("job", plain_text(checkpoint.job));
  report.fact("run", plain_text(checkpoint.fingerprint, 4000));
  report.fact("state", fmt::format("{}{}", name.empty() ? "" : name + ", ",
                                   size_text(static_cast<double>(checkpoint.payload.size()))));
  with_state(
      file, checkpoint.payload, [&](const auto& state) { add_solve_state(state, report); },
      [&](const auto& state) { add_training_state(state, report); });
}

}  // namespace udv::jobs
