// SPDX-License-Identifier: MIT
#include "bindings.hpp"
#include "keywords.hpp"
#include "udv/core/options.hpp"

namespace udv::python {
namespace {

// An IoError of Python, made once with the module.
py::handle io_error;

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const OptionError& error) {
    const std::string name = error.name().empty() ? "" : keyword_of(error.name()) + ": ";
    PyErr_SetString(PyExc_ValueError, (name + error.problem()).c_str());
  } catch (const InvalidArgument& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const IoError& error) {
    PyErr_SetString(io_error.ptr(), error.what());
  }
}

}  // namespace

void bind_errors(py::module_& m) {
  static py::exception<IoError> type(m, "IoError", PyExc_OSError);
  type.attr("__module__") = "udv";
  type.attr("__doc__") =
      "A file that cannot be read or written; the message starts with its path and position.";
  io_error = type;
  py::register_exception_translator(translate);
}

}  // namespace udv::python
