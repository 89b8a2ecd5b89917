// SPDX-License-Identifier: MIT
#include "bindings.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/version.hpp"

PYBIND11_MODULE(_udv, m) {
  using namespace udv::python;
  m.doc() = "The engine of udv. Use the package udv instead.";
  m.attr("__version__") = std::string(udv::version());
  bind_errors(m);
  bind_options(m);
  bind_entries(m);
  bind_recovery(m);
  bind_columns(m);
  bind_complete(m);
  bind_sense(m);
  bind_phase(m);
  bind_ptychography(m);
  bind_models(m);
  bind_training(m);
  bind_files(m);
}
