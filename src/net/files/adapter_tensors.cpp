// SPDX-License-Identifier: MIT
#include "net/files/adapter_tensors.hpp"

#include <algorithm>

#include "core/require.hpp"
#include "io/text.hpp"
#include "udv/io/npy.hpp"

namespace udv::net {
namespace {

bool is_digit(char c) {
  return '0' <= c && c <= '9';
}

std::string_view digits_at(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  return text.substr(begin, end - begin);
}

// As Python names modules: such a path is a word in tables, and a regular expression for itself.
bool is_path(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
  });
}

// Paths are long, and tell at their end what is wrong.
std::string in_quotes(const std::string& name) {
  return is_path(name) ? "'" + name + "'" : io::detail::in_quotes(name);
}

const io::Tensor& part_of(const io::SafetensorsFile& file, const std::string& block,
                          const std::map<char, const io::Tensor*>& parts, char part) {
  const auto at = parts.find(part);
  require<IoError>(at != parts.end(), file.name(), ": block ", in_quotes(block), " has no factor ",
                   part);
  return *at->second;
}

Vector<float> finite_values(const io::SafetensorsFile& file, const io::Tensor& tensor) {
  Vector<float> values = file.read<float>(tensor);
  require<IoError>(values.allFinite(), file.name(), ": tensor ", in_quotes(tensor.name),
                   " holds a value that is not finite");
  return values;
}

RowMatrix<float> read_matrix(const io::SafetensorsFile& file, const io::Tensor& tensor) {
  require<IoError>(tensor.shape.size() == 2, file.name(), ": tensor ", in_quotes(tensor.name),
                   " has shape ", io::shape_text(tensor.shape), ", a matrix expected");
  const Vector<float> values = finite_values(file, tensor);
  return Eigen::Map<const RowMatrix<float>>(values.data(), tensor.shape[0], tensor.shape[1]);
}

}  // namespace

bool NaturalOrder::operator()(const std::string& a, const std::string& b) const {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view x = digits_at(a, i), y = digits_at(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      i += x.size();
      j += y.size();
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

BlockTensors tensors_by_block(const io::SafetensorsFile& file, const std::string& prefix,
                              const std::vector<TensorEnding>& endings,
                              const std::string& otherwise) {
  BlockTensors blocks;
  for (const io::Tensor& tensor : file.tensors()) {
    const std::string& name = tensor.name;
    const auto ending =
        std::find_if(endings.begin(), endings.end(), [&](const TensorEnding& candidate) {
          return name.size() > prefix.size() + candidate.text.size() &&
                 name.ends_with(candidate.text);
        });
    require<IoError>(ending != endings.end() && name.starts_with(prefix), file.name(), ": tensor ",
                     in_quotes(name), " found, ", prefix, "PATH", endings.front().text,
                     " and the like expected", otherwise);
    const std::string block =
        name.substr(prefix.size(), name.size() - prefix.size() - ending->text.size());
    require<IoError>(is_path(block), file.name(), ": tensor ", in_quotes(name),
                     " found, a path of letters, digits, '.', '_' and '-' expected");
    require<IoError>(blocks[block].emplace(ending->part, &tensor).second, file.name(), ": block ",
                     in_quotes(block), " has two factors ", ending->part);
  }
  require<IoError>(!blocks.empty(), file.name(),
                   ": no tensors found, those of an adapter expected");
  return blocks;
}

AdapterBlock read_factors(const io::SafetensorsFile& file, const std::string& name,
                          const std::map<char, const io::Tensor*>& parts) {
  const io::Tensor &a = part_of(file, name, parts, 'A'), &b = part_of(file, name, parts, 'B');
  AdapterBlock block{name, read_matrix(file, a), {}, read_matrix(file, b)};
  require<IoError>(block.A.rows() == block.B.cols(), file.name(), ": tensors ", in_quotes(a.name),
                   " of shape ", io::shape_text(a.shape), " and ", in_quotes(b.name), " of shape ",
                   io::shape_text(b.shape), " found, r x in and out x r expected");
  block.d = Vector<float>::Ones(block.A.rows());
  return block;
}

std::string number_type_of(const io::SafetensorsFile& file) {
  std::string type;
  for (const io::Tensor& tensor : file.tensors()) {
    if (!tensor.is_float()) continue;
    if (!type.empty() && type != tensor.type) return "F32";
    type = tensor.type;
  }
  return type.empty() ? "F32" : type;
}

Vector<float> read_numbers(const io::SafetensorsFile& file, const io::Tensor& tensor, Index count) {
  require<IoError>(tensor.size() == count, file.name(), ": tensor ", in_quotes(tensor.name),
                   " has shape ", io::shape_text(tensor.shape), ", ", count, " numbers expected");
  return finite_values(file, tensor);
}

}  // namespace udv::net
