// SPDX-License-Identifier: MIT
#pragma once

#include <pybind11/numpy.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "udv/core/types.hpp"

/// Arrays of NumPy and of Eigen, without copies where that can be.
namespace udv::python {

namespace py = pybind11;

/// An array in row-major order, converted where it has another type or order.
template <typename Scalar>
using Dense = py::array_t<Scalar, py::array::c_style | py::array::forcecast>;

/// A read-only array on memory that `owner` keeps alive.
template <typename Scalar>
py::array_t<Scalar> view(const std::vector<py::ssize_t>& shape, const Scalar* values,
                         const py::handle& owner) {
  py::array_t<Scalar> array(shape, values, owner);
  array.attr("flags").attr("writeable") = false;
  return array;
}

template <typename Scalar>
py::array_t<Scalar> view(const RowMatrix<Scalar>& matrix, const py::handle& owner) {
  return view<Scalar>({matrix.rows(), matrix.cols()}, matrix.data(), owner);
}

template <typename Scalar>
py::array_t<Scalar> view(const Vector<Scalar>& vector, const py::handle& owner) {
  return view<Scalar>({vector.size()}, vector.data(), owner);
}

/// An array that owns what was moved into it.
template <typename Values>
py::array_t<typename Values::Scalar> owning(Values values, const std::vector<py::ssize_t>& shape) {
  auto* const kept = new Values(std::move(values));
  const py::capsule owner(kept, [](void* at) { delete static_cast<Values*>(at); });
  return py::array_t<typename Values::Scalar>(shape, kept->data(), owner);
}

template <typename Scalar>
py::array_t<Scalar> to_array(Vector<Scalar> values) {
  const py::ssize_t size = values.size();
  return owning(std::move(values), {size});
}

template <typename Scalar>
py::array_t<Scalar> to_array(RowMatrix<Scalar> values) {
  const py::ssize_t rows = values.rows(), cols = values.cols();
  return owning(std::move(values), {rows, cols});
}

template <typename To, typename From>
py::array_t<To> to_array(const std::vector<From>& values) {
  py::array_t<To> array(static_cast<py::ssize_t>(values.size()));
  To* const out = array.mutable_data();
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = static_cast<To>(values[i]);
  return array;
}

template <typename Scalar>
Vector<Scalar> to_vector(const Dense<Scalar>& array) {
  return Eigen::Map<const Vector<Scalar>>(array.data(), array.size());
}

template <typename Scalar>
RowMatrix<Scalar> to_matrix(const Dense<Scalar>& array) {
  return Eigen::Map<const RowMatrix<Scalar>>(array.data(), array.shape(0), array.shape(1));
}

/// Keeps a Python object alive from threads that do not hold the GIL.
inline std::shared_ptr<const void> keep_alive(const py::object& object) {
  return {object.inc_ref().ptr(), [](const void* at) {
            const py::gil_scoped_acquire gil;
            Py_DECREF(const_cast<PyObject*>(static_cast<const PyObject*>(at)));
          }};
}

}  // namespace udv::python
