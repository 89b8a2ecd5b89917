// SPDX-License-Identifier: MIT
#include "deep/process_group.hpp"

#include <chrono>
#include <cstdlib>
#include <thread>

#include "core/require.hpp"
#include "deep/runtime.hpp"
#include "udv/core/version.hpp"

#ifdef UDV_WITH_C10D
#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#endif
#ifdef UDV_WITH_NCCL
#define USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

namespace udv::deep {

using torch::Tensor;

#ifdef UDV_WITH_C10D
namespace {

using Milliseconds = std::chrono::milliseconds;
using Gloo = c10d::ProcessGroupGloo;
using Store = c10::intrusive_ptr<c10d::Store>;
#if TORCH_VERSION_MAJOR >= 2
using Backend = c10d::Backend;
#else
using Backend = c10d::ProcessGroup;
#endif

// Without the place in gloo's source that stands before it.
std::string first_line_of(const std::exception& error) {
  const auto* const of_torch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = of_torch ? of_torch->what_without_backtrace() : error.what();
  const size_t place = text.starts_with("[./") ? text.find("] ") : text.npos;
  const size_t begin = place == text.npos ? 0 : place + 2;
  return text.substr(begin, text.find('\n') - begin);
}

std::string name_of(const ProcessInfo& info) {
  return message("rank ", info.rank, " of ", info.size);
}

Store open_store(const ProcessInfo& info, const Milliseconds& timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(info.port);
  options.isServer = info.rank == 0 && !info.store_is_open;
  options.waitWorkers = false;
  options.timeout = timeout;
  try {
    return c10::make_intrusive<c10d::PrefixStore>(
        "udv/" + info.attempt, c10::make_intrusive<c10d::TCPStore>(info.address, options));
  } catch (const std::exception& error) {
    throw IoError(message(name_of(info), ": no connection to ", info.address, ":", info.port, ": ",
                          first_line_of(error)));
  }
}

std::vector<std::uint8_t> bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string greeting(int rank) {
  return message("greeting/", rank);
}

[[noreturn]] void refuse(const ProcessInfo& info, const std::string& text) {
  if (info.rank > 0) throw ReportedByRank0(text);
  throw IoError(text);
}

// Every process leaves its version and its number of processes, and reads those of the others. This
// comes first: other versions may talk in other ways.
void greet(c10d::Store& store, const ProcessInfo& info, const Milliseconds& timeout) {
  const std::string own = message("udv ", version(), ", WORLD_SIZE ", info.size);
  require<IoError>(store.add(message("arrivals/", info.rank), 1) == 1, name_of(info),
                   ": another process has the same RANK");
  store.set(greeting(info.rank), bytes_of(own));
  std::string first;
  for (int r = 0; r < info.size; ++r) {
    try {
      store.wait({greeting(r)}, timeout);
    } catch (const std::exception&) {
      refuse(info, message("rank ", r, " has not arrived at ", info.address, ":", info.port,
                           " after ", timeout.count() / 1000, " s"));
    }
    const auto bytes = store.get(greeting(r));
    const std::string other(bytes.begin(), bytes.end());
    if (r == 0) first = other;
    if (other != first)
      refuse(info, message("rank ", r, ": ", other, " found, ", first, " of rank 0 expected"));
  }
}

// The address that other machines reach: torch's own choice, or that of its variable.
std::shared_ptr<gloo::transport::Device> network_device(const std::string& address) {
  if (const char* const name = std::getenv("GLOO_SOCKET_IFNAME"))
    return Gloo::createDeviceForInterface(name);
  if (address == "localhost" || address.starts_with("127."))
    return Gloo::createDeviceForHostname("127.0.0.1");
  return Gloo::createDefaultDevice();
}

c10::intrusive_ptr<Backend> gloo_group(const Store& store, const ProcessInfo& info,
                                       const Milliseconds& timeout) {
  auto options = Gloo::Options::create();
  options->timeout = timeout;
  options->devices.push_back(network_device(info.address));
  return c10::make_intrusive<Gloo>(c10::make_intrusive<c10d::PrefixStore>("gloo", store), info.rank,
                                   info.size, options);
}

#ifdef UDV_WITH_NCCL
c10::intrusive_ptr<Backend> nccl_group(const Store& store, const ProcessInfo& info,
                                       const Milliseconds& timeout) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(
      c10::make_intrusive<c10d::PrefixStore>("nccl", store), info.rank, info.size, options);
}
#endif

}  // namespace

struct Processes::Group::Parts {
  ProcessInfo info;
  Milliseconds timeout;
  Store store;
  c10::intrusive_ptr<Backend> gloo, nccl;

  // What c10d and gloo throw where another process has gone.
  template <typename Action>
  auto guarded(const Action& action) const {
    try {
      return action();
    } catch (const std::exception& error) {
      throw LostProcess(message(
          name_of(info), ": another process has ended or does not answer: ", first_line_of(error)));
    }
  }

  // NCCL's group is made with the first tensor on a GPU: it needs one.
  Backend& backend(const Tensor& values) {
#ifdef UDV_WITH_NCCL
    if (values.is_cuda()) {
      if (!nccl) nccl = nccl_group(store, info, timeout);
      return *nccl;
    }
#endif
    (void)values;
    return *gloo;
  }
};

Processes::Group::Group(const ProcessInfo& info, double timeout)
    : parts_(std::make_unique<Parts>()) {
  const Milliseconds limit(static_cast<std::int64_t>(1e3 * timeout));
  parts_->info = info;
  parts_->timeout = limit;
  parts_->store = open_store(info, limit);
  parts_->guarded([&] { parts_->store->setTimeout(limit); });
  greet(*parts_->store, info, limit);
  parts_->guarded([&] { parts_->gloo = gloo_group(parts_->store, info, limit); });
}

Processes::Group::~Group() {
#if defined(UDV_WITH_NCCL) && TORCH_VERSION_MAJOR >= 2
  if (parts_->nccl) parts_->nccl->shutdown();
#endif
}

Processes::Group::Wait Processes::Group::start_sum(const Tensor& values) {
  return parts_->guarded([&]() -> Wait {
    std::vector<Tensor> tensors{values};
    return [work = parts_->backend(values).allreduce(tensors), parts = parts_.get()] {
      parts->guarded([&] { return work->wait(); });
    };
  });
}

void Processes::Group::broadcast(const Tensor& values) {
  if (values.numel() == 0) return;
  parts_->guarded([&] {  // as bytes: gloo does not know all types
    std::vector<Tensor> tensors{values.view({-1}).view(torch::kUInt8)};
    return parts_->backend(values).broadcast(tensors)->wait();
  });
}

// The process that has the store stays until the others have asked, or do not.
bool Processes::Group::is_first_to_ask() {
  constexpr auto kLook = Milliseconds(20), kLongest = Milliseconds(3000);
  const ProcessInfo& info = parts_->info;
  const auto count = [&](int own) { return parts_->store->add("complaints", own); };
  try {
    const bool first = count(1) == 1;
    const bool has_store = info.rank == 0 && !info.store_is_open;
    for (auto waited = Milliseconds(0); has_store && waited < kLongest; waited += kLook) {
      if (count(0) >= info.size) break;
      std::this_thread::sleep_for(kLook);
    }
    return first;
  } catch (const std::exception&) {
    return true;
  }
}

#else

struct Processes::Group::Parts {};

Processes::Group::Group(const ProcessInfo& info, double) {
  throw IoError(message("WORLD_SIZE: '", info.size,
                        "' found, but this program was built without c10d, for one process: "
                        "gloo's headers (Debian: libgloo-dev) were missing"));
}

Processes::Group::Wait Processes::Group::start_sum(const Tensor&) {
  return {};
}
void Processes::Group::broadcast(const Tensor&) {}
bool Processes::Group::is_first_to_ask() {
  return true;
}
Processes::Group::~Group() = default;
#endif

void Processes::Group::sum(const Tensor& values) {
  start_sum(values)();
}

}  // namespace udv::deep
