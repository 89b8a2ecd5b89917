// SPDX-License-Identifier: MIT
#include "udv/net/files/model_file.hpp"

#include <algorithm>

#include "core/parse.hpp"
#include "core/require.hpp"
#include "udv/core/options.hpp"
#include "udv/core/version.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/safetensors.hpp"

namespace udv::net {
namespace {

constexpr const char* kOwnKeys[] = {"udv",     "variant", "inputs",       "hidden",
                                    "outputs", "bias",    "preprocessing"};

// A D of 1 x m and a bias are lists of numbers.
std::vector<Index> shape_of(const ParameterBlock& block) {
  if (block.is_bias || block.kind == LayerKind::kDiagonal) return {block.cols};
  return {block.rows, block.cols};
}

const std::string& entry(const io::SafetensorsFile& file, const std::string& key) {
  const auto at = file.metadata().find(key);
  require<IoError>(at != file.metadata().end(), file.name(), ": no '", key,
                   "' in its metadata: not a model that udv wrote");
  return at->second;
}

Index number(const io::SafetensorsFile& file, const std::string& key) {
  const std::string& text = entry(file, key);
  Index value = -1;
  require<IoError>(parse_all(text, value) && value >= 0, file.name(), ": ", key, " '", text,
                   "' found in its metadata, a whole number expected");
  return value;
}

// The widths of the hidden layers, "256" or "256,128".
std::vector<Index> hidden_widths(const io::SafetensorsFile& file) {
  std::vector<Index> widths;
  const std::string& text = entry(file, "hidden");
  for (const std::string& word : comma_words(text)) {
    widths.push_back(-1);
    require<IoError>(parse_all(word, widths.back()) && widths.back() >= 0, file.name(),
                     ": hidden '", text, "' found in its metadata, whole numbers expected");
  }
  require<IoError>(!widths.empty(), file.name(), ": hidden '", text,
                   "' found in its metadata, a whole number expected");
  return widths;
}

// Is every dense layer of such a network at most as large as all that is stored? Asked before
// memory is.
bool can_fit(const Variant& variant, const Sizes& sizes, Index stored) {
  const auto fits = [&](Index rows, Index cols) { return rows == 0 || cols <= stored / rows; };
  if (!variant.has_hidden()) return fits(sizes.inputs, sizes.outputs);
  const auto layers = std::count_if(variant.layers.begin(), variant.layers.end(),
                                    [](const auto& l) { return l.kind == LayerKind::kDense; });
  Index width = sizes.hidden;
  bool good = fits(sizes.inputs, width) && (layers < 3 || fits(width, width));
  for (const Index next : sizes.deeper) {
    good = good && fits(width, next);
    width = next;
  }
  return good && fits(width, sizes.outputs);
}

template <typename Real>
Network<Real> read_network(const io::SafetensorsFile& file) {
  const std::vector<Index> hidden = hidden_widths(file);
  const Sizes sizes{number(file, "inputs"),
                    hidden[0],
                    number(file, "outputs"),
                    {hidden.begin() + 1, hidden.end()}};
  Index stored = 0;
  for (const io::Tensor& tensor : file.tensors()) stored += tensor.size();
  const Variant& variant = variant_named(entry(file, "variant"));
  require<IoError>(can_fit(variant, sizes, stored), file.name(), ": sizes ", to_string(sizes),
                   " in its metadata, but ", stored, " numbers in its tensors");
  const Index bias = number(file, "bias");
  require<IoError>(bias <= Bias::kConstant, file.name(), ": bias ", bias,
                   " found in its metadata, 0, 1 or 2 expected");
  Network<Real> network(variant, sizes, static_cast<Bias::Kind>(bias));
  for (const io::Tensor& tensor : file.tensors())
    require<IoError>(network.find(tensor.name) != nullptr, file.name(), ": tensor '", tensor.name,
                     "' is no part of a ", network.variant().name, " network");
  for (const ParameterBlock& block : network.blocks()) {
    const io::Tensor* const tensor = file.find(block.name);
    require<IoError>(tensor != nullptr, file.name(), ": no tensor '", block.name, "'");
    require<IoError>(tensor->shape == shape_of(block), file.name(), ": tensor '", block.name,
                     "' has shape ", io::shape_text(tensor->shape), ", ",
                     io::shape_text(shape_of(block)), " expected");
    const Vector<Real> values = file.read<Real>(*tensor);
    require<IoError>(values.allFinite(), file.name(), ": tensor '", block.name,
                     "' holds a value that is not finite");
    network.parameters().segment(block.offset, block.size()) = values;
  }
  return network;
}

}  // namespace

template <typename Real>
std::string model_bytes(const Model<Real>& model) {
  const Network<Real>& network = model.network;
  std::map<std::string, std::string> metadata = model.notes;
  metadata["udv"] = version();
  metadata["variant"] = network.variant().name;
  metadata["inputs"] = std::to_string(network.sizes().inputs);
  metadata["hidden"] = std::to_string(network.variant().has_hidden() ? network.sizes().hidden : 0);
  for (const Index width : network.sizes().deeper) metadata["hidden"] += message(",", width);
  metadata["outputs"] = std::to_string(network.sizes().outputs);
  metadata["bias"] = std::to_string(network.biases().kind);
  metadata["preprocessing"] = model.preprocessing.to_json();
  std::vector<io::NamedTensor<Real>> tensors;
  for (const ParameterBlock& block : network.blocks())
    tensors.push_back({block.name, shape_of(block), network.parameters().data() + block.offset});
  return io::safetensors_bytes(tensors, metadata);
}

template <typename Real>
void write_model(const std::filesystem::path& path, const Model<Real>& model) {
  io::write_atomically(path, model_bytes(model));
}

template <typename Real>
Model<Real> read_model(const std::filesystem::path& path) {
  const io::SafetensorsFile file(path);
  entry(file, "udv");
  try {
    Model<Real> model{read_network<Real>(file),
                      Preprocessing::from_json(entry(file, "preprocessing")), file.metadata()};
    for (const char* key : kOwnKeys) model.notes.erase(key);
    const Sizes& sizes = model.network.sizes();
    require(
        model.preprocessing.inputs == sizes.inputs && model.preprocessing.outputs == sizes.outputs,
        "its preprocessing has ", model.preprocessing.inputs, " inputs and ",
        model.preprocessing.outputs, " outputs, its network ", sizes.inputs, " and ",
        sizes.outputs);
    return model;
  } catch (const InvalidArgument& error) {
    throw IoError(message(file.name(), ": ", error.what()));
  }
}

template std::string model_bytes(const Model<float>&);
template std::string model_bytes(const Model<double>&);
template void write_model(const std::filesystem::path&, const Model<float>&);
template void write_model(const std::filesystem::path&, const Model<double>&);
template Model<float> read_model(const std::filesystem::path&);
template Model<double> read_model(const std::filesystem::path&);

}  // namespace udv::net
