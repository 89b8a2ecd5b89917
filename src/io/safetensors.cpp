// SPDX-License-Identifier: MIT
#include "udv/io/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/require.hpp"
#include "mapped_file.hpp"
#include "text.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"

namespace udv::io {
namespace {

using Json = nlohmann::json;  // an ordered one looks for each of its keys one by one

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kLongestHeader = 100'000'000;  // as the reference implementation has it
// Sizes beside a 0 need no bytes; their product still has to be a number.
constexpr std::uint64_t kLargestEmpty = std::uint64_t{1} << 62;
static_assert(std::endian::native == std::endian::little, "safetensors are read as they lie");

constexpr struct {
  const char* name;
  std::size_t bytes;
} kTensorTypes[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
                    {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
                    {"U32", 4},  {"F32", 4}, {"I64", 8}, {"U64", 8},     {"F64", 8}};

// The header's JSON and what follows it.
std::pair<Json, std::string_view> split_header(const std::string& name, std::string_view bytes) {
  require<IoError>(bytes.size() >= kLengthBytes, name, ": ", bytes.size(),
                   " bytes found, a safetensors file expected");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  bytes.remove_prefix(kLengthBytes);
  require<IoError>(length <= kLongestHeader && length <= bytes.size(), name, ": a header of ",
                   length, " bytes announced, ", bytes.size(), " bytes left in the file");
  Json header = Json::parse(bytes.substr(0, length), nullptr, false);
  require<IoError>(header.is_object(), name, ": the header is no JSON object");
  return {std::move(header), bytes.substr(length)};
}

class HeaderReader {
 public:
  HeaderReader(const std::string& name, std::string_view data) : name_(name), data_(data) {}

  Tensor tensor(const std::string& key, const Json& entry) const {
    Tensor result;
    result.name = key;
    const bool complete = entry.is_object() && entry.contains("dtype") &&
                          entry["dtype"].is_string() && entry.contains("shape") &&
                          entry["shape"].is_array() && entry.contains("data_offsets") &&
                          entry["data_offsets"].is_array() && entry["data_offsets"].size() == 2;
    check(complete, key, "dtype, shape and data_offsets expected");
    result.type = entry["dtype"];
    check(tensor_type_size(result.type) > 0, key,
          message("type ", quoted(result.type), " is unknown"));
    for (const Json& size : entry["shape"]) {
      check(size.is_number_unsigned(), key, "a shape of whole numbers expected");
      result.shape.push_back(size.get<Index>());
    }
    place(key, entry["data_offsets"], result);
    return result;
  }

 private:
  static std::string quoted(const std::string& text) { return detail::in_quotes(text); }

  void check(bool good, const std::string& key, const std::string& what) const {
    require<IoError>(good, name_, ": tensor ", quoted(key), ": ", what);
  }

  void place(const std::string& key, const Json& offsets, Tensor& tensor) const {
    check(offsets[0].is_number_unsigned() && offsets[1].is_number_unsigned(), key,
          "two whole numbers as data_offsets expected");
    const auto begin = offsets[0].get<std::uint64_t>(), end = offsets[1].get<std::uint64_t>();
    check(begin <= end && end <= data_.size(), key,
          message("bytes ", begin, " to ", end, " announced, ", data_.size(), " in the file"));
    const bool empty = std::count(tensor.shape.begin(), tensor.shape.end(), 0) > 0;
    const std::uint64_t limit = empty ? kLargestEmpty : data_.size();
    std::uint64_t expected = tensor_type_size(tensor.type);
    for (const Index size : tensor.shape) {
      const auto factor = static_cast<std::uint64_t>(size);
      check(size >= 0 && (factor == 0 || expected <= limit / factor), key,
            message("shape ", shape_text(tensor.shape), " is larger than the file"));
      expected *= std::max<std::uint64_t>(factor, 1);
    }
    if (empty) expected = 0;
    check(end - begin == expected, key,
          message("shape ", shape_text(tensor.shape), " of ", tensor.type, " needs ", expected,
                  " bytes, ", end - begin, " announced"));
    tensor.bytes = data_.substr(begin, end - begin);
  }

  const std::string& name_;
  std::string_view data_;
};

void refuse_overlaps(const std::string& name, const std::vector<Tensor>& tensors) {
  for (size_t t = 1; t < tensors.size(); ++t) {
    const Tensor &before = tensors[t - 1], &after = tensors[t];
    require<IoError>(before.bytes.data() + before.bytes.size() <= after.bytes.data(), name,
                     ": tensors ", detail::in_quotes(before.name), " and ",
                     detail::in_quotes(after.name), " overlap");
  }
}

// Half precision and bfloat16 as float.
float from_half(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, tail = bits & 1023;
  if (exponent == 0) return (sign ? -1.0f : 1.0f) * static_cast<float>(tail) * 0x1p-24f;
  const std::uint32_t high = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | high << 23 | tail << 13);
}
float from_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
std::uint16_t to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), sign = bits >> 16 & 0x8000u;
  const float size = std::fabs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (size >= 65520.0f) return static_cast<std::uint16_t>(sign | 0x7c00u);
  // Below 2^-14 the steps are 2^-24; else 2^-10 of the power of two below.
  if (size < 0x1p-14f)
    return static_cast<std::uint16_t>(
        sign | static_cast<std::uint32_t>(std::nearbyint(static_cast<double>(size) * 0x1p24)));
  const std::uint32_t rounded = bits + 0xfffu + (bits >> 13 & 1u);
  return static_cast<std::uint16_t>(sign | ((rounded & 0x7fffffffu) - 0x38000000u) >> 13);
}

template <typename Stored, typename Real, typename Convert>
std::string stored(const Real* values, Index count, const Convert& one) {
  std::string bytes(static_cast<std::size_t>(count) * sizeof(Stored), '\0');
  for (Index i = 0; i < count; ++i) {
    const Stored value = one(values[i]);
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(Stored), &value, sizeof(value));
  }
  return bytes;
}

template <typename Stored, typename Real, typename Convert>
void convert(std::string_view bytes, Vector<Real>& values, const Convert& one) {
  for (Index i = 0; i < values.size(); ++i) {
    Stored stored;  // tensors may begin at any byte
    std::memcpy(&stored, bytes.data() + static_cast<size_t>(i) * sizeof(Stored), sizeof(Stored));
    values(i) = static_cast<Real>(one(stored));
  }
}

}  // namespace

std::size_t tensor_type_size(std::string_view type) {
  for (const auto& known : kTensorTypes)
    if (known.name == type) return known.bytes;
  return 0;
}

Index Tensor::size() const {
  Index size = 1;
  for (const Index side : shape) size *= side;
  return size;
}

bool Tensor::is_float() const {
  return type == "F32" || type == "F64" || type == "F16" || type == "BF16";
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : name_(path.string()) {
  const detail::MappedFile mapping = detail::map_file(path, "a safetensors file");
  mapping_ = mapping.owner;
  const auto [header, data] = split_header(name_, mapping.bytes);
  const HeaderReader reader(name_, data);
  for (const auto& [key, entry] : header.items()) {
    if (key != "__metadata__") {
      tensors_.push_back(reader.tensor(key, entry));
      continue;
    }
    require<IoError>(entry.is_object(), name_, ": __metadata__ is no JSON object");
    for (const auto& [word, text] : entry.items()) {
      require<IoError>(text.is_string(), name_, ": metadata ", detail::in_quotes(word),
                       " is no text");
      metadata_[word] = text;
    }
  }
  std::stable_sort(tensors_.begin(), tensors_.end(), [](const Tensor& a, const Tensor& b) {
    return a.bytes.data() < b.bytes.data() ||
           (a.bytes.data() == b.bytes.data() && a.bytes.size() < b.bytes.size());
  });
  refuse_overlaps(name_, tensors_);
}

const Tensor* SafetensorsFile::find(std::string_view tensor) const {
  for (const Tensor& one : tensors_)
    if (one.name == tensor) return &one;
  return nullptr;
}

template <typename Real>
Vector<Real> tensor_values(const std::string& file, const Tensor& tensor) {
  const std::size_t width = tensor_type_size(tensor.type), size = tensor.bytes.size();
  require<IoError>(tensor.is_float(), file, ": tensor ", detail::in_quotes(tensor.name), ": type ",
                   tensor.type, " found, F32, F64, F16 or BF16 expected");
  require<IoError>(tensor.size() >= 0 && size == static_cast<std::size_t>(tensor.size()) * width,
                   file, ": tensor ", detail::in_quotes(tensor.name), ": ", size,
                   " bytes found, shape ", shape_text(tensor.shape), " of ", tensor.type,
                   " expected");
  Vector<Real> values(tensor.size());
  const auto same = [](auto value) { return value; };
  if (tensor.type == "F32")
    convert<float>(tensor.bytes, values, same);
  else if (tensor.type == "F64")
    convert<double>(tensor.bytes, values, same);
  else if (tensor.type == "F16")
    convert<std::uint16_t>(tensor.bytes, values, from_half);
  else
    convert<std::uint16_t>(tensor.bytes, values, from_bfloat);
  return values;
}

template <typename Real>
std::string tensor_bytes(std::string_view type, const Real* values, Index count) {
  if (type == "F64")
    return stored<double>(values, count, [](Real value) { return static_cast<double>(value); });
  if (type == "F16")
    return stored<std::uint16_t>(values, count,
                                 [](Real value) { return to_half(static_cast<float>(value)); });
  if (type == "BF16")
    return stored<std::uint16_t>(values, count,
                                 [](Real value) { return to_bfloat(static_cast<float>(value)); });
  require(type == "F32", "tensor type ", type, " found, F32, F64, F16 or BF16 expected");
  return stored<float>(values, count, [](Real value) { return static_cast<float>(value); });
}

template <typename Real>
Vector<Real> SafetensorsFile::read(const Tensor& tensor) const {
  return tensor_values<Real>(name_, tensor);
}

std::string safetensors_bytes(const std::vector<Tensor>& tensors,
                              const std::map<std::string, std::string>& metadata) {
  // Written key by key: in this order.
  const auto dump = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::string text = "{";
  const auto add = [&](const std::string& key, const std::string& value) {
    if (text.size() > 1) text += ',';
    text += message(dump(key), ":", value);
  };
  if (!metadata.empty()) add("__metadata__", dump(metadata));
  std::size_t size = 0;
  for (const Tensor& tensor : tensors) {
    add(tensor.name, message("{\"dtype\":", dump(tensor.type), ",\"shape\":", dump(tensor.shape),
                             ",\"data_offsets\":[", size, ",", size + tensor.bytes.size(), "]}"));
    size += tensor.bytes.size();
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char*>(&length), kLengthBytes);
  bytes.reserve(kLengthBytes + text.size() + size);
  bytes += text;
  for (const Tensor& tensor : tensors) bytes += tensor.bytes;
  return bytes;
}

template <typename Real>
Tensor as_tensor(const NamedTensor<Real>& named) {
  Tensor tensor{named.name, sizeof(Real) == 4 ? "F32" : "F64", named.shape, {}};
  tensor.bytes = {reinterpret_cast<const char*>(named.values),
                  static_cast<std::size_t>(tensor.size()) * sizeof(Real)};
  return tensor;
}

template <typename Real>
std::string safetensors_bytes(const std::vector<NamedTensor<Real>>& tensors,
                              const std::map<std::string, std::string>& metadata) {
  std::vector<Tensor> views;
  for (const auto& named : tensors) views.push_back(as_tensor(named));
  return safetensors_bytes(views, metadata);
}

template <typename Real>
void write_safetensors(const std::filesystem::path& path,
                       const std::vector<NamedTensor<Real>>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  write_atomically(path, safetensors_bytes(tensors, metadata));
}

template Vector<float> tensor_values(const std::string&, const Tensor&);
template Vector<double> tensor_values(const std::string&, const Tensor&);
template std::string tensor_bytes(std::string_view, const float*, Index);
template std::string tensor_bytes(std::string_view, const double*, Index);
template Vector<float> SafetensorsFile::read<float>(const Tensor&) const;
template Vector<double> SafetensorsFile::read<double>(const Tensor&) const;
template Tensor as_tensor(const NamedTensor<float>&);
template Tensor as_tensor(const NamedTensor<double>&);
template std::string safetensors_bytes(const std::vector<NamedTensor<float>>&,
                                       const std::map<std::string, std::string>&);
template std::string safetensors_bytes(const std::vector<NamedTensor<double>>&,
                                       const std::map<std::string, std::string>&);
template void write_safetensors(const std::filesystem::path&,
                                const std::vector<NamedTensor<float>>&,
                                const std::map<std::string, std::string>&);
template void write_safetensors(const std::filesystem::path&,
                                const std::vector<NamedTensor<double>>&,
                                const std::map<std::string, std::string>&);

}  // namespace udv::io
