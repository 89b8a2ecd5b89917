// SPDX-License-Identifier: MIT
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <exception>
#include <string>
#include <vector>

#include "udv/jobs/session.hpp"

namespace udv::python {

namespace py = pybind11;

/// What Python hears of a job. `watcher` is None, or has begin(iterations, seconds, words),
/// step(iteration, seconds, objective, rank, norm_u, max_d, step) and end(). An exception out of
/// it, or a signal, stops the job and is thrown again by rethrow().
class PythonListener final : public jobs::Listener {
 public:
  explicit PythonListener(py::object watcher) : watcher_(std::move(watcher)) {}

  void begin(const jobs::ProgressTotal& total, const jobs::ProgressWords& words) override;
  void progress(const IterationRecord& record) override;
  void end() override;
  void warning(const std::string& text) override { warnings_.push_back(text); }
  void notice(const std::string& text) override { notices_.push_back(text); }
  bool interrupted() override;

  /// Throws what has stopped the job. With the GIL.
  void rethrow();
  const std::vector<std::string>& warnings() const { return warnings_; }
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  template <typename Call>
  void guarded(const Call& call);

  py::object watcher_;
  std::vector<std::string> warnings_, notices_;
  std::exception_ptr error_;
  std::chrono::steady_clock::time_point checked_ = std::chrono::steady_clock::now();
};

/// OpenBLAS works on one thread while a job runs, as the library's own threads share the work;
/// NumPy may use the same copy of it and gets its threads back.
class OneBlasThread {
 public:
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  int before_;
};

/// job(session) without the GIL. Throws KeyboardInterrupt after Ctrl-C, and what a callback threw.
template <typename Job>
auto run_job(const jobs::RunOptions& options, PythonListener& listener, const Job& job) {
  try {
    auto result = [&] {
      const py::gil_scoped_release free;
      const OneBlasThread one;
      jobs::Session session(options, &listener);
      return job(session);
    }();
    listener.rethrow();
    return result;
  } catch (const py::error_already_set&) {
    throw;
  } catch (...) {
    listener.rethrow();
    throw;
  }
}

/// "done", "limited" or "interrupted".
const char* outcome_text(jobs::Outcome outcome);

}  // namespace udv::python
