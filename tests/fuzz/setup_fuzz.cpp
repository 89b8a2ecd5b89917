// SPDX-License-Identifier: MIT
// Setups of ptychography: the TOML file, the list of LEDs beside it (CSV), and the notes of a TIFF
// file (OME-XML). The first byte chooses.
#include "input_file.hpp"
#include "io/ome_notes.hpp"
#include "recover/ptychography_setup.hpp"
#include "udv/io/file.hpp"

using namespace udv;

namespace {

const char kSetup[] =
    "[optics]\nwavelength_nm = 500\nna = 0.1\nsample_pixel_um = 1\nled_pitch_mm = 4\n"
    "led_distance_mm = 80\n[leds]\nfile = \"leds.csv\"\n[data]\nvariable = \"images\"\n"
    "kind = \"intensity\"\n";

// What is done with a setup before any image is read.
void use_setup(const std::string& path) {
  constexpr Index kImages = 25, kPixels = 64;
  const detail::PtychographySetup setup = detail::read_setup(path);
  const Optics optics = detail::resolve_optics(
      setup, [](const std::string& variable) { return static_cast<double>(variable.size()); });
  for (const Index images : {kImages, static_cast<Index>(setup.leds.list.size())}) {
    const auto places = detail::led_places(setup.leds, optics, images);
    detail::used_images(setup.leds, illuminations(optics, places));
  }
  detail::image_region(setup.data, kPixels, kPixels);
}

// A message names the file that is at fault: either of the two.
void read_folder(const std::filesystem::path& setup) {
  fuzz::read_or_refuse(setup.parent_path(),
                       [&](const auto& folder) { use_setup((folder / "setup.toml").string()); });
}

void find_numbers(std::string_view notes) {
  for (const char* const name : {"PhysicalSizeX", "LensNA", "", "\""})
    if (const auto value = io::detail::number_attribute(notes, name))
      if (!(*value - *value == 0)) __builtin_trap();  // not finite
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile setup("setup.toml"), leds("leds.csv");
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::view(data + 1, size - 1);
  if (data[0] % 3 == 0) read_folder(setup.write(bytes));
  if (data[0] % 3 == 1) {
    const auto folder = leds.write(bytes).parent_path();
    if (!std::filesystem::exists(folder / "setup.toml"))
      io::write_atomically(folder / "setup.toml", kSetup);
    read_folder(folder / "setup.toml");
  }
  if (data[0] % 3 == 2) find_numbers(bytes);
  return 0;
}
