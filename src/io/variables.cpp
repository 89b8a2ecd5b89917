// SPDX-License-Identifier: MIT
#include "udv/io/variables.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "array_layout.hpp"
#include "core/require.hpp"
#include "gzip.hpp"
#include "isolated.hpp"
#include "names.hpp"
#include "npy_format.hpp"
#include "text.hpp"
#include "udv/io/file.hpp"
#include "unpacked_size.hpp"
#include "variable_format.hpp"

namespace udv::io {
namespace detail {
namespace {

const VariableFormat& format_of(const std::filesystem::path& path) {
  const std::string extension = lower_case(path.extension().string());
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return kFolderFormat;
  if (extension == ".npz") return kNpzFormat;
  if (extension == ".npy") return kNpyFormat;
  if (extension == ".tif" || extension == ".tiff") return kTiffFormat;
  if (extension == ".mat") return mat_format(path);
  const bool named = extension == ".h5" || extension == ".hdf5";
  if (named || (std::filesystem::exists(path, unknown) && is_hdf5(path))) return kHdf5Format;
  require<IoError>(false, path.string(), ": name that ends in ", in_quotes(extension),
                   " found, .mat, .npz, .npy, .tif, .tiff, .h5, .hdf5 or a folder of pictures "
                   "expected");
  return kHdf5Format;
}

/// Without the quotes, on one line and shortened.
std::string plain(std::string_view name) {
  const std::string quoted = in_quotes(name);
  return quoted.substr(1, quoted.size() - 2);
}

std::string list_text(const std::vector<Variable>& variables) {
  constexpr std::size_t kMost = 20;
  if (variables.empty()) return "no variable at all";
  std::string text;
  for (std::size_t k = 0; k < std::min(variables.size(), kMost); ++k) {
    text += (k == 0 ? "" : ", ") + variable_text(variables[k]);
  }
  return variables.size() > kMost ? message(text, " and ", variables.size() - kMost, " more")
                                  : text;
}

}  // namespace

std::vector<Index> sliced_shape(std::vector<Index> shape, const Slices& slices) {
  shape[static_cast<std::size_t>(slices.axis)] = slices.end - slices.begin;
  return shape;
}

ComplexArray cut_slices(const ComplexArray& array, const Slices& slices) {
  const auto axis = static_cast<std::ptrdiff_t>(slices.axis);
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, Index{1}, std::multiplies<>());
  };
  const auto& shape = array.shape;
  // Elements that lie together in one slice, and slices that lie together.
  const Index together = product(shape.begin() + axis + 1, shape.end());
  const Index size = shape[static_cast<std::size_t>(axis)];
  ComplexArray part{sliced_shape(shape, slices), {}, array.is_complex};
  for (Index outer = 0; outer < product(shape.begin(), shape.begin() + axis); ++outer) {
    const auto first = array.values.begin() + (outer * size + slices.begin) * together;
    part.values.insert(part.values.end(), first, first + (slices.end - slices.begin) * together);
  }
  return part;
}

std::string place_of(const std::filesystem::path& path, const Variable& variable) {
  return message(path.string(), ": variable ", in_quotes(variable.name));
}

std::size_t plausible_count(const std::filesystem::path& path, const Variable& variable,
                            std::size_t width) {
  const std::uintmax_t file_size = std::filesystem::file_size(path);
  const std::optional<std::size_t> count = element_count(variable.shape);
  const bool plausible = count && static_cast<double>(*count) * static_cast<double>(width) <=
                                      static_cast<double>(most_unpacked(file_size));
  require<IoError>(plausible, place_of(path, variable), ": ", shape_text(variable.shape),
                   " numbers announced in a file of ", file_size,
                   " bytes, fewer expected (option max-expand)");
  return *count;
}

}  // namespace detail

std::string variable_text(const Variable& variable) {
  return message(detail::plain(variable.name), " (", shape_text(variable.shape), " ",
                 detail::plain(variable.type), ")");
}

Variable describe_npy(const std::filesystem::path& path) {
  const std::string name = path.string();
  const bool packed = detail::is_packed(path);
  const std::string start = packed ? detail::read_unpacked_start(path, detail::kLongestNpyHeader)
                                   : read_start(path, detail::kLongestNpyHeader);
  const detail::NpyFile file = detail::parse_npy_header(name, start);
  const std::size_t header = start.size() - file.data.size();
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  if (!unknown && !packed)
    detail::require_whole_npy(name, file, static_cast<std::size_t>(size) - header);
  return {"", file.shape, detail::type_name(file), detail::is_numeric(file)};
}

VariableFile::VariableFile(std::filesystem::path path)
    : path_(std::move(path)),
      format_(&detail::format_of(path_)),
      variables_(detail::list_isolated(*format_, path_)) {}

const Variable* VariableFile::find(std::string_view name) const {
  const auto found = std::find_if(variables_.begin(), variables_.end(),
                                  [&](const Variable& variable) { return variable.name == name; });
  return found == variables_.end() ? nullptr : &*found;
}

bool VariableFile::has(std::string_view name) const {
  return find(name) != nullptr;
}

const Variable& VariableFile::numeric(std::string_view name) const {
  const Variable* const variable = find(name);
  require<IoError>(variable != nullptr, path_.string(), ": variable ", detail::in_quotes(name),
                   " not there; found: ", detail::list_text(variables_));
  require<IoError>(variable->is_numeric, detail::place_of(path_, *variable), ": ",
                   shape_text(variable->shape), " ", variable->type,
                   " found, booleans, integers, floats or complex numbers expected");
  return *variable;
}

ComplexArray VariableFile::read(std::string_view name) const {
  return detail::read_isolated(*format_, path_, numeric(name));
}

bool VariableFile::reads_slices_along(Index axis) const {
  return format_->read_slices != nullptr && (axis == 0 || !format_->pages);
}

ComplexArray VariableFile::read(std::string_view name, const Slices& slices) const {
  const Variable& variable = numeric(name);
  const auto axes = static_cast<Index>(variable.shape.size());
  require(0 <= slices.axis && slices.axis < axes, "VariableFile::read: axis ", slices.axis,
          " of an array of shape ", shape_text(variable.shape));
  const Index size = variable.shape[static_cast<std::size_t>(slices.axis)];
  require(0 <= slices.begin && slices.begin <= slices.end && slices.end <= size,
          "VariableFile::read: slices ", slices.begin, " to ", slices.end, " of ", size);
  if (slices.begin == slices.end) return {detail::sliced_shape(variable.shape, slices), {}, false};
  if (!reads_slices_along(slices.axis))
    return detail::cut_slices(detail::read_isolated(*format_, path_, variable), slices);
  return detail::read_isolated(*format_, path_, variable, slices);
}

}  // namespace udv::io
