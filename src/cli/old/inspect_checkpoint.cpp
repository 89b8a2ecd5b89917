// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <complex>

#include "cli/inspect_kinds.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"
#include "udv/net/trainer.hpp"
#include "udv/recover/solver/solve_state.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

constexpr std::string_view kRecovery = "udv checkpoint ";
constexpr std::string_view kTraining = "udv training state ";
constexpr std::size_t kLengthBytes = 8;  // of the length before kTraining

// Calls use(state) with what `read` makes of the bytes; its complaints get the file's name.
template <typename Read, typename Use>
auto with_state(const std::filesystem::path& file, const Read& read, const Use& use) {
  try {
    return use(read(io::read_bytes(file)));
  } catch (const InvalidArgument& error) {
    throw IoError(message(file.string(), ": ", error.what()));
  }
}

// The last word of the first line: float32, float64, complex64 or complex128.
std::string scalar_of(const std::string& start) {
  const std::string line = start.substr(0, start.find('\n'));
  return line.substr(line.rfind(' ') + 1);
}

template <typename Use>
auto with_checkpoint(const std::filesystem::path& file, const Use& use) {
  const std::string scalar = scalar_of(io::read_start(file, 80));
  const auto as = [&]<typename Scalar>(Scalar) {
    return with_state(
        file, [](const std::string& bytes) { return checkpoint_from_bytes<Scalar>(bytes); }, use);
  };
  if (scalar == scalar_name<float>()) return as(float{});
  if (scalar == scalar_name<std::complex<float>>()) return as(std::complex<float>{});
  if (scalar == scalar_name<std::complex<double>>()) return as(std::complex<double>{});
  return as(double{});
}

template <typename Use>
auto with_training_state(const std::filesystem::path& file, const Use& use) {
  const std::string start = io::read_start(file, 80);
  const bool single = start.find(scalar_name<float>()) != start.npos;
  const auto as = [&]<typename Real>(Real) {
    return with_state(
        file, [](const std::string& bytes) { return net::train_state_from_bytes<Real>(bytes); },
        use);
  };
  return single ? as(float{}) : as(double{});
}

template <typename Scalar>
std::string matrix_text(const Stack<Scalar>& stack) {
  const Index cols = stack.symmetric ? stack.rows : stack.Z.rows() - stack.rows;
  return fmt::format("{} x {}{}, {} columns", stack.rows, cols,
                     stack.symmetric ? ", symmetric" : "", stack.rank());
}

template <typename Scalar>
std::string fits_text(const SolveState<Scalar>& checkpoint) {
  std::string ranks;
  for (const auto& fit : checkpoint.journal)
    ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", fit.Z.rank());
  return fmt::format("{}{}", checkpoint.journal.size(),
                     ranks.empty() ? "" : ", of rank " + plain_text(ranks, 80));
}

}  // namespace

bool starts_checkpoint(std::string_view bytes) {
  return bytes.starts_with(kRecovery);
}

bool starts_training_state(std::string_view bytes) {
  return bytes.size() > kLengthBytes && bytes.substr(kLengthBytes).starts_with(kTraining);
}

std::string brief_checkpoint(const std::filesystem::path& file) {
  return with_checkpoint(file, [](const auto& checkpoint) {
    return fmt::format("iteration {}, {} fits", checkpoint.gradient.iteration,
                       checkpoint.journal.size());
  });
}

void show_checkpoint(const std::filesystem::path& file, const InspectOptions&) {
  const std::string start = io::read_start(file, 80);
  with_checkpoint(file, [&](const auto& checkpoint) {
    print_file(file);
    print_row("written by", plain_text(start.substr(0, start.find('\n'))));
    print_row("run",
              fmt::format("{:016x}: the hash of its problem and options", checkpoint.fingerprint));
    print_row("time spent", report::duration(checkpoint.seconds));
    if (checkpoint.has_gradient) {
      const auto& gradient = checkpoint.gradient;
      print_row("matrix", matrix_text(gradient.factors.stack()));
      print_row("iteration", fmt::format("{}", gradient.iteration));
      print_row("objective", report::number(gradient.objective));
      print_row("live columns", fmt::format("{}", gradient.live));
    } else if (!checkpoint.journal.empty()) {
      print_row("matrix", matrix_text(checkpoint.journal.back().Z));
    }
    print_row("finished fits", fits_text(checkpoint));
    print_row("history", fmt::format("{} lines", checkpoint.history.size()));
  });
}

std::string brief_training_state(const std::filesystem::path& file) {
  return with_training_state(file, [](const auto& state) {
    return fmt::format("epoch {}, batch {}", state.epoch, state.batch);
  });
}

void show_training_state(const std::filesystem::path& file, const InspectOptions&) {
  const std::string start = io::read_start(file, kLengthBytes + 28);
  with_training_state(file, [&](const auto& state) {
    print_file(file);
    print_row("written by", plain_text(start.substr(std::min(start.size(), kLengthBytes))));
    print_row("run", plain_text(state.settings, 4000));
    print_row("time spent", report::duration(state.seconds));
    print_row("next", fmt::format("epoch {}, batch {}", state.epoch, state.batch));
    print_row("steps", fmt::format("{}", state.optimizer.steps));
    print_row("hidden neurons", fmt::format("{}", state.hidden));
    print_row("parameters", fmt::format("{}, and {} arrays of the optimizer as long",
                                        state.parameters.size(), state.optimizer.moments.size()));
    if (!state.history.empty())
      print_row("last test loss", report::number(state.history.back().test_loss));
  });
}

}  // namespace udv::cli
