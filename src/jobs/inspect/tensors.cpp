// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "jobs/inspect/kinds.hpp"
#include "udv/io/onnx.hpp"
#include "udv/net/figures.hpp"
#include "udv/net/files/adapter_file.hpp"
#include "udv/net/files/model_file.hpp"

namespace udv::jobs {
namespace {

// "12 tensors, 3400 numbers". Sums in double: files of others may announce what no integer holds.
std::string count_text(const std::vector<io::Tensor>& tensors) {
  double numbers = 0;
  for (const io::Tensor& tensor : tensors) numbers += static_cast<double>(tensor.size());
  return fmt::format("{} tensor{}, {:.0f} numbers", tensors.size(), tensors.size() == 1 ? "" : "s",
                     numbers);
}

void add_model(const std::string& name, InspectReport& report) {
  const auto model = net::read_model<double>(name);
  const net::TrainFigures figures = net::figures_of(model.network);
  report.fact("network",
              fmt::format("{} {}{}", model.network.variant().name, to_string(model.network.sizes()),
                          model.network.bias() ? ", biases" : ""));
  report.fact("task",
              model.preprocessing.task == net::Task::kRegression ? "regression" : "classification");
  if (!model.preprocessing.target.empty())
    report.fact("target", plain_text(model.preprocessing.target));
  add_spectrum(figures.spectrum, report);
  report.fact("live neurons", fmt::format("{}", figures.live_width));
  for (const auto& [key, text] : model.notes) report.fact(plain_text(key), plain_text(text, 2000));
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

void show_safetensors(const std::filesystem::path& path, const InspectOptions& options,
                      InspectReport& report) {
  const io::SafetensorsFile file(path);
  if (net::adapter_kind(path) == net::AdapterKind::kNative)
    return show_adapter(path, options, report);
  add_file(path, report);
  report.fact("contents", count_text(file.tensors()));
  const bool ours = file.metadata().contains("udv") && file.metadata().contains("preprocessing");
  if (ours) report.fact("written by", "udv " + plain_text(file.metadata().at("udv")));
  if (ours) add_model(file.name(), report);
  for (const auto& [key, text] : file.metadata())
    if (!ours) report.fact(plain_text(key), plain_text(text));
  add_tensors(file.name(), file.tensors(), options, report);
}

std::string brief_onnx(const std::filesystem::path& file) {
  return count_text(io::read_onnx(file).constants);
}

void show_onnx(const std::filesystem::path& path, const InspectOptions& options,
               InspectReport& report) {
  const io::OnnxModel model = io::read_onnx(path);
  add_file(path, report);
  report.fact("written by", plain_text(model.producer + " " + model.producer_version));
  report.fact("opset", fmt::format("{} (IR version {})", opset_text(model), model.ir_version));
  if (!model.graph.empty()) report.fact("graph", plain_text(model.graph));
  for (const io::OnnxValue& value : model.inputs) report.fact("input", value_text(value));
  for (const io::OnnxValue& value : model.outputs) report.fact("output", value_text(value));
  report.fact("operators", operator_text(model));
  report.fact("constants", count_text(model.constants));
  for (const auto& [key, text] : model.metadata)
    report.fact(plain_text(key), plain_text(text, 2000));
  add_tensors(path.string(), model.constants, options, report);
}

}  // namespace udv::jobs
