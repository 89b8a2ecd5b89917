// SPDX-License-Identifier: MIT
// Stacks of images in one variable named "images": a folder of pictures, or one .npy file.
#include "image_folder.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include "array_layout.hpp"
#include "core/require.hpp"
#include "mapped_file.hpp"
#include "names.hpp"
#include "npy_format.hpp"
#include "tiff.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/png.hpp"
#include "unpacked_size.hpp"
#include "variable_format.hpp"

namespace udv::io::detail {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_tiff(const fs::path& path) {
  const std::string extension = lower_case(path.extension().string());
  return extension == ".tif" || extension == ".tiff";
}

bool is_picture(const fs::path& path) {
  return is_tiff(path) || lower_case(path.extension().string()) == ".png";
}

std::vector<fs::path> pictures_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    // Hidden files are not the user's: some systems put one beside each picture.
    const bool hidden = entry.path().filename().string().starts_with('.');
    if (hidden || !is_picture(entry.path()) || entry.is_directory()) continue;
    require<IoError>(entry.is_regular_file(), entry.path().string(),
                     ": no file found, or a link that leads nowhere; a picture expected");
    files.push_back(entry.path());
  }
  require<IoError>(!files.empty(), folder.string(),
                   ": no picture found, .tif, .tiff or .png files expected");
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return comes_before(a.filename().string(), b.filename().string());
  });
  return files;
}

// Pages, rows and columns of one file.
std::vector<Index> shape_of(const fs::path& path) {
  if (!is_tiff(path)) {
    const PngInfo info = describe_png(path);
    return {1, info.height, info.width};
  }
  const TiffStack stack = describe_tiff(path);
  return {stack.pages, stack.rows, stack.cols};
}

std::vector<Variable> list_folder(const fs::path& folder) {
  std::vector<Index> shape;
  for (const fs::path& path : pictures_in(folder)) {
    const std::vector<Index> one = shape_of(path);
    if (shape.empty()) shape = {0, one[1], one[2]};
    require<IoError>(one[1] == shape[1] && one[2] == shape[2], path.string(), ": ", one[1], " x ",
                     one[2], " pixels found, ", shape[1], " x ", shape[2],
                     " expected, as in the first file of the folder");
    shape[0] += one[0];
  }
  return {{kStackVariable, shape, "pictures", true}};
}

// Pages [begin, end) of one file.
void append_picture(const fs::path& path, Index begin, Index end,
                    std::vector<std::complex<double>>& values) {
  if (is_tiff(path)) {
    const TiffStack stack = read_tiff(path, begin, end);
    values.insert(values.end(), stack.values.begin(), stack.values.end());
    return;
  }
  const RowMatrix<std::uint16_t> picture = read_png_levels(path);
  values.insert(values.end(), picture.data(), picture.data() + picture.size());
}

// Throws IoError where the files are too small for the pixels that they announce.
void require_plausible_pixels(const fs::path& folder, const std::vector<fs::path>& files,
                              const std::vector<Index>& shape) {
  std::uintmax_t bytes = 0;
  for (const fs::path& path : files) bytes += fs::file_size(path);
  const auto pixels = element_count(shape).value_or(std::numeric_limits<std::size_t>::max());
  require_expansion(folder.string(), bytes, pixels);
}

ComplexArray read_pictures(const fs::path& folder, const Variable& variable, const Slices& slices) {
  const std::vector<fs::path> files = pictures_in(folder);
  require_plausible_pixels(folder, files, variable.shape);
  ComplexArray array{sliced_shape(variable.shape, slices), {}, false};
  Index first = 0;  // page of the file, counted over all files
  for (const fs::path& path : files) {
    if (first >= slices.end) break;
    const Index pages = is_tiff(path) ? describe_tiff(path).pages : 1;
    const Index begin = std::max(slices.begin - first, Index{0});
    const Index end = std::min(slices.end - first, pages);
    if (begin < end) append_picture(path, begin, end, array.values);
    first += pages;
  }
  require<IoError>(array.values.size() == element_count(array.shape), folder.string(),
                   ": the pictures have changed since they were listed");
  return array;
}

ComplexArray read_folder(const fs::path& folder, const Variable& variable) {
  return read_pictures(folder, variable, {0, 0, variable.shape[0]});
}

std::vector<Variable> list_npy(const fs::path& path) {
  Variable variable = describe_npy(path);
  variable.name = kStackVariable;
  return {variable};
}

ComplexArray read_npy_stack(const fs::path& path, const Variable&) {
  return read_complex_npy(path);
}

ComplexArray read_npy_slices(const fs::path& path, const Variable& variable, const Slices& slices) {
  const MappedFile file = map_file(path, "an .npy file");
  const NpyFile npy = parse_npy_header(path.string(), file.bytes);
  require<IoError>(npy.shape == variable.shape, path.string(),
                   ": the file has changed since it was listed");
  return decode_complex_npy(path.string(), npy, slices);
}

}  // namespace

bool comes_before(std::string_view a, std::string_view b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number_end = [](std::string_view text, size_t at) {
      while (at < text.size() && is_digit(text[at])) ++at;
      return at;
    };
    while (i + 1 < a.size() && a[i] == '0' && is_digit(a[i + 1])) ++i;
    while (j + 1 < b.size() && b[j] == '0' && is_digit(b[j + 1])) ++j;
    const std::string_view m = a.substr(i, number_end(a, i) - i);
    const std::string_view n = b.substr(j, number_end(b, j) - j);
    if (m != n) return m.size() != n.size() ? m.size() < n.size() : m < n;
    i += m.size();
    j += n.size();
  }
  return a.size() - i < b.size() - j;
}

const VariableFormat kFolderFormat{list_folder, read_folder, true, read_pictures, true};
const VariableFormat kNpyFormat{list_npy, read_npy_stack, false, read_npy_slices};

}  // namespace udv::io::detail
