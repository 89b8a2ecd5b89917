// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "cli/inspect_kinds.hpp"
#include "udv/io/onnx.hpp"
#include "udv/net/adapter_file.hpp"
#include "udv/net/model_file.hpp"
#include "udv/net/run_folder.hpp"

namespace udv::cli {
namespace {

// "12 tensors, 3400 numbers". Sums in double: files of others may announce what no integer holds.
std::string count_text(const std::vector<io::Tensor>& tensors) {
  double numbers = 0;
  for (const io::Tensor& tensor : tensors) numbers += static_cast<double>(tensor.size());
  return fmt::format("{} tensor{}, {:.0f} numbers", tensors.size(), tensors.size() == 1 ? "" : "s",
                     numbers);
}

void print_model(const std::string& name) {
  const auto model = net::read_model<double>(name);
  const net::TrainFigures figures = net::figures_of(model.network);
  print_row("network",
            fmt::format("{} {}{}", model.network.variant().name, to_string(model.network.sizes()),
                        model.network.bias() ? ", biases" : ""));
  print_row("task",
            model.preprocessing.task == net::Task::kRegression ? "regression" : "classification");
  if (!model.preprocessing.target.empty())
    print_row("target", plain_text(model.preprocessing.target));
  print_spectrum(figures.spectrum);
  print_row("live neurons", fmt::format("{}", figures.live_width));
  for (const auto& [key, text] : model.notes) print_row(plain_text(key), plain_text(text, 2000));
}

std::string value_text(const io::OnnxValue& value) {
  std::string text = plain_text(value.name) + ": " + value.type;
  for (std::size_t k = 0; k < value.shape.size(); ++k)
    text += (k == 0 ? " " : " x ") + plain_text(value.shape[k]);
  return text;
}

std::string opset_text(const io::OnnxModel& model) {
  std::string text;
  for (const auto& [domain, version] : model.opsets)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ",
                        domain.empty() ? "" : plain_text(domain) + " ", version);
  return text;
}

std::string operator_text(const io::OnnxModel& model) {
  std::string text;
  for (const auto& [name, count] : model.operators)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, plain_text(name));
  return text;
}

}  // namespace

// A length of less than 16 MiB, and the JSON that it is the length of.
bool starts_safetensors(std::string_view bytes) {
  return bytes.size() > 8 && bytes.substr(3, 5) == std::string_view("\0\0\0\0\0", 5) &&
         bytes[8] == '{';
}

std::string brief_safetensors(const std::filesystem::path& file) {
  return count_text(io::SafetensorsFile(file).tensors());
}

void show_safetensors(const std::filesystem::path& path, const InspectOptions& options) {
  const io::SafetensorsFile file(path);
  if (net::adapter_kind(path) == net::AdapterKind::kNative) return show_adapter(path, options);
  print_file(path);
  print_row("contents", count_text(file.tensors()));
  const bool ours = file.metadata().contains("udv") && file.metadata().contains("preprocessing");
  if (ours) print_row("written by", "udv " + plain_text(file.metadata().at("udv")));
  if (ours) print_model(file.name());
  for (const auto& [key, text] : file.metadata())
    if (!ours) print_row(plain_text(key), plain_text(text));
  print_tensors(file.name(), file.tensors(), options);
}

std::string brief_onnx(const std::filesystem::path& file) {
  return count_text(io::read_onnx(file).constants);
}

void show_onnx(const std::filesystem::path& path, const InspectOptions& options) {
  const io::OnnxModel model = io::read_onnx(path);
  print_file(path);
  print_row("written by", plain_text(model.producer + " " + model.producer_version));
  print_row("opset", fmt::format("{} (IR version {})", opset_text(model), model.ir_version));
  if (!model.graph.empty()) print_row("graph", plain_text(model.graph));
  for (const io::OnnxValue& value : model.inputs) print_row("input", value_text(value));
  for (const io::OnnxValue& value : model.outputs) print_row("output", value_text(value));
  print_row("operators", operator_text(model));
  print_row("constants", count_text(model.constants));
  for (const auto& [key, text] : model.metadata) print_row(plain_text(key), plain_text(text, 2000));
  print_tensors(path.string(), model.constants, options);
}

}  // namespace udv::cli
