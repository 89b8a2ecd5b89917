// SPDX-License-Identifier: MIT
#pragma once

#include <pybind11/pybind11.h>

/// The module udv._udv: one function per file, each of which adds its part.
namespace udv::python {

namespace py = pybind11;

void bind_errors(py::module_& m);
void bind_options(py::module_& m);
void bind_entries(py::module_& m);
void bind_recovery(py::module_& m);
void bind_columns(py::module_& m);
void bind_complete(py::module_& m);
void bind_sense(py::module_& m);
void bind_phase(py::module_& m);
void bind_ptychography(py::module_& m);
void bind_models(py::module_& m);
void bind_training(py::module_& m);
void bind_files(py::module_& m);

}  // namespace udv::python
