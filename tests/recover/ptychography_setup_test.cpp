// SPDX-License-Identifier: MIT
#include "recover/ptychography_setup.hpp"

#include <gtest/gtest.h>

#include "io/temporary_files.hpp"
#include "udv/core/error.hpp"

namespace udv::detail {
namespace ptychography_setup_test {

/// Variables of the blood smear data file.
double bloodsmear_variable(const std::string& name) {
  const std::map<std::string, double> values = {
      {"wlength", 5.32e-7}, {"theta", 0}, {"xint", 0}, {"yint", 0.35}, {"z", 1e-5}};
  return values.at(name);
}

const std::string kOptics =
    "[optics]\nwavelength_nm = 532\nna = 0.1\nsample_pixel_um = 1.845\nled_pitch_mm = 4\n"
    "led_distance_mm = 90.88\nupsampling = 2\n";
const std::string kLeds = "[leds]\norder = \"spiral\"\n";
const std::string kData = "[data]\nvariable = \"images\"\nkind = \"intensity\"\n";

/// `text` with one part of it replaced.
std::string with(std::string text, const std::string& part, const std::string& replacement) {
  return text.replace(text.find(part), part.size(), replacement);
}

PtychographySetup setup_of(const std::string& toml) {
  const io::TemporaryFolder folder;
  return read_setup(folder.write("setup.toml", toml).string());
}

template <typename Action>
std::string error_of(const Action& action) {
  return io::TemporaryFolder().error_of(action);
}

std::string error_in(const std::string& toml) {
  const io::TemporaryFolder folder;
  const auto path = folder.write("setup.toml", toml);
  return folder.error_of([&] { read_setup(path.string()); });
}

std::string error_with_optics(const std::string& part, const std::string& replacement) {
  return error_in(with(kOptics, part, replacement) + kLeds + kData);
}

TEST(PtychographySetup, OfTheExampleIsThatOfTheDataSet) {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  const PtychographySetup setup = read_setup((root / "examples" / "bloodsmear.toml").string());
  const Optics optics = resolve_optics(setup, bloodsmear_variable);
  EXPECT_DOUBLE_EQ(optics.wavelength_m, 532e-9);
  EXPECT_EQ(optics.numerical_aperture, 0.1);
  EXPECT_EQ(optics.pixel_m, 1.845e-6);
  EXPECT_EQ(optics.led_distance_mm, 90.88);
  EXPECT_EQ(optics.slide_index, 1.52);
  EXPECT_EQ(optics.y_offset_mm, 0.35);
  EXPECT_DOUBLE_EQ(optics.defocus_m, 1e-5);
  EXPECT_EQ(optics.upsampling, 2);
  EXPECT_EQ(setup.pupil_variable, "aberration");
  EXPECT_EQ(setup.data.variable, "imlow_HDR");
  EXPECT_EQ(setup.data.kind, ImageKind::kAmplitude);
  EXPECT_EQ(setup.data.image_axis, ImageAxis::kLast);
  const auto lights = illuminations(optics, led_places(setup.leds, Optics(), 225));
  EXPECT_EQ(used_images(setup.leds, lights).size(), 37u);
  const Region region = image_region(setup.data, 128, 128);
  EXPECT_EQ(region.row, 24);
  EXPECT_EQ(region.cols, 80);
  EXPECT_NO_THROW(spectrum_windows(optics, region.rows, region.cols, lights));
}

TEST(PtychographySetup, DefaultsAreNoSlideNoShiftAndAllImages) {
  const PtychographySetup setup = setup_of(kOptics + kLeds + kData);
  const Optics optics = resolve_optics(setup, bloodsmear_variable);
  EXPECT_EQ(optics.wavelength_m, 532e-9);
  EXPECT_EQ(optics.slide_thickness_mm, 0);
  EXPECT_EQ(optics.defocus_m, 0);
  EXPECT_EQ(setup.pupil_variable, "");
  EXPECT_EQ(led_places(setup.leds, Optics(), 9), spiral_order(9));
  EXPECT_EQ(image_region(setup.data, 30, 20).rows, 30);
  EXPECT_NO_THROW(optics.validate());
}

TEST(PtychographySetup, CameraPixelAndMagnificationGiveThePixelOnTheSample) {
  const PtychographySetup setup =
      setup_of(with(kOptics, "sample_pixel_um = 1.845",
                    "camera_pixel_um = 3.75\nmagnification = { variable = \"mag\" }") +
               kLeds + kData);
  const Optics optics = resolve_optics(setup, [](const std::string&) { return 2.0; });
  EXPECT_DOUBLE_EQ(optics.pixel_m, 1.875e-6);
}

TEST(PtychographySetup, VariablesAreScaledAndChecked) {
  const PtychographySetup setup =
      setup_of(with(kOptics, "532", "{ variable = \"wlength\", scale = 1e9 }") + kLeds + kData);
  const Optics optics = resolve_optics(setup, bloodsmear_variable);
  EXPECT_DOUBLE_EQ(optics.wavelength_m, 532e-9);
  const auto resolved = error_of([&] { resolve_optics(setup, [](auto&) { return -1.0; }); });
  EXPECT_NE(resolved.find("setup.toml:2: [optics] wavelength_nm: -1e+09 found in variable "
                          "\"wlength\", nanometres from 0.001 to 100000 expected"),
            std::string::npos)
      << resolved;
}

struct Mistake {
  std::string part;
  std::string replacement;
  std::string error;
};

class OpticsMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(OpticsMistake, IsNamedWithFileLineAndKey) {
  const Mistake& mistake = GetParam();
  EXPECT_EQ(error_with_optics(mistake.part, mistake.replacement), "setup.toml:" + mistake.error);
}

INSTANTIATE_TEST_SUITE_P(
    Of, OpticsMistake,
    ::testing::Values(
        Mistake{"532", "\"green\"",
                "2: [optics] wavelength_nm: 'green' found, a number or { variable = \"name\" } "
                "expected"},
        Mistake{"532", "-532",
                "2: [optics] wavelength_nm: -532 found, nanometres from 0.001 to 100000 expected"},
        Mistake{"532", "inf",
                "2: [optics] wavelength_nm: inf found, a number or { variable = \"name\" } "
                "expected"},
        Mistake{"532", "{ name = \"x\" }",
                "2: [optics.wavelength_nm] name: unknown key found, one of variable, scale "
                "expected"},
        Mistake{"532", "{ scale = 2 }",
                "2: [optics.wavelength_nm] variable: no such key found, it is required"},
        Mistake{"532", "{ variable = 3 }",
                "2: [optics.wavelength_nm] variable: 3 found, a variable's name expected"},
        Mistake{"532", "{ variable = \"x\", scale = 0 }",
                "2: [optics.wavelength_nm] scale: 0 found, a number other than 0 expected"},
        Mistake{"na = 0.1", "na = 1.2",
                "3: [optics] na: 1.2 found, a number between 0 and 1 expected"},
        Mistake{"na = 0.1\n", "", "1: [optics] na: no such key found, it is required"},
        Mistake{"upsampling = 2", "upsampling = 1.5",
                "7: [optics] upsampling: 1.5 found, a whole number from 1 to 64 expected"},
        Mistake{"upsampling = 2", "upsampling = 2\nslide_index = 1.5",
                "8: [optics] slide_index: found without slide_thickness_mm, both expected"},
        Mistake{"upsampling = 2", "upsampling = 2\nmagnification = 2",
                "8: [optics] magnification: found without camera_pixel_um, both expected"},
        Mistake{"sample_pixel_um = 1.845\n", "",
                "1: [optics] sample_pixel_um: no such key found, it or camera_pixel_um and "
                "magnification expected"},
        Mistake{"upsampling = 2", "upsampling = 2\nmagnification = 2\ncamera_pixel_um = 3",
                "9: [optics] camera_pixel_um: found together with sample_pixel_um, one of them "
                "expected"},
        Mistake{"upsampling = 2", "upsampling = 2\npupil = \"aberration\"",
                "8: [optics] pupil: 'aberration' found, { variable = \"name\" } expected"}));

TEST(PtychographySetupFile, NamesWhatItDoesNotKnow) {
  EXPECT_EQ(error_with_optics("na", "NA"),
            "setup.toml:3: [optics] NA: unknown key found, one of wavelength_nm, na, "
            "sample_pixel_um, led_pitch_mm, led_distance_mm, slide_thickness_mm, slide_index, "
            "rotation_degrees, x_offset_mm, y_offset_mm, defocus_um, camera_pixel_um, "
            "magnification, upsampling, pupil, orientation expected");
  EXPECT_EQ(error_in(kOptics + kLeds + kData + "[camera]\n"),
            "setup.toml:13: camera: unknown key found, one of optics, leds, data expected");
  EXPECT_EQ(error_in(kOptics + kLeds), "setup.toml:1: data: no such key found, it is required");
  EXPECT_EQ(error_in("optics = 3\nleds = 3\ndata = 3\n").substr(0, 39),
            "setup.toml:1: optics: 3 found, a table ");
}

TEST(PtychographySetupFile, ThatIsNoTomlOrMissingIsNamed) {
  EXPECT_EQ(error_in("[optics\n").substr(0, 13), "setup.toml:1:");
  EXPECT_NE(error_of([] { read_setup("/no/such/setup.toml"); }).find("/no/such/setup.toml"),
            std::string::npos);
}

std::string error_with_leds(const std::string& lines) {
  return error_in(kOptics + "[leds]\n" + lines + kData);
}

TEST(LedSetup, OnePlaceForEachImage) {
  LedSetup leds;
  leds.where = "setup.toml:8: [leds]";
  leds.order = LedOrder::kRaster;
  leds.rows = leds.cols = 5;
  EXPECT_EQ(led_places(leds, Optics(), 25).size(), 25u);
  EXPECT_EQ(error_of([&] { led_places(leds, Optics(), 24); }),
            "setup.toml:8: [leds]: places of 25 LEDs found, 24 expected, one for each image");
  leds.count = 20;  // the first ones
  EXPECT_EQ(led_places(leds, Optics(), 24).size(), 20u);
}

TEST(LedSetup, MistakesAreNamed) {
  EXPECT_EQ(error_with_leds("order = \"zigzag\"\n"),
            "setup.toml:9: [leds] order: 'zigzag' found, \"spiral\", \"raster\", \"columns\" or "
            "\"list\" expected");
  EXPECT_EQ(error_with_leds("count = 3\n"),
            "setup.toml:8: [leds] order: no such key found, one of order and list expected");
  EXPECT_EQ(
      error_with_leds("order = \"spiral\"\nlist = [[0, 0]]\n"),
      "setup.toml:10: [leds] list: found together with order, one of order and list expected");
  EXPECT_EQ(error_with_leds("order = \"raster\"\nrows = 3\n"),
            "setup.toml:8: [leds] cols: no such key found, it is required");
  EXPECT_EQ(error_with_leds("order = \"raster\"\nrows = 20000\ncols = 20000\n"),
            "setup.toml:10: [leds] rows: 20000 found, rows x cols of at most 1000000 expected");
  EXPECT_EQ(error_with_leds("order = \"spiral\"\nrows = 3\n"),
            "setup.toml:10: [leds] rows: 3 found, nothing without order = \"raster\" expected");
  EXPECT_EQ(error_with_leds("list = [[0, 0], [1]]\n"),
            "setup.toml:9: [leds] list: [ [ 0, 0 ], [ 1 ] ] found, a list of pairs [x, y] of "
            "numbers expected");
  EXPECT_EQ(error_with_leds("order = \"spiral\"\ncount = 0\n"),
            "setup.toml:10: [leds] count: 0 found, a whole number from 1 expected");
  EXPECT_EQ(error_with_leds("order = \"spiral\"\nmax_na = 3\n"),
            "setup.toml:10: [leds] max_na: 3 found, a number between 0 and 1 expected");
  EXPECT_EQ(error_with_leds("order = \"spiral\"\nskip = [0]\n"),
            "setup.toml:10: [leds] skip: [ 0 ] found, a whole number from 1 or a list of them "
            "expected");
}

PtychographySetup setup_with_leds(const std::string& lines) {
  return setup_of(kOptics + "[leds]\n" + lines + kData);
}

TEST(LedSetup, PlacesFollowTheOrder) {
  EXPECT_EQ(
      led_places(setup_with_leds("order = \"raster\"\nrows = 3\ncols = 2\n").leds, Optics(), 6),
      raster_order(3, 2));
  const std::vector<GridPoint> two = {{4, -1}, {0, 2}};
  EXPECT_EQ(led_places(setup_with_leds("list = [[4, -1], [0, 2]]\n").leds, Optics(), 2), two);
  EXPECT_EQ(led_places(setup_with_leds("order = \"spiral\"\ncount = 5\n").leds, Optics(), 9),
            spiral_order(5));
}

TEST(LedSetup, PlacesMustSufficeForTheImages) {
  const auto leds = setup_with_leds("list = [[4, -1], [0, 2]]\n").leds;
  EXPECT_NE(error_of([&] {
              led_places(leds, Optics(), 3);
            }).find("setup.toml:8: [leds]: places of 2 LEDs found, 3 expected"),
            std::string::npos);
  const auto many = setup_with_leds("order = \"spiral\"\ncount = 5\n").leds;
  EXPECT_NE(
      error_of([&] { led_places(many, Optics(), 3); }).find("count 5 found, at most 3 expected"),
      std::string::npos);
}

TEST(LedSetup, SkipsByNumberAndAngle) {
  const PtychographySetup setup =
      setup_with_leds("order = \"spiral\"\nskip = [2, 4]\nmax_na = 0.05\n");
  const Optics optics = resolve_optics(setup, bloodsmear_variable);
  const auto lights = illuminations(optics, spiral_order(9));
  // The first ring's corners lie beyond 0.05.
  EXPECT_EQ(used_images(setup.leds, lights), (std::vector<Index>{0, 5, 7}));
  EXPECT_NE(error_of([&] {
              used_images(setup.leds, illuminations(optics, spiral_order(3)));
            }).find("skip of LED 4 found, 1 to 3 expected"),
            std::string::npos);
}

std::string error_with_data(const std::string& lines) {
  return error_in(kOptics + kLeds + "[data]\n" + lines);
}

TEST(DataSetup, MistakesAreNamed) {
  EXPECT_EQ(error_with_data("kind = \"intensity\"\n"),
            "setup.toml:10: [data] variable: no such key found, it is required");
  EXPECT_EQ(error_with_data("variable = \"\"\nkind = \"intensity\"\n"),
            "setup.toml:11: [data] variable: '' found, a variable's name expected");
  EXPECT_EQ(error_with_data("variable = \"b\"\nkind = \"power\"\n"),
            "setup.toml:12: [data] kind: 'power' found, \"amplitude\" or \"intensity\" expected");
  const std::string good = "variable = \"b\"\nkind = \"intensity\"\n";
  EXPECT_EQ(error_with_data(good + "image_axis = 3\n"),
            "setup.toml:13: [data] image_axis: 3 found, \"first\" or \"last\" expected");
  EXPECT_EQ(error_with_data(good + "crop = [80, 80, 3]\n"),
            "setup.toml:13: [data] crop: [ 80, 80, 3 ] found, a size or a list [rows, cols] "
            "expected");
  EXPECT_EQ(error_with_data(good + "roi = { row = 0, col = 0, rows = 8 }\n"),
            "setup.toml:13: [data.roi] cols: no such key found, it is required");
  EXPECT_EQ(error_with_data(good + "crop = 8\nroi = { row = 0, col = 0, rows = 8, cols = 8 }\n"),
            "setup.toml:13: [data] crop: found together with roi, one of them expected");
}

Region region_with(const std::string& line, Index rows, Index cols) {
  return image_region(setup_of(kOptics + kLeds + kData + line).data, rows, cols);
}

TEST(DataSetup, RegionIsCutAboutTheMiddleOrWhereAsked) {
  const Region crop = region_with("crop = [10, 8]\n", 21, 30);
  EXPECT_EQ(crop.row, 5);
  EXPECT_EQ(crop.col, 11);
  EXPECT_EQ(crop.rows, 10);
  EXPECT_EQ(crop.cols, 8);
  const Region roi = region_with("roi = { row = 1, col = 2, rows = 3, cols = 4 }\n", 4, 6);
  EXPECT_EQ(roi.row, 1);
  EXPECT_EQ(roi.cols, 4);
}

TEST(DataSetup, RegionMustLieInsideTheImages) {
  EXPECT_NE(error_of([] { region_with("crop = 81\n", 80, 100); })
                .find("setup.toml:10: [data]: 81 x 81 pixels at (0, 9) asked for, images of 80 x "
                      "100 found"),
            std::string::npos);
  const std::string huge = "roi = { row = 9223372036854775807, col = 0, rows = 3, cols = 4 }\n";
  EXPECT_NE(error_of([&] { region_with(huge, 80, 80); }).find("asked for"), std::string::npos);
}

}  // namespace ptychography_setup_test
}  // namespace udv::detail
