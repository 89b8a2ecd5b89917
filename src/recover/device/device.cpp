// SPDX-License-Identifier: MIT
#include "recover/device/device.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/machine.hpp"
#include "core/require.hpp"
#include "udv/core/options.hpp"

namespace udv::device {
namespace {

constexpr const char* kFile = "libudv_cuda.so";

[[noreturn]] void refuse(const std::string& why) {
  throw OptionError("device", why);
}

// Where this library, or the program that contains it, lies.
std::filesystem::path own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&check), &info) == 0 || !info.dli_fname) return {};
  std::error_code unknown;
  return std::filesystem::weakly_canonical(info.dli_fname, unknown).parent_path();
}

// The module that a variable names, else the one beside the library or the program.
void* open_module() {
  if (const char* const named = std::getenv("UDV_CUDA_MODULE"))
    return dlopen(named, RTLD_NOW | RTLD_LOCAL);
  const std::filesystem::path folder = own_folder();
  for (const auto& place : {folder / kFile, folder.parent_path() / "lib" / kFile}) {
    std::error_code unknown;
    if (std::filesystem::exists(place, unknown))
      return dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  return dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
}

const Module* load() {
  void* const library = open_module();
  if (!library) {
    const char* const why = dlerror();
    refuse(message("cuda needs the component cuda, which is not there (", why ? why : kFile, ")"));
  }
  const auto get = reinterpret_cast<GetModule>(dlsym(library, kModuleSymbol));
  const Module* const found = get ? get() : nullptr;
  if (!found || found->version != kModuleVersion)
    refuse(message("the component cuda has version ", found ? found->version : 0, ", ",
                   kModuleVersion, " expected"));
  if (const char* const why = found->start())
    refuse(message("no CUDA device can be used (", why, ")"));
  return found;
}

}  // namespace

const Module& module() {
  static const Module* const loaded = load();
  return *loaded;
}

namespace {

std::string memory_text() {
  std::size_t free_bytes = 0, all_bytes = 0;
  module().memory(&free_bytes, &all_bytes);
  return message("the device ", module().name(), ", which has ",
                 bytes_text(static_cast<double>(free_bytes)), " free");
}

constexpr const char* kRemedy = ": a smaller max-rank or fewer entries expected";

}  // namespace

void check() {
  const char* const why = module().failed();
  if (!why) return;
  if (std::string_view(why).find("out of memory") != std::string_view::npos)
    refuse(message("more memory was needed (", why, ") on ", memory_text(), kRemedy));
  throw std::runtime_error(message("the CUDA device failed: ", why));
}

void refuse_array(std::size_t bytes) {
  refuse(message("another ", bytes_text(static_cast<double>(bytes)), " needed on ", memory_text(),
                 kRemedy));
}

void require_memory(double bytes, const char* what) {
  std::size_t free_bytes = 0, all_bytes = 0;
  module().memory(&free_bytes, &all_bytes);
  if (bytes > static_cast<double>(free_bytes))
    refuse(message(what, " needs about ", bytes_text(bytes), " on ", memory_text()));
}

}  // namespace udv::device
