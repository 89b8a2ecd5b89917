// SPDX-License-Identifier: MIT
#include "udv/net/export.hpp"

#include <cmath>

#include "core/require.hpp"
#include "net/onnx_columns.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/onnx.hpp"

namespace udv::net {
namespace {

template <typename Dense>
std::vector<float> floats(const Dense& values) {
  std::vector<float> result;
  for (Index i = 0; i < values.rows(); ++i)
    for (Index j = 0; j < values.cols(); ++j) result.push_back(static_cast<float>(values(i, j)));
  return result;
}

std::string feature_list(const Preprocessing& how) {
  std::string text;
  for (const ColumnCoding& coding : how.columns)
    text += message(text.empty() ? "" : ", ", coding.column,
                    coding.features() > 1 ? message(" (", coding.features(), ")") : "");
  return text;
}

// What goes in and what comes out; scaling is part of the graph.
std::string onnx_readme(const Preprocessing& how, bool bare) {
  std::string text =
      bare ? message("Input: features, N x ", how.inputs, ", as they come, not scaled",
                     how.columns.empty() ? "" : message(" (", feature_list(how), ")"), ".")
           : std::string(
                 "Inputs: one for each column of the table, N x 1. Numbers: NaN where missing. "
                 "Words: an empty text where missing. Dates: their parts as numbers "
                 "(COLUMN.month and so on).");
  text += how.task == Task::kRegression
              ? " Output: predictions in the units of the target."
              : " Outputs: logits (output), probabilities and, where classes have names, label.";
  return text + " Scaling is part of the graph: do not scale before.";
}

// Builds the graph layer by layer; `at` is the name of what the last node made.
template <typename Real>
class OnnxBuilder {
 public:
  /// `bare`: from an array of features that are numbers already.
  OnnxBuilder(const Model<Real>& model, bool bare)
      : model_(model), bare_(bare || model.preprocessing.columns.empty()), graph_("udv") {}

  std::string build() {
    const Preprocessing& how = model_.preprocessing;
    const Sizes& sizes = model_.network.sizes();
    if (bare_)
      graph_.input("features", sizes.inputs);
    else
      at_ = add_columns(how.columns, graph_);
    if (!how.features.offset.isZero(0)) vector_node("Sub", "feature_offset", how.features.offset);
    if (!(how.features.factor.array() == 1).all())
      vector_node("Mul", "feature_factor", how.features.factor);
    if (how.features.clip.size() > 0) add_clipping(how.features.clip);
    for (const LayerSpec& layer : model_.network.layers()) add_layer(layer);
    if (how.task == Task::kRegression && how.targets.factor.size() > 0) {
      vector_node("Mul", "target_scale", how.targets.factor.cwiseInverse());
      vector_node("Add", "target_offset", how.targets.offset);
      if (how.targets.bend.size() > 0) add_unbending(how.targets.bend);
    }
    graph_.node("Identity", {at_}, "output");
    graph_.output("output", sizes.outputs);
    if (how.task == Task::kClassification) {
      graph_.node("Softmax", {"output"}, "probabilities", {{"axis", std::int64_t{1}}});
      graph_.output("probabilities", sizes.outputs);
      if (!how.classes.empty()) add_label(how.classes, graph_);
    }
    return graph_.model_bytes({{"README", onnx_readme(model_.preprocessing, bare_)}});
  }

 private:
  std::string next(const std::string& stem) { return message(stem, "_out", ++count_); }

  void vector_node(const std::string& op, const std::string& name, const Vector<double>& values) {
    graph_.constant(name, {values.size()}, floats(values));
    const std::string made = next(name);
    graph_.node(op, {at_, name}, made);
    at_ = made;
  }

  // z / sqrt(1 + (z / clip)^2); 1 / clip is 0 where nothing is clipped.
  void add_clipping(const Vector<double>& clip) {
    const std::string z = at_;
    vector_node("Mul", "feature_inverse_clip",
                clip.unaryExpr([](double c) { return c > 0 ? 1 / c : 0.0; }));
    graph_.node("Mul", {at_, at_}, "clip_square");
    at_ = "clip_square";
    vector_node("Add", "clip_one", Vector<double>::Ones(clip.size()));
    graph_.node("Sqrt", {at_}, "clip_root");
    graph_.node("Div", {z, "clip_root"}, "clipped");
    at_ = "clipped";
  }

  // What `unbend` does, L its depth: c (exp(-relu(-max(t, -L))) + relu(t)) - c exp(-L) relu(-L -
  // t).
  void add_unbending(const Vector<double>& bend) {
    const std::string t = at_;
    const auto depth = static_cast<float>(kBendDepth);
    graph_.constant("bend_depth", {1}, {-depth});
    graph_.node("Max", {t, "bend_depth"}, "bend_inside");
    graph_.node("Neg", {"bend_inside"}, "bend_depths");
    graph_.node("Relu", {"bend_depths"}, "bend_positive");
    graph_.node("Neg", {"bend_positive"}, "bend_exponent");
    graph_.node("Exp", {"bend_exponent"}, "bend_power");
    graph_.node("Relu", {t}, "bend_above");
    graph_.node("Add", {"bend_power", "bend_above"}, "bend_share");
    at_ = "bend_share";
    vector_node("Mul", "bend_scale", bend);
    const std::string inside = at_;
    graph_.node("Sub", {"bend_depth", t}, "bend_missing");
    graph_.node("Relu", {"bend_missing"}, "bend_below");
    at_ = "bend_below";
    vector_node("Mul", "bend_lowest", bend * std::exp(-kBendDepth));
    graph_.node("Sub", {inside, at_}, "unbent");
    at_ = "unbent";
  }

  void add_layer(const LayerSpec& layer) {
    const std::string made = next(layer.kind == LayerKind::kRelu ? "relu" : layer.name);
    if (layer.kind == LayerKind::kRelu) {
      graph_.node("Relu", {at_}, made);
    } else {
      const ParameterBlock& W = *model_.network.find(layer.name + ".weight");
      const bool dense = layer.kind == LayerKind::kDense;
      graph_.constant(W.name,
                      dense ? std::vector<Index>{W.rows, W.cols} : std::vector<Index>{W.cols},
                      floats(model_.network.at(W)));
      std::vector<std::string> inputs{at_, W.name};
      if (const ParameterBlock* bias = model_.network.find(layer.name + ".bias")) {
        graph_.constant(bias->name, {bias->cols}, floats(model_.network.at(*bias)));
        inputs.push_back(bias->name);
      }
      if (dense)
        graph_.node("Gemm", inputs, made, {{"transB", std::int64_t{1}}});
      else
        graph_.node("Mul", inputs, made);
    }
    at_ = made;
  }

  const Model<Real>& model_;
  bool bare_;
  io::OnnxGraph graph_;
  std::string at_ = "features";
  int count_ = 0;
};

}  // namespace

template <typename Real>
std::string onnx_bytes(const Model<Real>& model, bool bare) {
  return OnnxBuilder<Real>(model, bare).build();
}

template <typename Real>
std::string readme_of(const Model<Real>& model) {
  const Preprocessing& how = model.preprocessing;
  const Variant& variant = model.network.variant();
  std::string text =
      message("A ", variant.name, " head, ", model.network.sizes().inputs, " inputs, ",
              model.network.sizes().outputs, " outputs. Layers in order:");
  for (const LayerSpec& layer : model.network.layers())
    text += layer.kind == LayerKind::kDense      ? message(" x ", layer.name, ".weight^T")
            : layer.kind == LayerKind::kDiagonal ? message(" * ", layer.name, ".weight")
                                                 : " -> relu";
  text +=
      ". Inputs are scaled by z = (x - offset) * factor first, then softly clipped, "
      "z / sqrt(1 + (z / clip)^2), where a clip is given; the metadata entry preprocessing has "
      "these numbers.";
  if (!how.columns.empty()) text += message(" Features: ", feature_list(how), ".");
  if (how.task == Task::kRegression)
    text += message(" Outputs are scaled targets: y = output / factor + offset",
                    how.targets.bend.size() == 0
                        ? "."
                        : " = t, then y = bend (1 + t) where t > 0, else bend exp(t).");
  else
    text += " Outputs are logits of the classes.";
  return text;
}

template std::string onnx_bytes(const Model<float>&, bool);
template std::string onnx_bytes(const Model<double>&, bool);
template std::string readme_of(const Model<float>&);
template std::string readme_of(const Model<double>&);

}  // namespace udv::net
