// SPDX-License-Identifier: MIT
#include "running.hpp"

#include <cblas.h>

namespace udv::python {
namespace {

constexpr auto kBetweenChecks = std::chrono::milliseconds(20);

}  // namespace

template <typename Call>
void PythonListener::guarded(const Call& call) {
  if (error_ || watcher_.is_none()) return;
  const py::gil_scoped_acquire gil;
  try {
    call();
  } catch (...) {
    error_ = std::current_exception();
  }
}

void PythonListener::begin(const jobs::ProgressTotal& total, const jobs::ProgressWords& words) {
  guarded([&] {
    watcher_.attr("begin")(total.iterations, total.seconds,
                           py::make_tuple(words.iteration, words.objective, words.rank));
  });
}

void PythonListener::progress(const IterationRecord& r) {
  guarded([&] {
    watcher_.attr("step")(r.iteration, r.seconds, r.objective, r.rank, r.norm_u, r.max_d, r.step);
  });
}

void PythonListener::end() {
  guarded([&] { watcher_.attr("end")(); });
}

bool PythonListener::interrupted() {
  if (error_) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now - checked_ < kBetweenChecks) return false;
  checked_ = now;
  const py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) {
    try {
      throw py::error_already_set();
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  return error_ != nullptr;
}

void PythonListener::rethrow() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

OneBlasThread::OneBlasThread() : before_(openblas_get_num_threads()) {
  if (before_ != 1) openblas_set_num_threads(1);
}

OneBlasThread::~OneBlasThread() {
  if (before_ != 1) openblas_set_num_threads(before_);
}

const char* outcome_text(jobs::Outcome outcome) {
  switch (outcome) {
    case jobs::Outcome::kLimited:
      return "limited";
    case jobs::Outcome::kInterrupted:
      return "interrupted";
    default:
      return "done";
  }
}

}  // namespace udv::python
