// SPDX-License-Identifier: MIT
#include "recover/ptychography_setup.hpp"

#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "io/toml_file.hpp"
#include "udv/io/file.hpp"

namespace udv::detail {
namespace {

using io::detail::TomlSection;

struct Range {
  const char* words;
  bool (*holds)(double);
};

const Range kPositive{"a positive number", [](double x) { return x > 0; }};
const Range kNonnegative{"0 or more", [](double x) { return x >= 0; }};
const Range kAperture{"a number between 0 and 1", [](double x) { return x > 0 && x < 1; }};
const Range kRefractive{"1 or more", [](double x) { return x >= 1; }};
const Range kAnything{"a finite number", [](double) { return true; }};

/// A key of [optics], the field it gives and how many of its units make one of the field's.
struct Field {
  const char* key;
  double Optics::*member;
  double units;
  const Range& range;
  bool required;
};

const std::vector<Field>& fields() {
  static const std::vector<Field> table = {
      {"wavelength_nm", &Optics::wavelength_m, 1e9, kPositive, true},
      {"na", &Optics::numerical_aperture, 1, kAperture, true},
      {"sample_pixel_um", &Optics::pixel_m, 1e6, kPositive, false},
      {"led_pitch_mm", &Optics::led_pitch_mm, 1, kPositive, true},
      {"led_distance_mm", &Optics::led_distance_mm, 1, kPositive, true},
      {"slide_thickness_mm", &Optics::slide_thickness_mm, 1, kNonnegative, false},
      {"slide_index", &Optics::slide_index, 1, kRefractive, false},
      {"rotation_degrees", &Optics::rotation_degrees, 1, kAnything, false},
      {"x_offset_mm", &Optics::x_offset_mm, 1, kAnything, false},
      {"y_offset_mm", &Optics::y_offset_mm, 1, kAnything, false},
      {"defocus_um", &Optics::defocus_m, 1e6, kAnything, false},
      // Together they give pixel_m.
      {"camera_pixel_um", nullptr, 1e6, kPositive, false},
      {"magnification", nullptr, 1, kPositive, false},
  };
  return table;
}

void check(const Quantity& quantity, const Range& range, double value) {
  const std::string source =
      quantity.variable.empty() ? "" : message(" in variable \"", quantity.variable, "\"");
  require<IoError>(std::isfinite(value) && range.holds(value), quantity.where, ": ", value,
                   " found", source, ", ", range.words, " expected");
}

double resolve(const Quantity& quantity, const Range& range, const ReadNumber& read) {
  if (quantity.variable.empty()) return quantity.value;
  const double value = read(quantity.variable) * quantity.scale;
  check(quantity, range, value);
  return value;
}

void require_together(const TomlSection& section, const char* one, const char* other) {
  require<IoError>(section.has(one) || !section.has(other), section.where(other),
                   ": found without ", one, ", both expected");
  require<IoError>(section.has(other) || !section.has(one), section.where(one), ": found without ",
                   other, ", both expected");
}

void require_one_pixel_size(const TomlSection& section) {
  require_together(section, "camera_pixel_um", "magnification");
  require<IoError>(!section.has("sample_pixel_um") || !section.has("camera_pixel_um"),
                   section.where("camera_pixel_um"),
                   ": found beside sample_pixel_um, one of them expected");
  require<IoError>(section.has("sample_pixel_um") || section.has("camera_pixel_um"),
                   section.where("sample_pixel_um"),
                   ": no such key found, it or camera_pixel_um and magnification expected");
}

// Whether the raster is mirrored, and whether its axes are swapped.
Orientation read_orientation(const TomlSection& section) {
  const std::string_view expected = "\"plain\", \"mirrored\", \"swapped\" or \"both\"";
  const std::string word = section.text("orientation", expected).value_or("plain");
  if (word != "plain" && word != "mirrored" && word != "swapped" && word != "both")
    section.refuse("orientation", expected);
  return {word == "mirrored" || word == "both", word == "swapped" || word == "both"};
}

void read_optics(const TomlSection& section, PtychographySetup& setup) {
  for (const Field& field : fields()) {
    if (field.required) section.require_key(field.key);
    const auto quantity = section.quantity(field.key);
    if (!quantity) continue;
    if (quantity->variable.empty()) check(*quantity, field.range, quantity->value);
    setup.optics[field.key] = *quantity;
  }
  require_one_pixel_size(section);
  require_together(section, "slide_thickness_mm", "slide_index");
  setup.upsampling = static_cast<int>(section.whole("upsampling", 1, 64).value_or(0));
  setup.orientation = read_orientation(section);
  setup.pupil_variable = section.variable("pupil").value_or("");
}

LedOrder read_order(const TomlSection& section) {
  require<IoError>(section.has("order") != section.has("list"),
                   section.where(section.has("list") ? "list" : "order"), ": ",
                   section.has("list") ? "found beside order" : "no such key found",
                   ", one of order and list expected");
  if (section.has("list")) return LedOrder::kList;
  const std::string_view expected = "\"spiral\" or \"raster\"";
  const std::string order = *section.text("order", expected);
  if (order != "spiral" && order != "raster") section.refuse("order", expected);
  return order == "spiral" ? LedOrder::kSpiral : LedOrder::kRaster;
}

constexpr double kMostLeds = 1e6;

void read_raster(const TomlSection& section, LedSetup& leds) {
  for (const char* key : {"rows", "cols"}) {
    if (leds.order == LedOrder::kRaster)
      section.require_key(key);
    else if (section.has(key))
      section.refuse(key, "nothing without order = \"raster\"");
  }
  leds.rows = section.whole("rows", 1).value_or(0);
  leds.cols = section.whole("cols", 1).value_or(0);
  if (static_cast<double>(leds.rows) * static_cast<double>(leds.cols) > kMostLeds)
    section.refuse("rows", "rows x cols of at most 1000000");
}

LedSetup read_leds(const TomlSection& section) {
  LedSetup leds;
  leds.where = section.where("");
  leds.order = read_order(section);
  read_raster(section, leds);
  if (leds.order == LedOrder::kList)
    for (const auto& [x, y] : section.pairs("list"))
      leds.list.push_back({static_cast<double>(x), static_cast<double>(y)});
  leds.count = section.whole("count", 1);
  leds.max_na = section.number("max_na");
  if (leds.max_na && !kAperture.holds(*leds.max_na)) section.refuse("max_na", kAperture.words);
  leds.skip = section.wholes("skip", 1);
  return leds;
}

ImageKind read_kind(const TomlSection& section) {
  section.require_key("kind");
  const std::string_view expected = "\"amplitude\" or \"intensity\"";
  const std::string kind = *section.text("kind", expected);
  if (kind != "amplitude" && kind != "intensity") section.refuse("kind", expected);
  return kind == "amplitude" ? ImageKind::kAmplitude : ImageKind::kIntensity;
}

ImageAxis read_axis(const TomlSection& section) {
  if (!section.has("image_axis")) return ImageAxis::kUsual;
  const std::string_view expected = "\"first\" or \"last\"";
  const std::string axis = *section.text("image_axis", expected);
  if (axis != "first" && axis != "last") section.refuse("image_axis", expected);
  return axis == "first" ? ImageAxis::kFirst : ImageAxis::kLast;
}

std::optional<Region> read_roi(const TomlSection& data) {
  const auto roi = data.section("roi", {"row", "col", "rows", "cols"});
  if (!roi) return std::nullopt;
  for (const char* key : {"row", "col", "rows", "cols"}) roi->require_key(key);
  return Region{*roi->whole("row", 0), *roi->whole("col", 0), *roi->whole("rows", 1),
                *roi->whole("cols", 1)};
}

std::optional<std::pair<Index, Index>> read_crop(const TomlSection& data) {
  if (!data.has("crop")) return std::nullopt;
  const auto sizes = data.wholes("crop", 1);
  if (sizes.empty() || sizes.size() > 2) data.refuse("crop", "a size or a list [rows, cols]");
  return std::pair(sizes.front(), sizes.back());
}

DataSetup read_data(const TomlSection& section) {
  DataSetup data;
  data.where = section.where("");
  section.require_key("variable");
  data.variable = *section.text("variable", "a variable's name");
  data.kind = read_kind(section);
  data.image_axis = read_axis(section);
  require<IoError>(!section.has("roi") || !section.has("crop"), section.where("crop"),
                   ": found beside roi, one of them expected");
  data.roi = read_roi(section);
  data.crop = read_crop(section);
  return data;
}

std::vector<std::string_view> optics_keys() {
  std::vector<std::string_view> keys;
  for (const Field& field : fields()) keys.push_back(field.key);
  keys.insert(keys.end(), {"upsampling", "pupil", "orientation"});
  return keys;
}

PtychographySetup setup_of(const std::string& path, const toml::table& table) {
  const TomlSection file(path, "", table, {"optics", "leds", "data"});
  for (const char* key : {"optics", "leds", "data"}) file.require_key(key);
  PtychographySetup setup;
  read_optics(*file.section("optics", optics_keys()), setup);
  setup.leds = read_leds(
      *file.section("leds", {"order", "rows", "cols", "list", "count", "max_na", "skip"}));
  setup.data = read_data(*file.section("data", {"variable", "kind", "image_axis", "roi", "crop"}));
  return setup;
}

std::vector<GridPoint> places_in_order(const LedSetup& leds, Index count) {
  if (leds.order == LedOrder::kSpiral) return spiral_order(count);
  return leds.order == LedOrder::kRaster ? raster_order(leds.rows, leds.cols) : leds.list;
}

}  // namespace

PtychographySetup read_setup(const std::string& path) {
  const std::string text = io::read_bytes(path);
  return setup_of(path, io::detail::parse_toml(path, text));
}

Optics resolve_optics(const PtychographySetup& setup, const ReadNumber& read) {
  Optics optics;
  optics.upsampling = std::max(setup.upsampling, 1);
  optics.mirrored = setup.orientation.mirrored;
  optics.swapped = setup.orientation.swapped;
  std::map<std::string, double> values;
  for (const Field& field : fields()) {
    const auto quantity = setup.optics.find(field.key);
    if (quantity == setup.optics.end()) continue;
    const double value = resolve(quantity->second, field.range, read) / field.units;
    values[field.key] = value;
    if (field.member) optics.*field.member = value;
  }
  if (values.count("camera_pixel_um"))
    optics.pixel_m = values.at("camera_pixel_um") / values.at("magnification");
  return optics;
}

std::vector<GridPoint> led_places(const LedSetup& leds, Index num_images) {
  const Index count = leds.count.value_or(num_images);
  require<IoError>(count <= num_images, leds.where, ": count ", count, " found, at most ",
                   num_images, " expected, the images of the data file");
  std::vector<GridPoint> places = places_in_order(leds, count);
  const auto found = static_cast<Index>(places.size());
  require<IoError>(found == count || (leds.count && found > count), leds.where, ": places of ",
                   found, " LEDs found, ", count, " expected, one for each image");
  places.resize(static_cast<size_t>(count));
  return places;
}

std::vector<Index> used_images(const LedSetup& leds, const std::vector<Illumination>& lights) {
  const Index count = static_cast<Index>(lights.size());
  for (const Index number : leds.skip)
    require<IoError>(number <= count, leds.where, ": skip of LED ", number, " found, 1 to ", count,
                     " expected");
  std::vector<Index> used;
  for (Index image = 0; image < count; ++image) {
    const bool skipped = std::count(leds.skip.begin(), leds.skip.end(), image + 1) > 0;
    const bool beyond = leds.max_na && lights[static_cast<size_t>(image)].na > *leds.max_na;
    if (!skipped && !beyond) used.push_back(image);
  }
  require<IoError>(!used.empty(), leds.where, ": none of ", count, " images left by skip and ",
                   "max_na, one or more expected");
  return used;
}

Region image_region(const DataSetup& data, Index rows, Index cols) {
  Region region{0, 0, rows, cols};
  if (data.roi) region = *data.roi;
  if (data.crop) {
    const auto [crop_rows, crop_cols] = *data.crop;
    region = {(rows - crop_rows) / 2, (cols - crop_cols) / 2, crop_rows, crop_cols};
  }
  require<IoError>(region.row >= 0 && region.row <= rows - region.rows && region.col >= 0 &&
                       region.col <= cols - region.cols,
                   data.where, ": ", region.rows, " x ", region.cols, " pixels at (", region.row,
                   ", ", region.col, ") asked for, images of ", rows, " x ", cols, " found");
  return region;
}

}  // namespace udv::detail
