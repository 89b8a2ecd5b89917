// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "udv/core/error.hpp"
#include "udv/jobs/ptychography.hpp"

namespace udv::jobs {
namespace {

constexpr Index kSmallestTile = 32, kLargestTile = 4096;

Index tile_of(const std::string& text) {
  if (text == "auto") return 0;
  if (text == "off") return -1;
  size_t read = 0;
  long value = 0;
  try {
    value = std::stol(text, &read);
  } catch (const std::exception&) {
    read = 0;
  }
  if (read == 0 || read != text.size() || value < kSmallestTile || value > kLargestTile)
    throw InvalidArgument(
        fmt::format("'{}' found, auto, off or a whole number from {} to {} expected", text,
                    kSmallestTile, kLargestTile));
  return value;
}

}  // namespace

PtychographyJobOptions::PtychographyJobOptions() {
  method.init_norm = 1;
}

void describe(OptionTable& table, PtychographyInput& input) {
  table
      .add("data", input.data,
           "Images as .mat, .npz, .npy, .tif or HDF5, or a folder of TIFF or PNG files")
      .is_input()
      .called("DATA");
  table.add("setup", input.setup, "TOML file with optics, LEDs and data")
      .called("FILE")
      .keeps_numbers();
  table
      .add("guess", input.guess,
           "Write a setup file from the information in the data file, and stop")
      .keeps_numbers();
  table.add("mask", input.mask, "Picture or array that is not 0 at the pixels to leave out")
      .called("FILE");
}

void describe(OptionTable& table, PtychographyJobOptions& o) {
  table.add("refine-pupil", o.refine_pupil,
            {{"phase", PupilRefinement::kPhase},
             {"polynomial", PupilRefinement::kPolynomial},
             {"off", PupilRefinement::kOff}},
            "Correction of the pupil: free phases, or a polynomial of degree 4");
  table.add("dark-gain", o.dark_gain, "One common factor on all dark-field images, from the data")
      .as_switch_word();
  table.add("candidates", o.all_candidates, "Starts: all (flat, dynamics, modulus) or flat alone")
      .as_switch_word({"all", "flat"});
  table.add("holdout-leds", o.held_out, "Images that are predicted instead of used")
      .between(0, 2147483648.0);
  Option& drop_bad =
      table
          .add("drop-bad", o.drop_bad,
               "Leave out images that are empty, on the rim of the pupil or contradict the model")
          .as_switch_word();
  drop_bad.bare_word = "on";  // also a flag without a value
  drop_bad.set = [plain = drop_bad.set](const std::string& text) {
    plain(text == "true" ? "on" : text == "false" ? "off" : text);
  };
  table.add("calibrate", o.calibration,
            {{"auto", Calibration::kAuto}, {"on", Calibration::kOn}, {"off", Calibration::kOff}},
            "check LED positions by the images and take theirs: where they explain images better, "
            "wherever they differ, or never");
  Index* const tile = &o.tile;
  table
      .add_custom(
          "tile", [tile](const std::string& text) { *tile = tile_of(text); },
          [tile]() -> Setting {
            if (*tile > 0) return std::to_string(*tile);
            return std::string(*tile == 0 ? "auto" : "off");
          },
          "Cut large images into tiles of about this many pixels a side; auto: above 192 pixels")
      .called("auto|off|PIXELS");
  table.add("snapshots", o.snapshots, "Iterations to draw, as 0,10,100 (gradient method)")
      .keeps_numbers();
  describe(table, o.method);
  // The shared option is about entries; images have another kind of noise.
  table.remove({"noise-model"});
  table.add("noise-model", o.noise,
            {{"auto", PhotonNoise::kAuto},
             {"gaussian", PhotonNoise::kGaussian},
             {"poisson", PhotonNoise::kPoisson}},
            "Noise: found from the images, equal in all amplitudes, or that of photon counts");
}

}  // namespace udv::jobs
