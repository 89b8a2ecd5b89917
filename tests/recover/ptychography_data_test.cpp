// SPDX-License-Identifier: MIT
#include "udv/recover/ptychography_data.hpp"

#include <gtest/gtest.h>

#include "io/temporary_files.hpp"
#include "support/capture.hpp"
#include "support/microscope.hpp"
#include "support/optics.hpp"
#include "support/random_data.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/png.hpp"
#include "udv/recover/ptychography_field.hpp"

namespace udv {
namespace ptychography_data_test {

using Complex = std::complex<float>;
using testing::disc;
using testing::error_of;
using testing::kHigh;
using testing::kLow;
using testing::Scene;

constexpr Index kSize = 32, kPixels = kSize * kSize, kImages = 25;

Optics optics() {
  return testing::low_power_optics(1.8e-6);
}

std::vector<Illumination> lights() {
  return illuminations(optics(), spiral_order(kImages));
}

/// Intensities of a sample with a bump of phase.
ImageStack stack() {
  const PtychographyOperator<Complex> op(2 * kSize, 2 * kSize,
                                         spectrum_windows(optics(), kSize, kSize, lights()),
                                         pupil(optics(), kSize, kSize));
  Vector<Complex> image(4 * kPixels);
  for (Index i = 0; i < image.size(); ++i)
    image(i) = std::polar(
        1.0f, float(std::exp(
                  -(std::pow(double(i % 64) - 20, 2) + std::pow(double(i / 64) - 40, 2)) / 60)));
  const Vector<float> amplitudes = testing::amplitudes_of(op, op.from_image(image));
  ImageStack images{kImages, kSize, kSize, ImageKind::kIntensity, {}};
  for (const float a : amplitudes) images.values.push_back(double(a) * double(a));
  return images;
}

void scale_image(ImageStack& images, Index which, double factor) {
  for (Index i = 0; i < kPixels; ++i) images.values[size_t(which * kPixels + i)] *= factor;
}

TEST(PtychographyDataInMemory, HasAmplitudesAndGeometry) {
  ImageStack images = stack();
  const PtychographyData data = ptychography_data(images, optics(), lights());
  EXPECT_EQ(data.rows, 64);
  EXPECT_EQ(data.used.size(), 25u);
  EXPECT_EQ(data.windows, spectrum_windows(optics(), kSize, kSize, lights()));
  EXPECT_FALSE(data.dark.front());
  EXPECT_TRUE(data.dark.back());
  EXPECT_TRUE(data.warnings.empty());
  EXPECT_FLOAT_EQ(data.amplitudes(77), std::sqrt(float(images.values[77])));
  images.kind = ImageKind::kAmplitude;
  EXPECT_FLOAT_EQ(ptychography_data(images, optics(), lights(), true).amplitudes(77),
                  float(images.values[77]));
}

TEST(PtychographyDataInMemory, LeavesOutBadImagesWhereAsked) {
  ImageStack images = stack();
  scale_image(images, 4, 0);
  scale_image(images, 2, 0.2);
  const PtychographyData all = ptychography_data(images, optics(), lights(), false);
  EXPECT_EQ(all.used.size(), 25u);
  EXPECT_EQ(all.warnings.front(),
            "image 5 is all zero; the option drop-bad leaves such images out");
  const PtychographyData data = ptychography_data(images, optics(), lights());
  EXPECT_EQ(data.used.size(), 23u);
  EXPECT_EQ(data.leds.size(), 25u);
  EXPECT_EQ(data.leds[2].left_out, "contradicts the model");
  EXPECT_EQ(data.leds[4].left_out, "no light");
  EXPECT_EQ(data.leds[0].left_out, "");
  EXPECT_EQ(data.used[2], 3);
  EXPECT_EQ(data.amplitudes.size(), 23 * kPixels);
  EXPECT_EQ(data.contradicting, std::vector<Index>{2});
  EXPECT_EQ(data.warnings, (std::vector<std::string>{
                               "image 5 is all zero: left out",
                               "LED 3 contradicts the model (far too dark or too bright for the "
                               "place): left out"}));
}

TEST(PtychographyDataInMemory, SaysWhatIsWrongWithIt) {
  const auto message_of = [](const ImageStack& images, size_t count = kImages) {
    auto some = lights();
    some.resize(count);
    return error_of([&] { ptychography_data(images, optics(), some); });
  };
  ImageStack images = stack();
  EXPECT_EQ(message_of(images, 3), "3 lights found, 25 expected, one for each image");
  images.values[size_t(3 * kPixels + 2 * kSize + 1)] = -1;
  EXPECT_EQ(message_of(images), "image 4, pixel (2, 1) is -1, a number of at least 0 expected");
  images.values.pop_back();
  EXPECT_EQ(message_of(images), "25599 pixels found, 25600 expected, 25 images of 32 x 32");
  images = stack();
  std::fill(images.values.begin(), images.values.end(), 0);
  EXPECT_EQ(message_of(images), "all images are zero");
  std::fill(images.values.begin(), images.values.end(), 1e20);
  EXPECT_EQ(message_of(images), "the largest magnitude is 1e+10, between 1e-08 and 1e+08 expected");
  EXPECT_EQ(message_of({}), "a stack of 0 images of 0 x 0 pixels found, one or more expected");
}

struct Files {
  io::TemporaryFolder folder;
  std::filesystem::path data = folder / "data.npz", setup;

  explicit Files(const ImageStack& images, const std::string& more = "") {
    io::Array array{{images.images, images.rows, images.cols}, images.values};
    io::write_npz(data, {{"images", array}});
    setup = folder.write(
        "setup.toml",
        "[optics]\nwavelength_nm = 532\nna = 0.1\nsample_pixel_um = 1.8\nled_pitch_mm = 4\n"
        "led_distance_mm = 90\nupsampling = 2\n[leds]\norder = \"spiral\"\n[data]\n"
        "variable = \"images\"\nkind = \"intensity\"\nimage_axis = \"first\"\n" +
            more);
  }
  std::string refusal() const {
    return folder.error_of([&] { read_ptychography(data, setup, false); });
  }
};

TEST(PtychographyFile, GivesTheSameAsMemory) {
  const ImageStack images = stack();
  const Files files(images);
  const PtychographyData read = read_ptychography(files.data, files.setup);
  const PtychographyData made = ptychography_data(images, optics(), lights());
  EXPECT_EQ(read.amplitudes, made.amplitudes);
  EXPECT_EQ(read.windows, made.windows);
  EXPECT_EQ(read.pupil, made.pupil);
  EXPECT_EQ(read.dark, made.dark);
  EXPECT_EQ(read.used, made.used);
}

TEST(PtychographyFile, OfAStackCountsImagesFirstAndFindsTheUpsampling) {
  const ImageStack images = stack();
  const Files files(images);
  const auto data =
      files.folder.write("stack.npy", io::npy_bytes({kImages, kSize, kSize}, images.values.data()));
  const auto setup = files.folder.write(
      "stack.toml",
      "[optics]\nwavelength_nm = 532\nna = 0.1\nsample_pixel_um = 1.8\nled_pitch_mm = 4\n"
      "led_distance_mm = 90\n[leds]\norder = \"spiral\"\n[data]\nvariable = \"images\"\n"
      "kind = \"intensity\"\n");
  const PtychographyData read = read_ptychography(data, setup);
  const PtychographyData made = ptychography_data(images, optics(), lights());
  EXPECT_EQ(read.optics.upsampling, 2);
  EXPECT_EQ(read.amplitudes, made.amplitudes);
  EXPECT_EQ(read.windows, made.windows);
}

// Images on disk are cut like images in memory, to single precision.
TEST(PtychographyFile, OfALargeFieldStaysOnDisk) {
  const Files files(stack());
  const PtychographyField memory = read_ptychography_field(files.data, files.setup);
  PtychographyReading reading;
  reading.most_in_memory = 0;
  const PtychographyField disk = read_ptychography_field(files.data, files.setup, reading);
  ASSERT_TRUE(disk.stored && !memory.stored);
  EXPECT_TRUE(disk.images.values.empty());
  EXPECT_EQ(disk.measurements(), memory.measurements());
  const Tile tile{3, 5, 7, 9};
  const auto near = [](const ImageStack& a, const ImageStack& b) {
    ASSERT_EQ(a.values.size(), b.values.size());
    for (size_t i = 0; i < a.values.size(); ++i)
      EXPECT_NEAR(a.values[i], b.values[i], 1e-7 * b.values[i]);
  };
  near(disk.part(tile), memory.part(tile));
  near(disk.image(2), memory.image(2));
  EXPECT_TRUE(data_of(disk).amplitudes.isApprox(data_of(memory).amplitudes, 1e-6f));
  EXPECT_THROW(disk.part({0, 0, kSize + 1, 1}), InvalidArgument);
}

TEST(PtychographyFile, OfALargeFieldNeedsAFolderForTemporaryFiles) {
  EXPECT_THROW(ImageStore(4, 4, ImageKind::kIntensity, "/nowhere"), IoError);
}

// Whatever the depth and the colours.
TEST(PtychographyFile, AMaskMasksWhereItIsNotZero) {
  const Files files(stack());
  RowMatrix<std::uint16_t> deep = RowMatrix<std::uint16_t>::Zero(kSize, kSize);
  deep(3, 4) = 1;
  io::write_png16(files.folder / "deep.png", deep);
  io::RgbImage colours{kSize, kSize, std::vector<std::uint8_t>(3 * kPixels, 0)};
  colours.pixels[3 * (3 * kSize + 4) + 2] = 1;
  io::write_png(files.folder / "colours.png", colours);
  for (const char* name : {"deep.png", "colours.png"}) {
    PtychographyReading reading;
    reading.mask = files.folder / name;
    const auto field = read_ptychography_field(files.data, files.setup, reading);
    EXPECT_EQ(std::count(field.mask.begin(), field.mask.end(), true), 1) << name;
    EXPECT_TRUE(field.mask[3 * kSize + 4]) << name;
  }
  const io::Array one{{kSize, kSize}, std::vector<double>(kPixels, 0)};
  io::write_npz(files.folder / "two.npz", {{"a", one}, {"b", one}});
  PtychographyReading reading;
  reading.mask = files.folder / "two.npz";
  EXPECT_EQ(
      files.folder.error_of([&] { read_ptychography_field(files.data, files.setup, reading); }),
      "two.npz: 2 arrays found, 1 expected, the mask");
}

// What is under a mask neither counts as light nor as the limit of the camera.
TEST(PtychographyFile, MaskedPixelsTakeWhatTheirNeighboursShow) {
  ImageStack images = stack();
  const double bright = *std::max_element(images.values.begin(), images.values.end());
  RowMatrix<std::uint16_t> mask = RowMatrix<std::uint16_t>::Zero(kSize, kSize);
  for (Index r = 10; r < 16; ++r)
    for (Index c = 3; c < 9; ++c) {
      mask(r, c) = 1;
      for (Index l = 0; l < kImages; ++l)
        images.values[size_t(l * kPixels + r * kSize + c)] = (r + c) % 2 ? 50 * bright : -1;
    }
  const Files files(images);
  PtychographyReading reading;
  reading.mask = files.folder / "mask.png";
  io::write_png16(reading.mask, mask);
  const auto data = data_of(read_ptychography_field(files.data, files.setup, reading));
  EXPECT_EQ(data.saturated, 0);
  EXPECT_EQ(data.used.size(), 25u);
  EXPECT_LE(data.amplitudes.maxCoeff(), std::sqrt(bright) * (1 + 1e-6));
  EXPECT_GT(data.amplitudes(12 * kSize + 6), 0.3 * std::sqrt(bright)) << "the middle of the area";
  EXPECT_EQ(data.weights(12 * kSize + 6), 0);
}

TEST(PtychographyDataInMemory, FewCountsAreNotSaturated) {
  ImageStack images = stack();
  const double bright = *std::max_element(images.values.begin(), images.values.end());
  for (double& value : images.values) value = std::round(20 * value / bright);
  EXPECT_EQ(ptychography_data(images, optics(), lights()).saturated, 0);
  for (double& value : images.values) value = std::min(value, 12.0);
  EXPECT_GT(ptychography_data(images, optics(), lights()).saturated, 0);
}

TEST(PtychographyFile, ImagesAreCountedAlongTheAxisThatLeavesSquareOnes) {
  const ImageStack images = stack();
  const Files files(images);
  const std::string optics_lines =
      "[optics]\nwavelength_nm = 532\nna = 0.1\nsample_pixel_um = 1.8\nled_pitch_mm = 4\n"
      "led_distance_mm = 90\nupsampling = 2\n[leds]\n";
  const auto refusal = [&](const std::string& leds, const std::string& axis) {
    const auto setup = files.folder.write(
        "axes.toml",
        optics_lines + leds + "[data]\nvariable = \"images\"\nkind = \"intensity\"\n" + axis);
    return files.folder.error_of([&] { read_ptychography(files.data, setup); });
  };
  EXPECT_EQ(refusal("order = \"spiral\"\n", ""), "no error");
  EXPECT_EQ(refusal("order = \"spiral\"\ncount = 9\n", ""), "no error");
  EXPECT_EQ(refusal("order = \"raster\"\nrows = 5\ncols = 5\n", ""), "no error");
  for (const char* const leds :
       {"order = \"spiral\"\ncount = 9\n", "order = \"raster\"\nrows = 5\ncols = 5\n"})
    EXPECT_NE(refusal(leds, "image_axis = \"last\"\n")
                  .find("32 images of 25 x 32 found, square ones expected: [data] image_axis = "
                        "\"first\", or [leds] count = 32 where they are not square"),
              std::string::npos);
}

TEST(PtychographyDataInMemory, WithoutLightThatIsUsedIsRefused) {
  ImageStack images = stack();
  const double level = *std::max_element(images.values.begin(), images.values.end());
  for (size_t i = 0; i < images.values.size(); ++i)
    images.values[i] = i % 3 == 0 && images.values[i] > 0.5 * level ? 1 : 0;
  EXPECT_EQ(error_of([&] { ptychography_data(images, optics(), lights()); }),
            "no light is left in pixels that are used: all others are saturated, bad or masked");
}

TEST(PtychographyFile, NamesImagesAndPixelsOfTheFile) {
  ImageStack images = stack();
  images.values[size_t(3 * kPixels + 9 * kSize + 10)] = -1;
  EXPECT_EQ(Files(images, "crop = 16\n").refusal(),
            "data.npz: variable 'images': image 4, pixel (9, 10) is -1, a number of at least 0 "
            "expected");
}

TEST(SplitImages, HoldsOutImagesThatTheOthersCover) {
  const PtychographyData data = ptychography_data(stack(), optics(), lights());
  const PtychographySplit split = split_images(data, 3, 1);
  EXPECT_EQ(split.used.op->images(), 22);
  EXPECT_EQ(split.held_out.op->images(), 3);
  EXPECT_EQ(split.held_out.dark.size(), 3u);
  const PtychographyOperator<Complex> all(data.rows, data.cols, data.windows, data.pupil);
  const Index first = choose_held_out(all, 3, 1).front();
  EXPECT_EQ(split.held_out.amplitudes.head(kPixels),
            data.amplitudes.segment(first * kPixels, kPixels));
  EXPECT_EQ(split_images(data).used.amplitudes, data.amplitudes);
  EXPECT_EQ(split_images(data).held_out.op, nullptr);
}

TEST(WindowCorners, AreThoseOfTheImages) {
  const Scene scene(1);
  const RowMatrix<double> corners = window_corners(scene.op);
  EXPECT_EQ(corners.rows(), 9);
  EXPECT_EQ(corners(5, 1), double(scene.windows[5].col));
}

TEST(MemoryEstimate, IsLargerForTheGradientMethodAlone) {
  const Scene scene(1);
  EXPECT_EQ(memory_estimate(scene.op, 8), 8.0 * 6 * 9 * kLow * kLow + 80.0 * kHigh * kHigh * 8);
  EXPECT_GT(memory_estimate(scene.op, 8, true), memory_estimate(scene.op, 8));
}

// As bright as bright images: dark ones alone show them, and a pixel that is missed spoils all.
TEST(PtychographyData, FindsHotPixelsThatBrightImagesHide) {
  for (const std::uint64_t seed : {20, 21}) {
    const auto capture = testing::simulate_capture({.hot_pixels = 20}, seed);
    const auto data = ptychography_data(capture.images, capture.nominal,
                                        illuminations(capture.nominal, capture.leds));
    EXPECT_EQ(data.bad_pixels, capture.bad_pixels);
    const auto clean = testing::simulate_capture({.counts = 300}, seed);
    EXPECT_TRUE(
        ptychography_data(clean.images, clean.nominal, illuminations(clean.nominal, clean.leds))
            .bad_pixels.empty());
  }
}

TEST(PtychographyDataInMemory, MasksHotAndDeadPixelsAndSaturatedSamples) {
  ImageStack images = stack();
  const double bright = *std::max_element(images.values.begin(), images.values.end());
  for (Index l = 0; l < kImages; ++l) {
    images.values[size_t(l * kPixels + 5 * kSize + 7)] = bright;
    images.values[size_t(l * kPixels + 20 * kSize + 20)] = 0;
  }
  const PtychographyData data = ptychography_data(images, optics(), lights());
  EXPECT_EQ(data.bad_pixels, (std::vector<Index>{5 * kSize + 7, 20 * kSize + 20}));
  EXPECT_EQ(data.weights(5 * kSize + 7), 0);
  EXPECT_EQ(data.weights(0), 1);
  EXPECT_LT(data.amplitudes(24 * kPixels + 5 * kSize + 7), 0.9 * std::sqrt(bright));
  images = stack();
  for (double& value : images.values) value = std::min(value, 0.9 * bright);
  const PtychographyData full = ptychography_data(images, optics(), lights());
  EXPECT_GT(full.saturated, 0);
  EXPECT_EQ(full.weights.minCoeff(), 0);
  EXPECT_TRUE(full.bad_pixels.empty());
}

TEST(PtychographyDataInMemory, LeavesOutImagesOnTheRimAndThoseOfWrongPlaces) {
  ImageStack images = stack();
  // LED 12 stands at (2, 1), on the rim: it gets a third of the light of the first.
  const auto found = ptychography_data(images, optics(), lights());
  EXPECT_EQ(found.used.size(), 25u);
  for (Index i = 0; i < kPixels; ++i)
    images.values[size_t(11 * kPixels + i)] = 0.3 * images.values[size_t(i)];
  const PtychographyData data = ptychography_data(images, optics(), lights());
  EXPECT_EQ(data.leds[11].left_out, "rim of the pupil");
  EXPECT_LT(data.used.size(), 25u);
  // With everything kept nothing is left out but warned of.
  const PtychographyData kept = ptychography_data(images, optics(), lights(), false);
  EXPECT_EQ(kept.used.size(), 25u);
  EXPECT_FALSE(kept.warnings.empty());
}

TEST(PtychographyData, LeavesOutImagesWhoseLightPassesAtTheEdgeOfThePupil) {
  const testing::Capture capture = testing::simulate_capture({.aberration = 0}, 0);
  const double na = capture.nominal.numerical_aperture;
  // LED (0, 2), well inside, is said to be elsewhere.
  const size_t which = 6 * 9 + 4;
  const auto out_at = [&](double share) {
    auto lights = illuminations(capture.nominal, capture.leds);
    lights[which].kx *= share * na / lights[which].na;
    lights[which].ky *= share * na / lights[which].na;
    lights[which].na = share * na;
    return ptychography_data(capture.images, capture.nominal, lights).leds[which].left_out;
  };
  EXPECT_EQ(out_at(0.97), "rim of the pupil");
  EXPECT_EQ(out_at(0.94), "");
}

TEST(PtychographyData, HasNoOffsetOfTheCamera) {
  const auto data_with = [](double background) {
    const auto capture = testing::simulate_capture({.background = background, .counts = 2000}, 0);
    return ptychography_data(capture.images, capture.nominal,
                             illuminations(capture.nominal, capture.leds));
  };
  const PtychographyData without = data_with(0), with = data_with(0.2);
  EXPECT_EQ(with.used, without.used);
  ASSERT_FALSE(with.warnings.empty());
  EXPECT_NE(with.warnings[0].find("% of a bright one"), std::string::npos) << with.warnings[0];
  EXPECT_NEAR(with.amplitudes.squaredNorm() / without.amplitudes.squaredNorm(), 1, 0.12);
  // A little light is a background of dark images.
  for (const std::string& warning : data_with(0.02).warnings)
    EXPECT_EQ(warning.find("subtracted"), std::string::npos) << warning;
}

TEST(HeldOutImages, AreCoveredByTheOthers) {
  const Scene scene;
  const auto held = choose_held_out(scene.op, 6, 1);
  EXPECT_EQ(held.size(), 6u);
  EXPECT_EQ(choose_held_out(scene.op, 6, 1), held);
  EXPECT_NE(choose_held_out(scene.op, 6, 2), held);
  const PtychographyOperator<Complex> lonely(kHigh, kHigh, {{0, 0}, {24, 24}}, disc(9));
  EXPECT_EQ(error_of([&] { choose_held_out(lonely, 1, 0); }),
            "holdout: only 0 of 2 images are covered by the others, 1 wanted");
}

}  // namespace ptychography_data_test
}  // namespace udv
