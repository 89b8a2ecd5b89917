// SPDX-License-Identifier: MIT
// Which images and pixels of a data set are used.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/median.hpp"
#include "core/require.hpp"
#include "recover/bad_pixels.hpp"
#include "recover/ptychography_numbered.hpp"
#include "udv/recover/ptychography.hpp"

namespace udv {
namespace {

// Fourth powers are added up in single precision.
constexpr double kLargestAmplitude = 1e8;

// Levels of images, as shares of the mean intensity of typical bright ones.
constexpr double kInnerNa = 0.7;      // LEDs up to this share of the objective's NA are typical
constexpr double kBrightLevel = 0.5;  // bright field above it
constexpr double kWholeLevel = 0.85;  // bright images below it have lost light at the rim
// Dark images above it have gained some: 2 times the level of LEDs far out, within limits.
constexpr double kRimLevel = 0.1, kRimLevelLeast = 0.03, kRimLevelAlone = 0.05;
constexpr double kOuterNa = 1.2;   // LEDs beyond it are dark for sure
constexpr double kRimBand = 0.35;  // width of the rim, as a share of the NA
// Light that passes less than so many samples of the spectrum from the edge of the pupil is not
// modelled well where the sample goes on outside of the images; at most a share of the NA.
constexpr double kEdgeSamples = 1.5, kEdgeBand = 0.04;
constexpr double kMostAtEdge = 0.5;   // of the bright images: else they are what there is
constexpr Index kFewestForEdge = 48;  // pixels a side; of fewer a sample is much of the pupil
constexpr double kManyWrong = 0.3;    // of the images may not contradict the geometry

// What the darkest images have everywhere: light or counts that all images have. Subtracted between
// these shares of a bright image: less is a background like any other, more is no constant.
constexpr double kLeastConstant = 0.03, kMostConstant = 0.4;
constexpr double kDarkPixels = 0.05, kDarkImages = 0.25;  // quantiles
constexpr size_t kFewestFarOut = 4;                       // images of LEDs beyond kOuterNa

constexpr Index kFewestOnSamples = 3;  // images that tell where LEDs stand
constexpr Index kFewestSaturated = 10;
constexpr double kNearFull = 0.98;
constexpr double kMostMasked = 0.9;  // of the pixels of an image

std::string list_text(const std::vector<Index>& which) {
  std::string text;
  for (const Index l : which) text += (text.empty() ? "" : ", ") + std::to_string(l + 1);
  return text;
}

// "LED 3 is" or "LEDs 3, 5 are".
std::string counted(const char* one, const std::vector<Index>& which, const char* verb_one,
                    const char* verb_many) {
  const bool several = which.size() != 1;
  return message(one, several ? "s " : " ", list_text(which), " ", several ? verb_many : verb_one);
}

void check_brightness(double largest) {
  require(largest > 0, "all images are zero");
  require(largest > 1 / kLargestAmplitude && largest < kLargestAmplitude,
          "the largest magnitude is ", largest, ", between ", 1 / kLargestAmplitude, " and ",
          kLargestAmplitude, " expected");
}

template <typename Value>
std::vector<Value> without(const std::vector<Value>& values, const std::vector<bool>& drop) {
  std::vector<Value> kept;
  for (size_t i = 0; i < values.size(); ++i)
    if (!drop[i]) kept.push_back(values[i]);
  return kept;
}

Vector<float> without(const Vector<float>& values, const std::vector<bool>& drop, Index pixels) {
  Vector<float> kept(values.size());
  Index count = 0;
  for (size_t i = 0; i < drop.size(); ++i)
    if (!drop[i])
      kept.segment(count++ * pixels, pixels) =
          values.segment(static_cast<Index>(i) * pixels, pixels);
  kept.conservativeResize(count * pixels);
  return kept;
}

LedInfo& info_of(PtychographyData& data, Index number) {
  return *std::find_if(data.leds.begin(), data.leds.end(),
                       [&](const LedInfo& led) { return led.image == number; });
}

// Leaves out images by their places in data.used, for a reason.
void drop(PtychographyData& data, const std::vector<Index>& places, const std::string& reason) {
  std::vector<bool> gone(data.used.size());
  for (const Index i : places) {
    gone[static_cast<size_t>(i)] = true;
    info_of(data, data.used[static_cast<size_t>(i)]).left_out = reason;
  }
  const Index pixels = data.pupil.size();
  data.windows = without(data.windows, gone);
  data.dark = without(data.dark, gone);
  data.used = without(data.used, gone);
  if (!data.exact.own.empty())
    data.exact.own = {without(data.exact.own.supports, gone), without(data.exact.own.shifts, gone)};
  data.amplitudes = without(data.amplitudes, gone, pixels);
  if (data.weights.size() > 0) data.weights = without(data.weights, gone, pixels);
  require(!data.used.empty(), "no image is left, the last ones: ", reason);
}

std::vector<Index> numbers_of(const PtychographyData& data, const std::vector<Index>& places) {
  std::vector<Index> numbers;
  for (const Index i : places) numbers.push_back(data.used[static_cast<size_t>(i)]);
  return numbers;
}

void drop_empty(PtychographyData& data, bool drop_bad) {
  const Index pixels = data.pupil.size();
  std::vector<Index> empty;
  for (Index i = 0; i < static_cast<Index>(data.used.size()); ++i)
    if (data.amplitudes.segment(i * pixels, pixels).maxCoeff() == 0) empty.push_back(i);
  if (empty.empty()) return;
  const std::string text = counted("image", numbers_of(data, empty), "is all zero", "are all zero");
  require(empty.size() < data.used.size(), "all images are zero");
  data.warnings.push_back(
      text + (drop_bad ? ": left out" : "; the option drop-bad leaves such images out"));
  if (drop_bad) drop(data, empty, "no light");
}

Vector<float>& weights_of(PtychographyData& data) {
  if (data.weights.size() == 0) data.weights = Vector<float>::Ones(data.amplitudes.size());
  return data.weights;
}

// A bad pixel says nothing; what is there instead is what its neighbours show.
void mask_bad_pixels(PtychographyData& data) {
  const Index rows = data.pupil.rows(), cols = data.pupil.cols(), pixels = rows * cols;
  const auto count = static_cast<Index>(data.used.size());
  data.bad_pixels = find_bad_pixels({data.amplitudes.data(), count, rows, cols});
  if (data.bad_pixels.empty()) return;
  Vector<float>& weights = weights_of(data);
  for (Index l = 0; l < count; ++l) {
    fill_from_neighbours(data.amplitudes.data() + l * pixels, rows, cols, data.bad_pixels);
    for (const Index i : data.bad_pixels) weights(l * pixels + i) = 0;
  }
  data.warnings.push_back(message(data.bad_pixels.size(),
                                  data.bad_pixels.size() == 1 ? " pixel is" : " pixels are",
                                  " hot or dead in all images: not used"));
}

// The largest value of all is the camera's limit where it is more frequent than those near it: the
// next smaller one, as few counts have large gaps, and all within 2 %.
void mask_saturated(PtychographyData& data) {
  const auto used = [&](Index i) { return data.weights.size() == 0 || data.weights(i) > 0; };
  float full = 0, next = 0;
  for (Index i = 0; i < data.amplitudes.size(); ++i) {
    const float a = used(i) ? data.amplitudes(i) : 0;
    if (a > full) next = std::exchange(full, a);
    if (a < full && a > next) next = a;
  }
  const float share = static_cast<float>(std::sqrt(kNearFull)) * full;
  const float near = next > 0 ? std::min(next, share) : share;
  Index at_limit = 0, below = 0;
  for (Index i = 0; i < data.amplitudes.size(); ++i) {
    if (!used(i)) continue;
    at_limit += data.amplitudes(i) == full;
    below += data.amplitudes(i) >= near && data.amplitudes(i) < full;
  }
  if (at_limit < kFewestSaturated || at_limit <= below) return;
  data.saturated = at_limit;
  Vector<float>& weights = weights_of(data);
  weights = (data.amplitudes.array() == full).select(0, weights);
  data.warnings.push_back(message(at_limit, " samples are saturated: not used"));
}

void drop_masked(PtychographyData& data, bool drop_bad) {
  if (data.weights.size() == 0 || !drop_bad) return;
  const Index pixels = data.pupil.size();
  std::vector<Index> places;
  for (Index i = 0; i < static_cast<Index>(data.used.size()); ++i)
    if (data.weights.segment(i * pixels, pixels).mean() < 1 - kMostMasked) places.push_back(i);
  if (places.empty()) return;
  data.warnings.push_back(counted("image", numbers_of(data, places), "is", "are") +
                          " saturated: left out");
  drop(data, places, "saturated");
}

// Mean intensity of each image used, and its LED.
struct Levels {
  std::vector<double> level, na;
  double unit = 0;  // of typical bright images
  double rim = 0;   // dark images above this level have gained light at the rim
};

// Shares of what LEDs well inside of the pupil show; empty where there are none.
Levels levels_of(const PtychographyData& data, double objective_na) {
  Levels found;
  std::vector<double> typical;
  for (Index i = 0; i < static_cast<Index>(data.used.size()); ++i) {
    const Index number = data.used[static_cast<size_t>(i)];
    const auto led = std::find_if(data.leds.begin(), data.leds.end(),
                                  [&](const LedInfo& note) { return note.image == number; });
    found.na.push_back(led->light.na / objective_na);
    found.level.push_back(mean_intensity(data.amplitudes, data.pupil.size(), i));
    if (found.na.back() < kInnerNa) typical.push_back(found.level.back());
  }
  if (typical.empty()) return {};
  const double unit = median_of(typical);
  if (!(unit > 0)) return {};
  found.unit = unit;
  double outer = -1;
  for (size_t i = 0; i < found.level.size(); ++i) {
    found.level[i] /= unit;
    if (found.na[i] > kOuterNa) outer = std::max(outer, found.level[i]);
  }
  found.rim = outer < 0 ? kRimLevelAlone : std::clamp(2 * outer, kRimLevelLeast, kRimLevel);
  return found;
}

double quantile(std::vector<double> values, double share) {
  const auto at =
      values.begin() + static_cast<Index>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// An intensity that all images have; 0 where none is seen. An offset of the camera, say: bright
// images have it as well as dark ones, and there no fit would find it.
double common_constant(const PtychographyData& data, double objective_na) {
  const Levels levels = levels_of(data, objective_na);
  const Index pixels = data.pupil.size();
  std::vector<double> darkest;
  for (size_t i = 0; i < levels.level.size(); ++i) {
    if (levels.na[i] <= kOuterNa) continue;
    std::vector<double> squares;
    for (Index k = static_cast<Index>(i) * pixels; k < static_cast<Index>(i + 1) * pixels; ++k)
      if (data.weights.size() == 0 || data.weights(k) > 0)
        squares.push_back(std::pow(static_cast<double>(data.amplitudes(k)), 2));
    if (!squares.empty()) darkest.push_back(quantile(std::move(squares), kDarkPixels));
  }
  if (darkest.size() < kFewestFarOut) return 0;
  const double constant = quantile(std::move(darkest), kDarkImages);
  const double share = constant / levels.unit;
  return share > kLeastConstant && share < kMostConstant ? constant : 0;
}

void subtract_constant(PtychographyData& data, double objective_na) {
  const double constant = common_constant(data, objective_na);
  if (constant == 0) return;
  const double unit = levels_of(data, objective_na).unit;
  data.amplitudes = (data.amplitudes.array().square() - static_cast<float>(constant)).max(0).sqrt();
  data.warnings.push_back(message("all images have the intensity ",
                                  std::round(1000 * constant) / 1000, " everywhere, ",
                                  std::round(100 * constant / unit),
                                  " % of a bright one (an offset of the camera, or light that is "
                                  "not of the LEDs): subtracted"));
}

// Images that LEDs on samples of the spectrum and LEDs between them would have dark and bright, or
// the other way round: where all of several agree with samples, the LEDs stand on them.
bool stand_on_samples(const PtychographyData& data, const Levels& levels) {
  Index between = 0, agree = 0;
  for (size_t i = 0; i < levels.level.size(); ++i) {
    if (data.dark[i] == (levels.na[i] > 1)) continue;
    ++between;
    const bool bright = levels.level[i] > kBrightLevel;
    const bool whole = levels.level[i] > kWholeLevel || levels.level[i] < levels.rim;
    agree += whole && bright != data.dark[i];
  }
  return between >= kFewestOnSamples && agree == between;
}

// Data and geometry must agree: bright iff the light of the LED itself passes the pupil.
bool contradicts(double level, bool dark) {
  return (level > kBrightLevel) == dark;
}

bool on_rim(const Levels& levels, size_t i) {
  return std::abs(levels.na[i] - 1) < kRimBand && levels.level[i] > levels.rim &&
         levels.level[i] < kWholeLevel;
}

// Images whose LED is too close to the edge of the pupil; none where they are many or small.
std::vector<bool> at_edge(const PtychographyData& data, const Levels& levels,
                          const Optics& optics) {
  const auto side = static_cast<double>(std::min(data.pupil.rows(), data.pupil.cols()));
  const double sample = optics.wavelength_m / (side * optics.pixel_m * optics.numerical_aperture);
  std::vector<bool> near(levels.level.size());
  double edge = 0, bright = 0;
  for (size_t i = 0; i < near.size(); ++i) {
    near[i] = std::abs(levels.na[i] - 1) < std::min(kEdgeSamples * sample, kEdgeBand);
    if (on_rim(levels, i) || levels.level[i] < kBrightLevel) continue;
    edge += near[i];
    ++bright;
  }
  if (edge > kMostAtEdge * bright || side < kFewestForEdge) near.assign(near.size(), false);
  return near;
}

void check_levels(PtychographyData& data, bool drop_bad, const Optics& optics) {
  const Levels levels = levels_of(data, optics.numerical_aperture);
  const std::vector<bool> edge = at_edge(data, levels, optics);
  std::vector<Index> rim, wrong;
  const bool on_samples = stand_on_samples(data, levels);
  if (on_samples) data.exact = {};
  for (size_t i = 0; i < levels.level.size(); ++i) {
    info_of(data, data.used[i]).level = levels.level[i];
    if (on_rim(levels, i) || edge[i])
      rim.push_back(static_cast<Index>(i));
    else if (contradicts(levels.level[i], data.dark[i]) ||
             (!on_samples && contradicts(levels.level[i], levels.na[i] > 1)))
      wrong.push_back(static_cast<Index>(i));
  }
  const auto tell = [&](const std::vector<Index>& places, const char* one, const char* many,
                        const char* what) {
    if (!places.empty())
      data.warnings.push_back(
          message(counted("LED", numbers_of(data, places), one, many), what,
                  drop_bad ? ": left out" : "; the option drop-bad leaves such images out"));
  };
  tell(rim, "is", "are", " on the rim of the pupil");
  tell(wrong, "contradicts", "contradict", " the model (far too dark or too bright for the place)");
  if (static_cast<double>(wrong.size()) > kManyWrong * static_cast<double>(levels.level.size()))
    data.warnings.push_back(message(
        wrong.size(), " of ", levels.level.size(),
        " images are much darker or brighter than the places of their LEDs allow: the order or "
        "the geometry of the LEDs is probably wrong"));
  data.contradicting = numbers_of(data, wrong);
  if (!drop_bad) return;
  std::vector<Index> both = rim;
  both.insert(both.end(), wrong.begin(), wrong.end());
  const std::vector<Index> rim_numbers = numbers_of(data, rim);
  drop(data, both, "contradicts the model");
  for (const Index number : rim_numbers) info_of(data, number).left_out = "rim of the pupil";
}

}  // namespace

void detail::check_images(PtychographyData& data, bool drop_bad, const Optics& optics) {
  check_brightness(data.amplitudes.maxCoeff());
  drop_empty(data, drop_bad);
  mask_bad_pixels(data);
  mask_saturated(data);
  drop_masked(data, drop_bad);
  require(data.weights.size() == 0 ||
              data.amplitudes.cwiseAbs2().cwiseProduct(data.weights).maxCoeff() > 0,
          "no light is left in pixels that are used: all others are saturated, bad or masked");
  subtract_constant(data, optics.numerical_aperture);
  check_levels(data, drop_bad, optics);
}

}  // namespace udv
