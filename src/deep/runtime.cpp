// SPDX-License-Identifier: MIT
#include "deep/runtime.hpp"

#include <dlfcn.h>
#include <sys/resource.h>

#include "core/require.hpp"
#include "udv/core/options.hpp"
#include "udv/core/parallel.hpp"
#include "udv/deep/processes.hpp"

#ifdef UDV_WITH_CUDA_KERNELS
#include <c10/cuda/CUDACachingAllocator.h>
#endif

namespace udv::deep {
namespace {

// Debian's LibTorch multiplies by OpenBLAS, which net sets to one thread; others have none of it,
// so it is looked for in the running program.
void set_openblas_threads(int count) {
  using Setter = void (*)(int);
  static const auto set = reinterpret_cast<Setter>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set) set(count);
}

}  // namespace

torch::Device device_of(const Placement& placement) {
  const std::string& name = placement.device;
  if (name == "cpu") return torch::kCPU;
  require(name == "cuda", "device '", name, "' found, cpu or cuda expected");
  if (!torch::cuda::is_available())
    throw OptionError("device",
                      "cuda: no CUDA device here that this LibTorch can use; cpu works everywhere");
  const int number = placement.processes ? placement.processes->local_rank() : 0;
  const auto count = static_cast<int>(torch::cuda::device_count());
  if (number >= count)
    throw OptionError("device", message("cuda: LOCAL_RANK ", number, " found, ", count,
                                        " CUDA devices are here, one for each process expected"));
  const torch::Device device(torch::kCUDA, static_cast<torch::DeviceIndex>(number));
  c10::impl::getDeviceGuardImpl(device.type())->setDevice(device);
  return device;
}

torch::Dtype type_named(const std::string& name, const torch::Device& device) {
  require(name == "auto" || name == "single" || name == "bf16", "precision '", name,
          "' found, one of auto, single, bf16 expected");
  const bool half = name == "bf16" || (name == "auto" && device.is_cuda());
  return half ? torch::kBFloat16 : torch::kFloat32;
}

void BlasThreads::use_all() {
  at::set_num_threads(num_threads());
  set_openblas_threads(num_threads());
}

BlasThreads::~BlasThreads() {
  set_openblas_threads(1);
}

double peak_memory(const torch::Device& device) {
#ifdef UDV_WITH_CUDA_KERNELS
  if (device.is_cuda()) {
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device.index());
    return static_cast<double>(stats.allocated_bytes[0].peak);
  }
#endif
  if (device.is_cuda()) return 0;  // LibTorch does not say
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

std::string first_line(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

}  // namespace udv::deep
