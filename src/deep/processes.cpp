// SPDX-License-Identifier: MIT
#include "udv/deep/processes.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "core/parse.hpp"
#include "core/require.hpp"
#include "deep/process_group.hpp"
#include "udv/core/options.hpp"
#include "udv/core/version.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;

constexpr int kLargestPort = 65535;
constexpr int kMostProcesses = 1 << 20;

// ---- variables

const char* variable(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

int number_of(const char* name, const char* text, int least, int most) {
  int number = 0;
  require(parse_all(std::string(text), number) && number >= least && number <= most, name, ": '",
          text, "' found, a whole number from ", least, " to ", most, " expected");
  return number;
}

const char* needed(const char* name) {
  const char* const text = variable(name);
  require(text != nullptr, name,
          " is not set, but WORLD_SIZE is: start the processes with torchrun, or set RANK, "
          "WORLD_SIZE, MASTER_ADDR and MASTER_PORT for each");
  return text;
}

// ---- errors that travel as texts: kind, name of the option, message

constexpr char kNone = '-', kOption = 'o', kArgument = 'a', kInput = 'i', kOther = 'x';

std::string error_text(char kind, const std::string& name, const std::string& problem) {
  return std::string(1, kind) + name + '\n' + problem;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
    return {kNone};
  } catch (const LostProcess&) {
    throw;
  } catch (const OptionError& error) {
    return error_text(kOption, error.name(), error.problem());
  } catch (const InvalidArgument& error) {
    return error_text(kArgument, "", error.what());
  } catch (const IoError& error) {
    return error_text(kInput, "", error.what());
  } catch (const std::exception& error) {
    return error_text(kOther, "", error.what());
  }
}

[[noreturn]] void throw_error(const std::string& text, const std::string& whose) {
  const size_t line = text.find('\n');
  const std::string name = text.substr(1, line - 1), problem = text.substr(line + 1);
  if (text[0] == kOption) throw OptionError(name, whose + problem);
  if (text[0] == kArgument) throw InvalidArgument(whose + problem);
  if (text[0] == kInput) throw IoError(whose + problem);
  throw std::runtime_error(whose + problem);
}

// The first line of `b` that is another one in `a`.
std::string difference(const std::string& a, const std::string& b) {
  std::istringstream of_a(a), of_b(b);
  std::string line_a, line_b;
  for (;;) {
    const bool more_a = static_cast<bool>(std::getline(of_a, line_a));
    const bool more_b = static_cast<bool>(std::getline(of_b, line_b));
    if (!more_a) line_a = "nothing";
    if (!more_b) line_b = "nothing";
    if (line_a != line_b || (!more_a && !more_b)) break;
  }
  return message("'", line_b, "' found, '", line_a, "' of rank 0 expected");
}

}  // namespace

std::optional<ProcessInfo> process_info() {
  const char* const size = variable("WORLD_SIZE");
  if (size == nullptr) return std::nullopt;
  ProcessInfo info;
  info.size = number_of("WORLD_SIZE", size, 1, kMostProcesses);
  if (info.size == 1) return std::nullopt;
  info.rank = number_of("RANK", needed("RANK"), 0, info.size - 1);
  info.address = needed("MASTER_ADDR");
  info.port = number_of("MASTER_PORT", needed("MASTER_PORT"), 1, kLargestPort);
  if (const char* const text = variable("LOCAL_RANK"))
    info.local_rank = number_of("LOCAL_RANK", text, 0, info.size - 1);
  if (const char* const text = variable("LOCAL_WORLD_SIZE"))
    info.local_size = number_of("LOCAL_WORLD_SIZE", text, 1, info.size);
  const char* const agent = variable("TORCHELASTIC_USE_AGENT_STORE");
  info.store_is_open = agent != nullptr && std::string(agent) == "True";
  if (const char* const text = variable("TORCHELASTIC_RESTART_COUNT")) info.attempt = text;
  return info;
}

Processes::Processes(const ProcessInfo& info, double timeout)
    : info_(info), group_(std::make_unique<Group>(info, timeout)) {}

Processes::~Processes() = default;

std::shared_ptr<Processes> Processes::from_environment(double timeout) {
  const auto info = process_info();
  return info ? std::make_shared<Processes>(*info, timeout) : nullptr;
}

std::pair<Index, Index> Processes::share(Index begin, Index end) const {
  const Index count = end - begin;
  return {begin + count * rank() / size(), begin + count * (rank() + 1) / size()};
}

std::vector<std::string> Processes::gather(const std::string& text) {
  Tensor lengths = torch::zeros({size()}, torch::kLong);
  lengths[rank()] = static_cast<std::int64_t>(text.size());
  group_->sum(lengths);
  const auto longest = std::max<std::int64_t>(1, lengths.max().item<std::int64_t>());
  Tensor bytes = torch::zeros({size(), longest}, torch::kUInt8);
  std::copy(text.begin(), text.end(), bytes[rank()].data_ptr<std::uint8_t>());
  group_->sum(bytes);
  std::vector<std::string> all;
  for (int r = 0; r < size(); ++r) {
    const auto* const row = bytes[r].data_ptr<std::uint8_t>();
    all.emplace_back(row, row + lengths[r].item<std::int64_t>());
  }
  return all;
}

std::string Processes::broadcast(const std::string& bytes) {
  Tensor length = torch::tensor({static_cast<std::int64_t>(bytes.size())}, torch::kLong);
  group_->broadcast(length);
  std::string all = is_first() ? bytes : std::string();
  all.resize(static_cast<size_t>(length.item<std::int64_t>()));
  if (!all.empty())
    group_->broadcast(
        torch::from_blob(all.data(), {static_cast<std::int64_t>(all.size())}, torch::kUInt8));
  return all;
}

int Processes::largest(int number) {
  Tensor counts = torch::zeros({size()}, torch::kLong);
  counts[rank()] = number;
  group_->sum(counts);
  return static_cast<int>(counts.max().item<std::int64_t>());
}

void Processes::run_on_all(const std::function<void()>& action) {
  const std::vector<std::string> errors = gather(error_of(action));
  for (size_t r = 0; r < errors.size(); ++r) {
    if (errors[r][0] == kNone) continue;
    agreed_ = true;
    const bool all = std::count(errors.begin(), errors.end(), errors[r]) == size();
    throw_error(errors[r], all || r == 0 ? "" : message("rank ", r, ": "));
  }
}

void Processes::check_equal(const std::string& what, const std::string& lines) {
  const std::vector<std::string> all = gather(lines);
  run_on_all([&] {
    if (!is_first()) return;
    for (size_t r = 1; r < all.size(); ++r)
      require<IoError>(all[r] == all[0], "rank ", r, ": ", what, ": ", difference(all[0], all[r]));
  });
}

bool Processes::should_report() {
  return agreed_ ? is_first() : group_->is_first_to_ask();
}

void run_on_all(const std::shared_ptr<Processes>& processes, const std::function<void()>& action) {
  if (processes)
    processes->run_on_all(action);
  else
    action();
}

Tensor gather_rows(Processes& processes, const Tensor& part, Index rows) {
  std::vector<std::int64_t> shape = part.sizes().vec();
  shape[0] = rows;
  Tensor all = torch::zeros(shape, part.options());
  const auto [begin, end] = processes.share(0, rows);
  all.narrow(0, begin, end - begin).copy_(part);
  processes.group().sum(all);
  return all;
}

void take_from_first(Processes& processes, std::vector<Tensor>& arrays) {
  const torch::NoGradGuard no_grad;
  for (Tensor& array : arrays) {
    array = array.detach().clone(at::MemoryFormat::Contiguous);
    processes.group().broadcast(array);
  }
}

}  // namespace udv::deep
