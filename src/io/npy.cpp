// SPDX-License-Identifier: MIT
#include "udv/io/npy.hpp"

#include <limits>

#include "array_layout.hpp"
#include "core/require.hpp"
#include "gzip.hpp"
#include "npy_format.hpp"
#include "udv/io/file.hpp"

namespace udv::io {
namespace {

/// "<c8" for std::complex<float>.
template <typename Scalar>
std::string descr_of() {
  const char kind = Eigen::NumTraits<Scalar>::IsComplex ? 'c' : 'f';
  return message(detail::kNativeOrder, kind, sizeof(Scalar));
}

std::string header_text(const std::string& descr, const std::vector<Index>& shape) {
  std::string sizes;
  for (const Index size : shape) sizes += message(size, shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  return message("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", sizes, "), }");
}

}  // namespace

std::string shape_text(const std::vector<Index>& shape) {
  if (shape.empty()) return "()";
  std::string text = std::to_string(shape[0]);
  for (std::size_t k = 1; k < shape.size(); ++k) text += " x " + std::to_string(shape[k]);
  return text;
}

namespace {

// Of a packed file only what its header announces, and one byte more, which shows that there is
// more.
std::string announced_start(const std::filesystem::path& path) {
  if (!detail::is_packed(path)) return read_bytes(path);
  std::string start = detail::read_unpacked_start(path, detail::kLongestNpyHeader);
  const detail::NpyFile file = detail::parse_npy_header(path.string(), start);
  const std::optional<std::size_t> bytes = detail::announced_bytes(file);
  const std::size_t header = start.size() - file.data.size();
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / 2;
  if (!bytes || *bytes > kMost) return start;  // refused for that
  return detail::read_unpacked_start(path, header + *bytes + 1);
}

}  // namespace

Array read_npy(const std::filesystem::path& path) {
  const std::string bytes = announced_start(path);
  return detail::decode_npy(path.string(), detail::parse_npy_header(path.string(), bytes));
}

ComplexArray read_complex_npy(const std::filesystem::path& path) {
  const std::string bytes = announced_start(path);
  return detail::decode_complex_npy(path.string(), detail::parse_npy_header(path.string(), bytes));
}

namespace {

std::string start_bytes(const std::string& descr, const std::vector<Index>& shape) {
  constexpr std::size_t kPreamble = 10;
  constexpr std::size_t kAlignment = 64;  // the format wants the data aligned
  std::string header = header_text(descr, shape);
  const std::size_t unpadded = kPreamble + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  require(detail::element_count(shape) && header.size() < 65536, "npy_bytes: shape ",
          shape_text(shape), " is too large");
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header;
}

}  // namespace

std::string detail::npy_start(const std::vector<Index>& shape) {
  return start_bytes(descr_of<double>(), shape);
}

template <typename Scalar>
std::string npy_bytes(const std::vector<Index>& shape, const Scalar* values) {
  std::string bytes = start_bytes(descr_of<Scalar>(), shape);
  const std::optional<std::size_t> count = detail::element_count(shape);
  bytes.append(reinterpret_cast<const char*>(values), *count * sizeof(Scalar));
  return bytes;
}

template <typename Scalar>
void write_npy(const std::filesystem::path& path, const Vector<Scalar>& values) {
  write_atomically(path, npy_bytes({values.size()}, values.data()));
}

template <typename Scalar>
void write_npy(const std::filesystem::path& path, const RowMatrix<Scalar>& values) {
  write_atomically(path, npy_bytes({values.rows(), values.cols()}, values.data()));
}

#define UDV_INSTANTIATE(Scalar)                                                 \
  template std::string npy_bytes(const std::vector<Index>&, const Scalar*);     \
  template void write_npy(const std::filesystem::path&, const Vector<Scalar>&); \
  template void write_npy(const std::filesystem::path&, const RowMatrix<Scalar>&);

UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
UDV_INSTANTIATE(std::complex<float>)
UDV_INSTANTIATE(std::complex<double>)
#undef UDV_INSTANTIATE

}  // namespace udv::io
