// SPDX-License-Identifier: MIT
#include "udv/core/entries.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "arrays.hpp"
#include "bindings.hpp"
#include "core/require.hpp"

namespace udv::python {
namespace {

constexpr Index kLargestSize = std::numeric_limits<std::int32_t>::max();
constexpr double kMirrorTolerance = 1e-12;

void check_sizes(const std::string& name, Index rows, Index cols, bool symmetric) {
  require(rows > 0 && cols > 0, name, ": a ", rows, " x ", cols,
          " matrix found, at least 2 x 2 expected");
  require(rows <= kLargestSize && cols <= kLargestSize, name, ": a ", rows, " x ", cols,
          " matrix found, at most ", kLargestSize, " rows and columns expected");
  require(!symmetric || rows == cols, name, ": a ", rows, " x ", cols,
          " matrix found, a square one expected where symmetric");
}

bool mirror_images_agree(double a, double b) {
  return std::abs(a - b) <= kMirrorTolerance * std::max(std::abs(a), std::abs(b));
}

/// A matrix of NumPy in any memory layout; NaN marks what is not known.
struct DenseView {
  std::string name;
  py::detail::unchecked_reference<double, 2> at;
  bool symmetric;

  double known(Index i, Index j) const {
    const double value = at(i, j);
    if (std::isinf(value))
      throw InvalidArgument(message(name, ": ", value, " found at row ", i, ", column ", j,
                                    ", a finite number or NaN expected"));
    return value;
  }
  // The entry, or its mirror image where it is not known itself.
  double value(Index i, Index j) const {
    const double upper = known(i, j);
    if (!symmetric || i == j) return upper;
    const double lower = known(j, i);
    if (std::isnan(upper)) return lower;
    require(std::isnan(lower) || mirror_images_agree(upper, lower), name, ": ", upper,
            " found at row ", i, ", column ", j, " but ", lower,
            " at its mirror image, equal values expected where symmetric");
    return upper;
  }
};

std::shared_ptr<Entries> entries_of_dense(const std::string& name, const py::array_t<double>& X,
                                          bool symmetric, bool may_be_empty) {
  const DenseView view{name, X.unchecked<2>(), symmetric};
  const Index rows = X.shape(0), cols = X.shape(1);
  check_sizes(name, rows, cols, symmetric);
  const py::gil_scoped_release free;
  auto entries = std::make_shared<Entries>();
  entries->rows = rows;
  entries->cols = cols;
  entries->symmetric = symmetric;
  std::size_t count = 0;
  for (Index i = 0; i < rows; ++i)
    for (Index j = symmetric ? i : 0; j < cols; ++j) count += !std::isnan(view.value(i, j));
  require(may_be_empty || count > 0, name, ": only NaN found, at least one known entry expected");
  entries->row.reserve(count);
  entries->col.reserve(count);
  entries->value.reserve(count);
  for (Index i = 0; i < rows; ++i)
    for (Index j = symmetric ? i : 0; j < cols; ++j) {
      const double value = view.value(i, j);
      if (std::isnan(value)) continue;
      entries->row.push_back(static_cast<std::int32_t>(i));
      entries->col.push_back(static_cast<std::int32_t>(j));
      entries->value.push_back(value);
    }
  return entries;
}

using Indices = Dense<std::int64_t>;
using Values = Dense<double>;

void check_triplets(const std::string& name, const Indices& i, const Indices& j, const Values& v,
                    const Values& w) {
  require(i.size() == v.size() && j.size() == v.size(), name, ": ", i.size(), " rows, ", j.size(),
          " columns and ", v.size(), " values found, equally many expected");
  require(w.size() == 0 || w.size() == v.size(), "weight: ", w.size(), " weights and ", v.size(),
          " values found, equally many expected");
  require(v.size() > 0, name, ": no entries found, at least one expected");
}

void check_triplet(const std::string& name, const Entries& frame, Index t, Index i, Index j,
                   double value) {
  require(i >= 0 && i < frame.rows, name, ": entry ", t, " stands in row ", i, ", 0 to ",
          frame.rows - 1, " expected");
  require(j >= 0 && j < frame.cols, name, ": entry ", t, " stands in column ", j, ", 0 to ",
          frame.cols - 1, " expected");
  if (!std::isfinite(value))
    throw InvalidArgument(message(name, ": entry ", t, " (row ", i, ", column ", j, ") is ", value,
                                  ", a finite number expected"));
}

void check_weight(Index t, double weight) {
  if (!(std::isfinite(weight) && weight >= 0))
    throw InvalidArgument(
        message("weight: weight ", t, " is ", weight, ", a number of at least 0 expected"));
}

bool is_sorted(const Entries& entries) {
  for (std::size_t t = 1; t < entries.value.size(); ++t)
    if (std::pair(entries.row[t - 1], entries.col[t - 1]) >=
        std::pair(entries.row[t], entries.col[t]))
      return false;
  return true;
}

// Sorted by (row, column), each place once.
void sort_entries(const std::string& name, Entries& entries) {
  if (is_sorted(entries)) return;
  std::vector<std::size_t> order(entries.value.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t t) { return std::pair(entries.row[t], entries.col[t]); };
  const auto before = [&](std::size_t s, std::size_t t) { return key(s) < key(t); };
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::stable_sort(order.begin(), order.end(), before);
  Entries sorted{entries.rows, entries.cols, entries.symmetric, {}, {}, {}};
  for (std::size_t n = 0; n < order.size(); ++n) {
    const std::size_t t = order[n];
    const bool repeated = n > 0 && key(order[n - 1]) == key(t);
    if (repeated && entries.symmetric &&
        mirror_images_agree(entries.value[order[n - 1]], entries.value[t]))
      continue;
    require(!repeated, name, ": two values found for row ", entries.row[t], ", column ",
            entries.col[t], " (", entries.value[order[n > 0 ? n - 1 : 0]], " and ",
            entries.value[t], "), one expected");
    sorted.row.push_back(entries.row[t]);
    sorted.col.push_back(entries.col[t]);
    sorted.value.push_back(entries.value[t]);
    if (!entries.weight.empty()) sorted.weight.push_back(entries.weight[t]);
  }
  entries = std::move(sorted);
}

std::shared_ptr<Entries> entries_of_triplets(const std::string& name, const Indices& i,
                                             const Indices& j, const Values& v, const Values& w,
                                             std::pair<Index, Index> shape, bool symmetric) {
  check_sizes(name, shape.first, shape.second, symmetric);
  check_triplets(name, i, j, v, w);
  const py::gil_scoped_release free;
  auto entries = std::make_shared<Entries>();
  std::tie(entries->rows, entries->cols) = shape;
  entries->symmetric = symmetric;
  const auto count = static_cast<std::size_t>(v.size());
  entries->row.reserve(count);
  entries->col.reserve(count);
  entries->value.reserve(count);
  const std::int64_t* const rows = i.data();
  const std::int64_t* const cols = j.data();
  for (Index t = 0; t < v.size(); ++t) {
    check_triplet(name, *entries, t, rows[t], cols[t], v.data()[t]);
    const bool below = symmetric && rows[t] > cols[t];
    entries->row.push_back(static_cast<std::int32_t>(below ? cols[t] : rows[t]));
    entries->col.push_back(static_cast<std::int32_t>(below ? rows[t] : cols[t]));
    entries->value.push_back(v.data()[t]);
    if (w.size() == 0) continue;
    check_weight(t, w.data()[t]);
    entries->weight.push_back(w.data()[t]);
  }
  sort_entries(name, *entries);
  return entries;
}

// Weights for the entries of a dense matrix, from another one of its shape.
void set_weights(Entries& entries, const py::array_t<double>& weights) {
  const auto at = weights.unchecked<2>();
  require(weights.shape(0) == entries.rows && weights.shape(1) == entries.cols, "weight: shape (",
          weights.shape(0), ", ", weights.shape(1), ") found, (", entries.rows, ", ", entries.cols,
          ") expected");
  entries.weight.clear();
  for (std::size_t t = 0; t < entries.value.size(); ++t) {
    const double weight = at(entries.row[t], entries.col[t]);
    check_weight(static_cast<Index>(t), weight);
    entries.weight.push_back(weight);
  }
}

}  // namespace

void bind_entries(py::module_& m) {
  py::class_<Entries, std::shared_ptr<Entries>>(m, "Entries")
      .def_static("dense", entries_of_dense, py::arg("name"), py::arg("X").noconvert(),
                  py::arg("symmetric"), py::arg("may_be_empty") = false)
      .def_static("triplets", entries_of_triplets)
      .def("set_weights", set_weights)
      .def("__len__", [](const Entries& e) { return e.value.size(); })
      .def_property_readonly("shape", [](const Entries& e) { return std::pair(e.rows, e.cols); })
      .def_property_readonly("rows", [](const Entries& e) { return to_array<std::int64_t>(e.row); })
      .def_property_readonly("cols", [](const Entries& e) { return to_array<std::int64_t>(e.col); })
      .def_property_readonly("values", [](const Entries& e) { return to_array<double>(e.value); });
}

}  // namespace udv::python
