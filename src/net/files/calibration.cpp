// SPDX-License-Identifier: MIT
#include "udv/net/calibration.hpp"

#include <deque>
#include <fstream>

#include "core/require.hpp"
#include "io/text.hpp"
#include "net/products.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/safetensors.hpp"

namespace udv::net {
namespace {

struct Ending {
  const char* text;
  RowMatrix<double> LayerMoments::*member;
  bool samples, square;
};
constexpr Ending kEndings[] = {{".inputs", &LayerMoments::inputs, true, false},
                               {".gradients", &LayerMoments::gradients, true, false},
                               {".input_moments", &LayerMoments::inputs, false, true},
                               {".gradient_moments", &LayerMoments::gradients, false, true},
                               {".slope", &LayerMoments::slope, false, false}};

const Ending& ending_of(const io::SafetensorsFile& file, const std::string& name) {
  for (const Ending& ending : kEndings)
    if (name.ends_with(ending.text) && name.size() > std::string_view(ending.text).size())
      return ending;
  throw IoError(message(file.name(), ": tensor ", io::detail::in_quotes(name),
                        " found, NAME.inputs, NAME.gradients, NAME.input_moments, "
                        "NAME.gradient_moments or NAME.slope expected"));
}

RowMatrix<double> moments_of(const io::SafetensorsFile& file, const io::Tensor& tensor,
                             const Ending& ending) {
  const bool samples = ending.samples;
  const bool shaped = tensor.shape.size() == 2 && tensor.size() > 0 &&
                      (!ending.square || tensor.shape[0] == tensor.shape[1]);
  require<IoError>(shaped, file.name(), ": tensor ", io::detail::in_quotes(tensor.name),
                   " has shape ", io::shape_text(tensor.shape), ", ",
                   samples         ? "samples x numbers"
                   : ending.square ? "a square matrix"
                                   : "outputs x inputs",
                   " expected");
  const Vector<double> values = file.read<double>(tensor);
  require<IoError>(values.allFinite(), file.name(), ": tensor ", io::detail::in_quotes(tensor.name),
                   " holds a value that is not finite");
  const Eigen::Map<const RowMatrix<double>> matrix(values.data(), tensor.shape[0], tensor.shape[1]);
  if (!samples) return matrix;
  RowMatrix<double> moments(matrix.cols(), matrix.cols());
  transposed_multiply<double>(matrix, matrix, moments);
  return moments / static_cast<double>(matrix.rows());
}

}  // namespace

Calibration read_calibration(const std::filesystem::path& path) {
  const io::SafetensorsFile file(path);
  Calibration calibration;
  for (const io::Tensor& tensor : file.tensors()) {
    const Ending& ending = ending_of(file, tensor.name);
    const std::string name =
        tensor.name.substr(0, tensor.name.size() - std::string_view(ending.text).size());
    RowMatrix<double>& moments = calibration[name].*ending.member;
    require<IoError>(moments.size() == 0, file.name(), ": ", io::detail::in_quotes(name),
                     " has both samples and moments, one of them expected");
    moments = moments_of(file, tensor, ending);
  }
  require<IoError>(!calibration.empty(), file.name(), ": no tensors found, NAME.inputs expected");
  return calibration;
}

bool is_calibration_file(const std::filesystem::path& path) {
  if (path.extension() == ".safetensors") return true;
  std::ifstream stream(path, std::ios::binary);
  char begin[9] = {};  // the length of the header, then its JSON
  return !stream || !stream.read(begin, sizeof begin) || (begin[7] == 0 && begin[8] == '{');
}

std::string calibration_bytes(const Calibration& calibration) {
  std::deque<RowMatrix<float>> kept;  // tensors are views of them
  std::vector<io::NamedTensor<float>> tensors;
  const auto add = [&](const std::string& name, const RowMatrix<double>& moments) {
    if (moments.size() == 0) return;
    kept.push_back(moments.cast<float>());
    tensors.push_back({name, {moments.rows(), moments.cols()}, kept.back().data()});
  };
  for (const auto& [name, moments] : calibration) {
    add(name + ".input_moments", moments.inputs);
    add(name + ".gradient_moments", moments.gradients);
    add(name + ".slope", moments.slope);
  }
  return io::safetensors_bytes(tensors, {{"udv", "second moments of layers"}});
}

}  // namespace udv::net
