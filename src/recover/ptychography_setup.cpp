// SPDX-License-Identifier: MIT
#include "recover/ptychography_setup.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/require.hpp"
#include "io/toml_file.hpp"
#include "udv/io/file.hpp"
#include "udv/io/text_table.hpp"

namespace udv::detail {
namespace {

using io::detail::TomlSection;

constexpr double kFarAway = 1000;  // mm, of LEDs whose angles alone are known

struct Range {
  const char* words;
  bool (*holds)(double);
};

const Range kWavelength{"nanometres from 0.001 to 100000",
                        [](double x) { return x >= 1e-3 && x <= 1e5; }};
const Range kPixel{"micrometres from 0.0001 to 1000",
                   [](double x) { return x >= 1e-4 && x <= 1e3; }};
const Range kLength{"millimetres from 0.001 to 100000",
                    [](double x) { return x >= 1e-3 && x <= 1e5; }};
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
      {"wavelength_nm", &Optics::wavelength_m, 1e9, kWavelength, true},
      {"na", &Optics::numerical_aperture, 1, kAperture, true},
      {"sample_pixel_um", &Optics::pixel_m, 1e6, kPixel, false},
      {"led_pitch_mm", &Optics::led_pitch_mm, 1, kLength, false},
      {"led_distance_mm", &Optics::led_distance_mm, 1, kLength, false},
      {"slide_thickness_mm", &Optics::slide_thickness_mm, 1, kNonnegative, false},
      {"slide_index", &Optics::slide_index, 1, kRefractive, false},
      {"rotation_degrees", &Optics::rotation_degrees, 1, kAnything, false},
      {"x_offset_mm", &Optics::x_offset_mm, 1, kAnything, false},
      {"y_offset_mm", &Optics::y_offset_mm, 1, kAnything, false},
      {"defocus_um", &Optics::defocus_m, 1e6, kAnything, false},
      // Together they give pixel_m.
      {"camera_pixel_um", nullptr, 1e6, kPixel, false},
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
                   ": found together with sample_pixel_um, one of them expected");
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

// Keys that say by themselves where the LEDs are.
constexpr const char* kPlaces[] = {"list", "positions_mm", "positions_na", "file"};

// The one of them that is there; empty: none.
std::string places_key(const TomlSection& section) {
  std::string found;
  for (const char* const key : kPlaces) {
    if (!section.has(key)) continue;
    require<IoError>(found.empty(), section.where(key), ": found together with ", found,
                     ", one of them expected");
    found = key;
  }
  return found;
}

LedOrder read_order(const TomlSection& section) {
  const std::string places = places_key(section);
  const std::string_view expected = "\"spiral\", \"raster\", \"columns\" or \"list\"";
  require<IoError>(section.has("order") || !places.empty(), section.where("order"),
                   ": no such key found, one of order and list expected");
  if (!section.has("order")) return LedOrder::kList;
  const std::string order = *section.text("order", expected);
  require<IoError>((order == "list") == !places.empty(),
                   section.where(places.empty() ? "order" : places), ": ",
                   places.empty() ? "list found without list, positions_mm, positions_na or file"
                                  : "found together with order",
                   ", one of order and list expected");
  if (order == "spiral") return LedOrder::kSpiral;
  if (order == "raster") return LedOrder::kRaster;
  if (order == "columns") return LedOrder::kColumns;
  if (order != "list") section.refuse("order", expected);
  return LedOrder::kList;
}

constexpr double kMostLeds = 1e6;

double field_number(const io::TextTable& table, Index row, Index column) {
  const std::string text(table.field(row, column));
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  require<IoError>(!text.empty() && *end == '\0' && std::isfinite(value), table.where(row, column),
                   ": '", text, "' found, a number expected");
  return value;
}

std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void read_raster(const TomlSection& section, LedSetup& leds) {
  for (const char* key : {"rows", "cols"}) {
    if (leds.order == LedOrder::kRaster || leds.order == LedOrder::kColumns)
      section.require_key(key);
    else if (section.has(key))
      section.refuse(key, "nothing without order = \"raster\"");
  }
  leds.rows = section.whole("rows", 1).value_or(0);
  leds.cols = section.whole("cols", 1).value_or(0);
  if (static_cast<double>(leds.rows) * static_cast<double>(leds.cols) > kMostLeds)
    section.refuse("rows", "rows x cols of at most 1000000");
}

// Two columns of a CSV file: x_mm and y_mm, na_x and na_y, or x and y in pitches.
void read_led_file(const TomlSection& section, const std::string& setup_path, LedSetup& leds) {
  const std::filesystem::path name = *section.text("file", "the name of a CSV file");
  const io::TextTable table(std::filesystem::path(setup_path).parent_path() / name);
  struct Names {
    const char *x, *y;
    LedUnit unit;
  };
  for (const Names& names :
       {Names{"x_mm", "y_mm", LedUnit::kMillimetre}, Names{"na_x", "na_y", LedUnit::kNa},
        Names{"x", "y", LedUnit::kPitch}}) {
    const Index x = table.find(names.x), y = table.find(names.y);
    if (x < 0 || y < 0) continue;
    leds.unit = names.unit;
    for (Index row = 0; row < table.rows(); ++row)
      leds.list.push_back({field_number(table, row, x), field_number(table, row, y)});
    return;
  }
  throw IoError(message(table.name(), ": columns ", joined_names(table.columns()),
                        " found, x_mm and y_mm, na_x and na_y, or x and y expected"));
}

void read_places(const TomlSection& section, const std::string& path, LedSetup& leds) {
  const std::string key = places_key(section);
  if (key == "file") return read_led_file(section, path, leds);
  for (const auto& [x, y] : section.pairs(key)) leds.list.push_back({x, y});
  if (key == "positions_mm") leds.unit = LedUnit::kMillimetre;
  if (key == "positions_na") leds.unit = LedUnit::kNa;
}

LedSetup read_leds(const TomlSection& section, const std::string& path) {
  LedSetup leds;
  leds.where = section.where("");
  leds.order = read_order(section);
  read_raster(section, leds);
  if (leds.order == LedOrder::kList) read_places(section, path, leds);
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
                   ": found together with roi, one of them expected");
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

// A pitch is needed where places are counted in it, a distance unless they are angles.
void require_geometry(const TomlSection& optics, const PtychographySetup& setup) {
  if (setup.leds.unit == LedUnit::kPitch) optics.require_key("led_pitch_mm");
  if (setup.leds.unit != LedUnit::kNa) optics.require_key("led_distance_mm");
}

PtychographySetup setup_of(const std::string& path, const toml::table& table) {
  const TomlSection file(path, "", table, {"optics", "leds", "data"});
  for (const char* key : {"optics", "leds", "data"}) file.require_key(key);
  PtychographySetup setup;
  read_optics(*file.section("optics", optics_keys()), setup);
  setup.leds = read_leds(*file.section("leds", {"order", "rows", "cols", "list", "positions_mm",
                                                "positions_na", "file", "count", "max_na", "skip"}),
                         path);
  require_geometry(*file.section("optics", optics_keys()), setup);
  setup.data = read_data(*file.section("data", {"variable", "kind", "image_axis", "roi", "crop"}));
  return setup;
}

std::vector<GridPoint> column_order(Index rows, Index cols) {
  std::vector<GridPoint> points = raster_order(cols, rows);
  for (GridPoint& point : points) std::swap(point.x, point.y);
  return points;
}

// Places of a list in pitches. An LED that is seen under the angle of sine s stands
// H s / sqrt(1 - s^2) + t s / sqrt(n^2 - s^2) from the axis.
std::vector<GridPoint> listed_places(const LedSetup& leds, const Optics& optics) {
  std::vector<GridPoint> places = leds.list;
  if (leds.unit == LedUnit::kPitch) return places;
  for (size_t i = 0; i < places.size(); ++i) {
    double scale = 1 / optics.led_pitch_mm;
    const double s = std::hypot(places[i].x, places[i].y);
    if (leds.unit == LedUnit::kNa && s > 0) {
      require<IoError>(s < 1, leds.where, ": LED ", i + 1, " with NA ", s,
                       " found, less than 1 expected");
      const double n2 = optics.slide_index * optics.slide_index;
      const double radius = optics.led_distance_mm * s / std::sqrt(1 - s * s) +
                            optics.slide_thickness_mm * s / std::sqrt(n2 - s * s);
      scale *= radius / s;
    }
    places[i] = {scale * places[i].x, scale * places[i].y};
  }
  return places;
}

std::vector<GridPoint> places_in_order(const LedSetup& leds, const Optics& optics, Index count) {
  if (leds.order == LedOrder::kSpiral) return spiral_order(count);
  if (leds.order == LedOrder::kRaster) return raster_order(leds.rows, leds.cols);
  if (leds.order == LedOrder::kColumns) return column_order(leds.rows, leds.cols);
  return listed_places(leds, optics);
}

}  // namespace

PtychographySetup read_setup(const std::string& path) {
  const std::string text = io::read_bytes(path);
  return setup_of(path, io::detail::parse_toml(path, text));
}

Optics resolve_optics(const PtychographySetup& setup, const ReadNumber& read) {
  Optics optics;
  // What places in mm or NA do not need.
  optics.led_pitch_mm = 1;
  optics.led_distance_mm = kFarAway;
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

std::vector<GridPoint> led_places(const LedSetup& leds, const Optics& optics, Index num_images) {
  const Index count = leds.count.value_or(num_images);
  require<IoError>(count <= num_images, leds.where, ": count ", count, " found, at most ",
                   num_images, " expected, the images of the data file");
  std::vector<GridPoint> places = places_in_order(leds, optics, count);
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
