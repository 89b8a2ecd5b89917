// SPDX-License-Identifier: MIT
// cuFFT, loaded at run time: its own header is not needed, its numbers have been the same for all
// versions.
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>

#include "common.cuh"
#include "fourier.cuh"

namespace udv::device {
namespace {

constexpr int kComplexSingle = 0x29, kComplexDouble = 0x69;  // CUFFT_C2C, CUFFT_Z2Z
constexpr int kForward = -1, kInverse = 1;

struct Cufft {
  int (*create)(int*);
  int (*set_auto_allocation)(int, int);
  int (*make_plan_many)(int, int, long long*, long long*, long long, long long, long long*,
                        long long, long long, int, long long, std::size_t*);
  int (*set_work_area)(int, void*);
  int (*singles)(int, void*, void*, int);
  int (*doubles)(int, void*, void*, int);
  std::string missing;  // why it cannot be used
};

void* open_library() {
  if (const char* const named = std::getenv("UDV_CUFFT")) return dlopen(named, RTLD_NOW);
  for (const char* const name : {"libcufft.so.12", "libcufft.so.11", "libcufft.so"})
    if (void* const library = dlopen(name, RTLD_NOW)) return library;
  return nullptr;
}

Cufft load() {
  Cufft api{};
  void* const library = open_library();
  if (!library) {
    api.missing = "cuFFT (libcufft.so) is not there; UDV_CUFFT may name its file";
    return api;
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (!function) api.missing = std::string("cuFFT without ") + name;
  };
  find(api.create, "cufftCreate");
  find(api.set_auto_allocation, "cufftSetAutoAllocation");
  find(api.make_plan_many, "cufftMakePlanMany64");
  find(api.set_work_area, "cufftSetWorkArea");
  find(api.singles, "cufftExecC2C");
  find(api.doubles, "cufftExecZ2Z");
  return api;
}

const Cufft& cufft() {
  static const Cufft loaded = load();
  return loaded;
}

void check(int status, const char* what) {
  if (status != 0) note_text(std::string("cuFFT ") + what + ": error " + std::to_string(status));
}

struct Plan {
  int handle = 0;
  std::size_t work_bytes = 0;
};

// Plans are made once for each shape.
const Plan& plan_of(std::int64_t rows, std::int64_t cols, std::int64_t batch, int type) {
  static std::map<std::array<std::int64_t, 4>, Plan> plans;
  const auto [found, is_new] = plans.try_emplace({rows, cols, batch, type});
  Plan& plan = found->second;
  if (is_new) {
    long long sides[2] = {rows, cols};
    check(cufft().create(&plan.handle), "create");
    check(cufft().set_auto_allocation(plan.handle, 0), "create");
    check(cufft().make_plan_many(plan.handle, 2, sides, nullptr, 1, rows * cols, nullptr, 1,
                                 rows * cols, type, batch, &plan.work_bytes),
          "plan");
  }
  return plan;
}

template <typename Execute>
void run(void* images, const Plan& plan, bool forward, Execute execute) {
  check(cufft().set_work_area(plan.handle, scratch(kFourierSlot, plan.work_bytes)), "work area");
  check(execute(plan.handle, images, images, forward ? kForward : kInverse), "transform");
}

}  // namespace

const char* no_fourier() {
  return cufft().missing.empty() ? nullptr : cufft().missing.c_str();
}

void transform(float* images, std::int64_t rows, std::int64_t cols, std::int64_t batch,
               bool forward) {
  run(images, plan_of(rows, cols, batch, kComplexSingle), forward, cufft().singles);
}

void transform(double* images, std::int64_t rows, std::int64_t cols, std::int64_t batch,
               bool forward) {
  run(images, plan_of(rows, cols, batch, kComplexDouble), forward, cufft().doubles);
}

}  // namespace udv::device
