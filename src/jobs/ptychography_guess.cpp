// SPDX-License-Identifier: MIT
// A setup file for a data set, from what its files say.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/require.hpp"
#include "io/ome_notes.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"
#include "udv/io/text_table.hpp"
#include "udv/io/tiff.hpp"
#include "udv/io/variables.hpp"
#include "udv/jobs/ptychography.hpp"

namespace udv::jobs {
namespace {

// A value up to `below` is in another unit: times `scale` it is in that of the key.
struct Unit {
  double below;
  double scale;
};

struct Key {
  const char* name;
  const char* what;
  bool required;
  std::vector<const char*> variables;  // names in lower case that people give it
  std::vector<Unit> units;             // the first that fits; none: as it is
};

const std::vector<Key>& keys() {
  static const std::vector<Key> table = {
      {"wavelength_nm",
       "of the light",
       true,
       {"wavelength", "wlength", "lambda", "wave_length", "illumination_wavelength"},
       {{1e-3, 1e9}, {20, 1e3}}},
      {"na", "of the objective", true, {"na", "numerical_aperture", "objective_na", "lensna"}, {}},
      {"sample_pixel_um",
       "camera pixel / magnification",
       true,
       {"spsize", "sample_pixel", "pixel_size", "pixelsize", "dpix", "psize", "dx"},
       {{1e-3, 1e6}}},
      {"led_pitch_mm",
       "between neighbours of the grid",
       true,
       {"led_pitch", "ledgap", "led_gap", "led_spacing", "ds_led", "ledp"},
       {{0.1, 1e3}}},
      {"led_distance_mm",
       "LEDs to the lower face of the slide",
       true,
       {"led_distance", "ledheight", "led_height", "z_led", "h", "led_z"},
       {{1, 1e3}}},
      {"rotation_degrees",
       "of the grid, from x (columns) to y (rows)",
       false,
       {"theta", "rotation", "led_rotation"},
       {}},
      {"x_offset_mm", "of the LED (0, 0) from the axis", false, {"xint", "x_offset", "xoff"}, {}},
      {"y_offset_mm", "the same along the rows", false, {"yint", "y_offset", "yoff"}, {}},
      {"defocus_um", "of the sample", false, {"z", "z0", "defocus"}, {{1e-2, 1e6}}},
  };
  return table;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// "group/data" -> "data"
std::string last_name(const std::string& name) {
  return lower(name.substr(name.find_last_of('/') + 1));
}

// Can stand between quotes in a setup file, and in a comment.
bool is_plain(const std::string& name) {
  return std::none_of(name.begin(), name.end(), [](const char c) {
    return c == '"' || c == '\\' || std::iscntrl(static_cast<unsigned char>(c));
  });
}

bool is_number(const io::Variable& variable) {
  return variable.is_numeric && is_plain(variable.name) &&
         std::all_of(variable.shape.begin(), variable.shape.end(),
                     [](Index size) { return size == 1; });
}

// What a key is set to, and where that is from.
struct Found {
  std::string value, source;
};

// A number of the file whose path ends with `name` and has `part` in it; nullptr: none.
const io::Variable* number_at(const io::VariableFile& file, const std::string& part,
                              const std::string& name) {
  for (const io::Variable& variable : file.variables())
    if (is_number(variable) && last_name(variable.name) == name &&
        lower(variable.name).find(part) != std::string::npos)
      return &variable;
  return nullptr;
}

double value_of(const io::VariableFile& file, const io::Variable& variable) {
  return file.read(variable.name).values.front().real();
}

// CXI files have the energy of a photon in joules, others in electronvolts: h c / energy.
std::optional<Found> wavelength_from_energy(const io::VariableFile& file) {
  constexpr double kPlanckLight = 1.98644586e-25, kElectronvolt = 1.602176634e-19;
  const io::Variable* energy = nullptr;
  for (const char* const name : {"energy", "photon_energy", "incident_energy"})
    if (!energy) energy = number_at(file, "", name);
  if (!energy) return std::nullopt;
  const double value = value_of(file, *energy);
  if (!(value > 0)) return std::nullopt;
  const double joules = value < 1e-9 ? value : value * kElectronvolt;
  return Found{fmt::format("{:.6g}", 1e9 * kPlanckLight / joules),
               fmt::format("variable {}, {:g} {}", energy->name, value, value < 1e-9 ? "J" : "eV")};
}

// Pixels of a detector are not those on the sample: a magnification is between them.
std::string camera_lines(const io::VariableFile& file, const io::Variable& pixel,
                         SetupGuess& guess) {
  const double value = value_of(file, pixel);
  const double scale = value < 1e-3 ? 1e6 : 1;  // metres, else micrometres
  guess.found.push_back(
      fmt::format("camera_pixel_um: variable {}, {:g}", pixel.name, value * scale));
  std::string text =
      fmt::format("camera_pixel_um = {{ variable = \"{}\", scale = {:g} }}  # of the detector\n",
                  pixel.name, scale);
  for (const char* const name : {"magnification", "mag"})
    if (const io::Variable* found = number_at(file, "", name)) {
      guess.found.push_back(fmt::format("magnification: variable {}", found->name));
      return text + fmt::format("magnification = {{ variable = \"{}\" }}\n", found->name);
    }
  guess.missing.push_back("magnification");
  return text + "# magnification =   # MISSING: camera pixel / pixel on the sample\n";
}

std::optional<Found> from_variables(const io::VariableFile& file, const Key& key) {
  for (const char* const name : key.variables)
    for (const io::Variable& variable : file.variables()) {
      if (!is_number(variable) || last_name(variable.name) != name) continue;
      const double value = value_of(file, variable);
      double scale = 1;
      for (const Unit& unit : key.units)
        if (value != 0 && std::abs(value) < unit.below) {
          scale = unit.scale;
          break;
        }
      const std::string times = scale == 1 ? "" : fmt::format(", scale = {:g}", scale);
      return Found{fmt::format("{{ variable = \"{}\"{} }}", variable.name, times),
                   fmt::format("variable {}, {:g}", variable.name, value * scale)};
    }
  return std::nullopt;
}

std::optional<Found> from_tiff(const io::TiffInfo& notes, const std::string& key) {
  const auto found = [](double value, const char* source) {
    return Found{fmt::format("{:.6g}", value), source};
  };
  const std::string& xml = notes.description;
  if (key == "wavelength_nm")
    for (const char* const name : {"EmissionWavelength", "ExcitationWavelength"})
      if (const auto value = io::detail::number_attribute(xml, name)) return found(*value, name);
  if (key == "na")
    if (const auto value = io::detail::number_attribute(xml, "LensNA"))
      return found(*value, "LensNA");
  if (key == "sample_pixel_um") {
    // Micrometres where nothing is said.
    double micrometres = 1;
    for (const auto& [unit, size] : {std::pair("nm", 1e-3), {"mm", 1e3}, {"cm", 1e4}, {"m", 1e6}})
      if (xml.find(fmt::format("PhysicalSizeXUnit=\"{}\"", unit)) != std::string::npos)
        micrometres = size;
    if (const auto value = io::detail::number_attribute(xml, "PhysicalSizeX"))
      return found(*value * micrometres, "PhysicalSizeX");
    // A camera or a screen: larger pixels are none of a sample.
    if (notes.pixel_m > 0 && notes.pixel_m < 2e-5) return found(1e6 * notes.pixel_m, "resolution");
  }
  return std::nullopt;
}

std::filesystem::path first_tiff(const std::filesystem::path& data) {
  const auto is_tiff = [](const std::filesystem::path& path) {
    const std::string extension = lower(path.extension().string());
    const bool hidden = path.filename().string().starts_with(".");
    return !hidden && (extension == ".tif" || extension == ".tiff");
  };
  if (is_tiff(data)) return data;
  std::filesystem::path first;
  if (std::filesystem::is_directory(data))
    for (const auto& entry : std::filesystem::directory_iterator(data))
      if (is_tiff(entry.path()) && (first.empty() || entry.path() < first)) first = entry.path();
  return first;
}

// The largest array with three axes.
const io::Variable& images_of(const io::VariableFile& file) {
  const io::Variable* best = nullptr;
  const auto size = [](const io::Variable& v) {
    double product = 1;
    for (const Index length : v.shape) product *= static_cast<double>(length);
    return product;
  };
  for (const io::Variable& variable : file.variables())
    if (variable.is_numeric && variable.shape.size() == 3 &&
        (!best || size(variable) > size(*best)))
      best = &variable;
  std::string there;
  for (const io::Variable& variable : file.variables())
    there += (there.empty() ? "" : ", ") + io::variable_text(variable);
  require<IoError>(best != nullptr, file.path().string(),
                   ": no array with three axes found, a stack of images expected; there: ", there);
  require<IoError>(is_plain(best->name), file.path().string(), ": variable ",
                   io::quoted(best->name), " found, a name without quotes and control characters ",
                   "expected");
  return *best;
}

std::string led_lines(Index images, SetupGuess& guess) {
  const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(images))));
  guess.missing.push_back("order of the LEDs (check it)");
  if (side * side == images)
    return fmt::format(
        "order = \"raster\"  # CHECK: {} images are {} x {}; or \"columns\", "
        "\"spiral\"\nrows = {}\ncols = {}\n",
        images, side, side, side, side);
  return "order = \"spiral\"  # CHECK: from the middle outwards; or \"raster\" or \"columns\" with "
         "rows "
         "and cols\n";
}

std::string data_lines(const io::Variable& images, bool stack) {
  const auto& shape = images.shape;
  const bool last_square = shape[0] == shape[1], first_square = shape[1] == shape[2];
  const bool last = last_square != first_square ? last_square : !stack;
  const bool whole = images.type.find("int") != std::string::npos || stack;
  return fmt::format(
      "variable = \"{}\"  # {}\nkind = \"intensity\"  # what a camera measures{}; or "
      "\"amplitude\"\nimage_axis = \"{}\"  # the axis that counts the images\n"
      "# crop = 128  # pixels around the centre\n",
      images.name, io::variable_text(images),
      whole ? "" : ", CHECK: floating-point numbers may be amplitudes", last ? "last" : "first");
}

Index count_of(const io::Variable& images, bool stack) {
  const auto& shape = images.shape;
  if ((shape[0] == shape[1]) != (shape[1] == shape[2]))
    return shape[0] == shape[1] ? shape[2] : shape[0];
  return stack ? shape[0] : shape[2];
}

// The line of one key; two for the pixels of a detector.
std::string key_lines(const io::VariableFile& file, const io::TiffInfo& notes, const Key& key,
                      SetupGuess& guess) {
  const std::string name = key.name;
  auto found = from_variables(file, key);
  if (!found && name == "wavelength_nm") found = wavelength_from_energy(file);
  if (!found) found = from_tiff(notes, name);
  if (found) {
    guess.found.push_back(fmt::format("{}: {}", name, found->source));
    return fmt::format("{} = {}  # {}, from {}\n", name, found->value, key.what, found->source);
  }
  if (name == "sample_pixel_um")
    for (const char* const pixel : {"x_pixel_size", "camera_pixel", "camera_pixel_size"})
      if (const io::Variable* variable = number_at(file, "", pixel))
        return camera_lines(file, *variable, guess);
  if (!key.required) return fmt::format("# {} = 0  # {}\n", name, key.what);
  guess.missing.push_back(name);
  return fmt::format("# {} =   # MISSING: {}\n", name, key.what);
}

// "cells" for "data/cells/", too.
std::filesystem::path name_of_data(const std::filesystem::path& data) {
  const std::filesystem::path whole = data.lexically_normal();
  return whole.has_filename() ? whole.filename() : whole.parent_path().filename();
}

}  // namespace

SetupGuess guess_setup(const PtychographyInput& input, const Session& session) {
  const io::VariableFile file(input.data);
  const io::Variable& images = images_of(file);
  SetupGuess guess;
  guess.path = input.setup.empty() ? name_of_data(input.data).replace_extension(".toml").string()
                                   : input.setup;
  const std::filesystem::path tiff = first_tiff(input.data);
  const io::TiffInfo notes = tiff.empty() ? io::TiffInfo() : io::read_tiff_info(tiff);
  std::string text = fmt::format(
      "# Setup of {}, guessed from its files. Lines with CHECK or MISSING "
      "need a look.\n\n[optics]\n",
      is_plain(input.data) ? input.data : "a data set");
  for (const Key& key : keys()) text += key_lines(file, notes, key, guess);
  if (const io::Variable* distance = number_at(file, "detector", "distance"))
    text += fmt::format("# {} says {:g}: the detector's distance, not that of the LEDs\n",
                        distance->name, value_of(file, *distance));
  const bool stack = images.name == "images" && file.variables().size() == 1;
  text += "\n[leds]\n" + led_lines(count_of(images, stack), guess);
  text += "\n[data]\n" + data_lines(images, stack);
  if (std::filesystem::exists(guess.path) && !session.options().force)
    throw OptionError(
        "guess", guess.path + " is there already: name another file (setup) or replace it (force)");
  io::write_atomically(guess.path, text);
  return guess;
}

}  // namespace udv::jobs
