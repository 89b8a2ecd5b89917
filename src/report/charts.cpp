// SPDX-License-Identifier: MIT
#include "charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/require.hpp"
#include "thinning.hpp"
#include "udv/io/npy.hpp"

namespace udv::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIteration = "iteration";
constexpr const char* kEpoch = "epoch";
constexpr const char* kStep = "step";

bool all_missing(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

// Looks at a validation part are counted in steps, looks at a test part in epochs.
bool by_steps(const NumberTable& history) {
  if (!history.contains("step") || !history.contains("test_loss")) return false;
  const auto& losses = history.at("test_loss");
  return losses.size() > 1 && std::isnan(losses.front());
}

const char* time_of(const NumberTable& history) {
  if (by_steps(history)) return kStep;
  return history.contains(kEpoch) ? kEpoch : kIteration;
}

Series series_of(const ChartRun& run, const NumberTable& history, const std::string& y) {
  Series series;
  series.name = run.label;
  series.dash = run.view->classical();
  series.color = run.color;
  series.x = history.at(time_of(history));
  series.y = history.at(y);
  return series;
}

std::vector<std::vector<double>> rows_at(const io::Array& array,
                                         const std::vector<std::size_t>& which, std::size_t most) {
  const auto cols = static_cast<std::size_t>(array.shape.at(1));
  std::vector<std::vector<double>> rows;
  for (const std::size_t row : which) {
    const auto begin = array.values.begin() + static_cast<std::ptrdiff_t>(row * cols);
    rows.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(std::min(cols, most)));
  }
  return rows;
}

const io::Array& array_named(const fs::path& path,
                             const std::vector<std::pair<std::string, io::Array>>& arrays,
                             const char* name) {
  for (const auto& [own, array] : arrays)
    if (own == name) return array;
  throw IoError(message(path.string(), ": array '", name, "' expected, not found"));
}

// "amplitude-000120.png" shows iteration 120.
std::string snapshot_caption(const std::string& name) {
  return fmt::format("iteration {}", std::atoll(name.c_str() + name.rfind('-') + 1));
}

}  // namespace

std::vector<Json> history_chart(const std::string& title, const std::vector<ChartRun>& runs,
                                const std::string& y, bool log, const Detail& detail) {
  std::vector<Series> series;
  const char* time = kIteration;
  for (const ChartRun& run : runs) {
    const NumberTable& history = run.view->history;
    if (!history.contains(y) || !history.contains(time_of(history)) || all_missing(history.at(y)))
      continue;
    if (y == "test_loss" && by_steps(history)) continue;  // one look at the end is no curve
    if (y == "test_accuracy" && by_steps(history)) continue;
    time = time_of(history);
    series.push_back(series_of(run, history, y));
    series.back().step = y == "rank" || y == "live_width";
  }
  if (series.empty()) return {};
  std::string words = y;
  std::replace(words.begin(), words.end(), '_', ' ');
  return {lines_block(title, {time, log && time == kIteration}, {words, log}, series, {},
                      detail.buckets)};
}

std::vector<Json> spectra_chart(const std::string& title, const std::vector<ChartRun>& runs,
                                bool relative, const Detail& detail) {
  std::vector<Series> series;
  for (const ChartRun& run : runs) {
    std::vector<double> values = run.view->numbers("spectrum");
    if (values.empty() && run.view->live.is_object() && run.view->live.contains("column_sizes"))
      values = run.view->live["column_sizes"].get<std::vector<double>>();
    if (values.empty() || !(values.front() > 0)) continue;
    values.resize(std::min(values.size(), detail.spectrum));
    Series one;
    one.name = run.label;
    one.dash = run.view->classical();
    one.color = run.color;
    const double unit = relative ? values.front() : 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
      one.x.push_back(static_cast<double>(i + 1));
      one.y.push_back(values[i] / unit);
    }
    series.push_back(std::move(one));
  }
  if (series.empty()) return {};
  Json block = lines_block(title, {"index i", false, true}, {relative ? "σᵢ / σ₁" : "σᵢ", true},
                           series, {}, detail.spectrum);
  block["points"] = true;
  return {block};
}

std::vector<Json> training_charts(const std::vector<ChartRun>& runs, const Detail& detail) {
  std::vector<Series> losses, accuracies;
  const char* time = kEpoch;
  int color = 0;
  for (const ChartRun& run : runs) {
    const NumberTable& history = run.view->history;
    if (!history.contains("train_loss")) continue;
    const std::string name = runs.size() > 1 ? run.label + ", " : "";
    const bool steps = by_steps(history);
    time = time_of(history);
    for (const std::string kind : {"train", steps ? "validation" : "test"}) {
      if (!history.contains(kind + "_loss") || all_missing(history.at(kind + "_loss"))) continue;
      Series one = series_of(run, history, kind + "_loss");
      one.name = name + kind;
      one.dash = kind == "train";
      one.color = run.color >= 0 ? run.color : color;
      losses.push_back(std::move(one));
    }
    const std::string accuracy = steps ? "validation_accuracy" : "test_accuracy";
    if (history.contains(accuracy) && !all_missing(history.at(accuracy)))
      accuracies.push_back(series_of(run, history, accuracy));
    Series width = series_of(run, history, "live_width");
    width.panel = "live neurons";
    width.step = true;
    if (!accuracies.empty()) accuracies.push_back(width);
    ++color;
  }
  std::vector<Json> blocks;
  if (!losses.empty())
    blocks.push_back(lines_block("Loss", {time}, {"loss", true}, losses, {}, detail.buckets));
  if (!accuracies.empty())
    blocks.push_back(lines_block("Accuracy and live neurons", {time}, {"accuracy"}, accuracies, {},
                                 detail.buckets));
  return blocks;
}

std::vector<Json> columns_chart(const std::string& title, const RunView& run,
                                const Detail& detail) {
  if (detail.frames == 0 || !run.has("columns.npz")) return {};
  const fs::path path = run.file("columns.npz");
  constexpr std::size_t kMostColumns = 128;
  const auto arrays = run.arrays("columns.npz");
  const io::Array& iteration = array_named(path, arrays, "iteration");
  const auto which = log_spread(iteration.values.size(), detail.frames);
  std::vector<double> times;
  for (const std::size_t i : which) times.push_back(iteration.values[i]);
  std::vector<BarsPanel> panels;
  for (const auto& [name, shown] : {std::pair{"norm_u", "‖uⱼ‖"}, std::pair{"d", "dⱼ"}}) {
    if (run.classical() && std::string_view(name) == "d") continue;
    const io::Array& values = array_named(path, arrays, name);
    require<IoError>(
        values.shape.size() == 2 && values.shape[0] == static_cast<Index>(iteration.values.size()),
        path.string(), ": ", name, ": shape ", io::shape_text(values.shape), " found, ",
        iteration.values.size(), " rows expected");
    panels.push_back({shown, rows_at(values, which, kMostColumns)});
  }
  return {bars_block(title, "column j", times, panels)};
}

std::vector<Json> pruning_chart(const std::string& title, const std::vector<ChartRun>& runs) {
  std::vector<Series> series;
  bool classes = false;
  for (const ChartRun& run : runs) {
    if (!run.view->has("curve.csv")) continue;
    const NumberTable curve = run.view->columns("curve.csv");
    if (!curve.contains("neurons") || !curve.contains("loss")) continue;
    const auto accuracy = curve.find("accuracy");
    classes =
        accuracy != curve.end() && std::any_of(accuracy->second.begin(), accuracy->second.end(),
                                               [](double value) { return value > 0; });
    for (const auto& [column, values] : curve) {
      const std::string wanted = classes ? "accuracy" : "change";
      if (!column.ends_with(wanted) || all_missing(values)) continue;
      const auto bar = column.rfind('_');
      const std::string other = bar == column.npos ? "" : column.substr(0, bar);
      Series one;
      one.name = run.label;
      if (!other.empty() && other != "relative") one.name += ", " + other;
      one.dash = other.empty() || other == "relative" ? run.view->classical() : true;
      one.color = run.color;
      one.x = curve.at("neurons");
      for (const double value : values) one.y.push_back(classes ? value : 100 * value);
      series.push_back(std::move(one));
    }
  }
  if (series.empty()) return {};
  if (classes) return {lines_block(title, {"neurons kept", true}, {"accuracy"}, series)};
  return {lines_block(title, {"neurons kept", true}, {"change of the loss, %", true}, series,
                      {{0.1, "0.1 %"}})};
}

namespace {

// 1, 2 or 5 times a power of 10, at most this.
double round_length(double most) {
  const double power = std::pow(10, std::floor(std::log10(most)));
  for (const double step : {5.0, 2.0})
    if (step * power <= most) return step * power;
  return power;
}

// A bar of about a quarter of the width.
void add_scale_bar(const RunView& run, Json& item) {
  const auto pixel = run.number("pixel_um"), cols = run.number("image_cols");
  if (!pixel || !cols || !(*pixel > 0) || !(*cols > 0)) return;
  const double width = *pixel * *cols, length = round_length(width / 3);
  item["bar"] = {{"share", length / width}, {"text", fmt::format("{:g} \u00b5m", length)}};
}

void add_range(const RunView& run, const char* key, const char* unit, Json& item) {
  const auto at = run.run.find(key);
  if (at == run.run.end() || !at->is_array() || at->size() != 2 || !(*at)[0].is_number() ||
      !(*at)[1].is_number())
    return;
  item["range"] = {{"low", fmt::format("{:.3g}{}", (*at)[0].get<double>(), unit)},
                   {"high", fmt::format("{:.3g}{}", (*at)[1].get<double>(), unit)}};
}

// "LEDs 12, 14 are left out: rim of the pupil."
std::string left_out_text(const Json& run) {
  const Json leds = run.value("left_out_leds", Json::array());
  const Json reasons = run.value("left_out_reasons", Json::array());
  std::map<std::string, std::vector<std::string>> by_reason;
  for (size_t i = 0; i < std::min(leds.size(), reasons.size()); ++i)
    if (leds[i].is_number() && reasons[i].is_string())
      by_reason[reasons[i].get<std::string>()].push_back(leds[i].dump());
  std::string text;
  for (const auto& [reason, which] : by_reason) {
    std::string list;
    for (const std::string& led : which) list += (list.empty() ? "" : ", ") + led;
    text += fmt::format("LED{} {} left out ({}). ", which.size() == 1 ? "" : "s",
                        list + (which.size() == 1 ? " is" : " are"), reason);
  }
  return text;
}

// Points about which the phase turns are errors, and a bowl over the whole picture is one of the
// light, not of the sample.
std::string phase_text(const RunView& run) {
  constexpr double kVisible = 0.3;  // radians from the middle to a corner
  std::string text;
  if (const auto vortices = run.number("vortices"))
    text += *vortices == 0
                ? "The phase has no vortices"
                : fmt::format("The phase has {:.0f} vort{} (points about which it turns)",
                              *vortices, *vortices == 1 ? "ex" : "ices");
  if (const auto bowl = run.number("phase_bowl"))
    text += std::abs(*bowl) < kVisible
                ? fmt::format("{} no bowl", text.empty() ? "The phase has" : " and")
                : fmt::format("{} a bowl of {:.1f} radians from the middle to the corners",
                              text.empty() ? "The phase has" : " and", *bowl);
  return text.empty() ? text : text + ". ";
}

// What came out, in words.
std::string microscope_text(const RunView& run) {
  std::string text;
  if (const auto held = run.number("held_out_residual"))
    text += fmt::format(
        "Images that were not used are predicted to {:.1f} % of their amplitude{}. ", 100 * *held,
        *held < 0.12   ? ""
        : *held < 0.25 ? ", which is not good"
                       : ": do not trust this picture");
  if (const auto used = run.number("amplitude_residual"))
    text += fmt::format("Images in use are met to {:.1f} %. ", 100 * *used);
  if (const auto tiles = run.number("tiles"))
    text += fmt::format("The field was recovered in {:.0f} tiles. ", *tiles);
  text += phase_text(run);
  return text + left_out_text(run.run);
}

}  // namespace

std::vector<Json> warning_blocks(const RunView& run) {
  std::vector<Json> blocks;
  for (const Json& warning : run.run.value("warnings", Json::array()))
    if (warning.is_string())
      blocks.push_back({{"kind", "text"}, {"title", "Warning"}, {"text", warning}});
  return blocks;
}

std::vector<Json> microscope_blocks(const RunView& run) {
  std::vector<Json> items, parts;
  const auto add = [&run](std::vector<Json>& to, const char* caption, const char* name) {
    if (!run.has(name)) return false;
    to.push_back(picture(caption, run.file(name)));
    return true;
  };
  if (add(items, "amplitude", "amplitude.png")) add_range(run, "amplitude_shown", "", items.back());
  if (add(items, "phase", "phase.png")) add_range(run, "phase_shown", " rad", items.back());
  add(items, "raw image at the same scale, LED nearest to the axis", "raw.png");
  for (Json& item : items) add_scale_bar(run, item);
  add(parts,
      "LEDs: light bright field, the lighter the brighter the LED; grey dark field; blue "
      "predicted; "
      "red left out; circle: NA of the objective",
      "leds.png");
  add(parts, "phase of the pupil", "pupil.png");
  std::vector<Json> blocks;
  if (!items.empty()) {
    blocks.push_back(pictures_block("Recovered image", std::move(items)));
    blocks.back()["zoom"] = true;
  }
  if (const std::string text = microscope_text(run); !text.empty())
    blocks.push_back({{"kind", "text"}, {"title", "How good it is"}, {"text", text}});
  // A picture of a wrong geometry looks like a picture.
  for (Json& warning : warning_blocks(run)) blocks.push_back(std::move(warning));
  if (!parts.empty()) blocks.push_back(pictures_block("LEDs and pupil", std::move(parts)));
  return blocks;
}

std::vector<Json> picture_blocks(const RunView& run) {
  std::vector<Json> blocks;
  const std::vector<std::string> files = run.files();
  for (const std::string kind : {"amplitude", "phase", "picture"}) {
    std::vector<Json> items;
    for (const std::string& name : files)
      if (name.starts_with(kind + "-") && name.ends_with(".png"))
        items.push_back(picture(snapshot_caption(name), run.file(name)));
    const bool has_snapshots = !items.empty(), has_last = run.has(kind + ".png");
    if (has_last) items.push_back(picture("result", run.file(kind + ".png")));
    if (items.size() > 1) blocks.push_back(pictures_block(kind + ", step by step", items));
    if (has_snapshots && has_last)
      blocks.push_back(compare_block(kind + ": start and result", items.front(), items.back()));
    if (kind == "picture" && has_last && run.has("truth.png"))
      blocks.push_back(compare_block("Recovered and true image",
                                     picture("recovered", run.file("picture.png")),
                                     picture("true", run.file("truth.png"))));
    else if (!has_snapshots && has_last && !run.has("raw.png"))  // else it stands at the top
      blocks.push_back(pictures_block(kind, items));
  }
  if (run.has("undetermined.png"))
    blocks.push_back(
        pictures_block("Where the data leave the image open",
                       {picture("bright pixels can change without changing any measurement",
                                run.file("undetermined.png"))}));
  return blocks;
}

}  // namespace udv::report
