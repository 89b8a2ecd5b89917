// SPDX-License-Identifier: MIT
#include "udv/recover/ptychography_field.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <numbers>
#include <numeric>

#include "core/hash.hpp"
#include "core/require.hpp"
#include "core/save_clock.hpp"
#include "recover/bad_pixels.hpp"
#include "recover/ptychography_numbered.hpp"
#include "recover/solver/state_archive.hpp"
#include "recover/wave_phase.hpp"
#include "udv/core/parallel.hpp"
#include "udv/recover/led_geometry.hpp"

namespace udv {

template <typename Archive>
void fields(Archive& archive, TileRecovery& t) {
  archive(t.done, t.image, t.pupil.pupil, t.pupil.exact, t.pupil.dark_gain, t.pupil.curvature);
  archive(t.gains, t.backgrounds);
  archive(t.error_square, t.data_square, t.held_square, t.held_scaled, t.held_data);
  archive(t.iterations, t.by_itself, t.warnings);
}

namespace {

using Complex = std::complex<float>;
using Operator = PtychographyOperator<Complex>;
using Clock = std::chrono::steady_clock;

constexpr const char* kStateKind = "ptychography field complex64";
constexpr double kEdge = 6;  // pixels over which the weight of a tile rises from its edge
constexpr Index kCut = 4;    // pixels at the edge of a tile that are not joined
// A tile is repeated by itself where its residual is so many times that of its neighbour, and not
// small.
constexpr double kMuchWorse = 1.5, kGoodFit = 0.05;

struct FieldState {
  std::uint64_t fingerprint = 0;
  double seconds = 0;
  std::vector<TileRecovery> tiles;
};

template <typename Archive>
void fields(Archive& archive, FieldState& s) {
  archive(s.fingerprint, s.seconds, s.tiles);
}

// Masked pixels say nothing; what is there instead is what their neighbours show.
void apply_mask(const PtychographyField& field, const Tile& tile, PtychographyData& data) {
  if (field.mask.empty()) return;
  const Index pixels = tile.rows * tile.cols;
  const std::vector<Index> masked = field.masked(tile);
  data.weights = Vector<float>::Ones(data.amplitudes.size());
  for (Index first = 0; first < data.weights.size(); first += pixels) {
    for (const Index i : masked) data.weights(first + i) = 0;
    fill_from_neighbours(data.amplitudes.data() + first, tile.rows, tile.cols, masked);
  }
}

// From the middle of the field to that of the tile, in metres.
double metres_right(const PtychographyField& field, const Tile& tile) {
  return field.optics.pixel_m *
         (static_cast<double>(tile.col) + 0.5 * static_cast<double>(tile.cols - field.images.cols));
}

double metres_down(const PtychographyField& field, const Tile& tile) {
  return field.optics.pixel_m *
         (static_cast<double>(tile.row) + 0.5 * static_cast<double>(tile.rows - field.images.rows));
}

// Tiles end where the sample goes on, which a model with periodic images cannot know: pixels near
// the edge count less.
void soften_edges(PtychographyData& data) {
  const Index rows = data.pupil.rows(), cols = data.pupil.cols(), pixels = rows * cols;
  if (data.weights.size() == 0) data.weights = Vector<float>::Ones(data.amplitudes.size());
  const auto rise = [](Index i, Index size) {
    const double at = (static_cast<double>(std::min(i, size - 1 - i)) + 0.5) / kEdge;
    return static_cast<float>(std::min(1.0, at * at));
  };
  for (Index i = 0; i < data.weights.size(); ++i)
    data.weights(i) *= rise(i % pixels / cols, rows) * rise(i % cols, cols);
}

// The slope of the phase of p / q along one direction, in radians per sample.
double slope_between(const RowMatrix<std::complex<double>>& p,
                     const RowMatrix<std::complex<double>>& q, Index down, Index right) {
  std::complex<double> sum = 0;
  for (Index r = 0; r + down < p.rows(); ++r)
    for (Index c = 0; c + right < p.cols(); ++c)
      sum += p(r + down, c + right) * std::conj(q(r + down, c + right)) *
             std::conj(p(r, c) * std::conj(q(r, c)));
  return std::arg(sum);
}

// A tilt of the pupil's phase moves the sample, and no image shows it: the pupil is as the one it
// was compared with, P exp(-i s k), the spectrum follows, x exp(i s k).
void place_as(const RowMatrix<std::complex<double>>& reference, const Operator& op,
              PtychographyResult& found) {
  const double down = slope_between(found.pupil, reference, 1, 0);
  const double right = slope_between(found.pupil, reference, 0, 1);
  const auto turn = [&](Index row, Index col, Index rows, Index cols) {
    return down * static_cast<double>(row - rows / 2) + right * static_cast<double>(col - cols / 2);
  };
  RowMatrix<std::complex<double>>& pupil = found.pupil;
  for (Index r = 0; r < pupil.rows(); ++r)
    for (Index c = 0; c < pupil.cols(); ++c)
      pupil(r, c) *= std::polar(1.0, -turn(r, c, pupil.rows(), pupil.cols()));
  const Index rows = op.image_rows(), cols = op.image_cols();
  for (Index i = 0; i < found.x.size(); ++i)
    found.x(i) *= Complex(std::polar(1.0, turn(i / cols, i % cols, rows, cols)));
}

double squared_data(const PtychographyImages& images) {
  if (images.weights.size() == 0) return images.amplitudes.cast<double>().squaredNorm();
  return images.amplitudes.cwiseAbs2().cast<double>().dot(images.weights.cast<double>());
}

// As many held out as the others of this tile cover.
PtychographySplit split_as_possible(const PtychographyData& data, Index count, std::uint64_t seed) {
  for (; count > 0; --count) try {
      return split_images(data, count, seed);
    } catch (const InvalidArgument&) {
    }
  return split_images(data);
}

std::vector<Index> numbers_of(const PtychographyField& field) {
  std::vector<Index> numbers = field.numbers;
  if (numbers.empty()) {
    numbers.resize(static_cast<size_t>(field.images.images));
    std::iota(numbers.begin(), numbers.end(), 0);
  }
  return numbers;
}

// One field, from its middle outwards.
class FieldSolver {
 public:
  FieldSolver(const PtychographyField& field, const FieldOptions& options, const Hooks& hooks)
      : field_(field), options_(options), hooks_(hooks), clock_(hooks) {
    found_.grid = tile_grid(field.images.rows, field.images.cols, options.tiles);
    found_.tiles.resize(found_.grid.tiles.size());
    if (hooks.save || !hooks.resume.empty()) fingerprint_ = fingerprint();
    if (!hooks.resume.empty()) resume(hooks.resume);
    for (size_t t = 0; t < found_.tiles.size(); ++t) found_.tiles[t].tile = found_.grid.tiles[t];
  }

  FieldRecovery run() {
    Index rings = 0;
    for (Index t = 0; t < count(); ++t) rings = std::max(rings, found_.grid.ring(t) + 1);
    for (Index ring = 0; ring < rings && !stopped(); ++ring) run_ring(ring);
    if (stopped() && hooks_.save) save();
    const std::string& reason = found_.tiles.front().failed;
    require(stopped() || reason.empty() || found_.done() > 0, reason);
    join();
    found_.verdict = verdict_;
    found_.seconds = seconds();
    return std::move(found_);
  }

 private:
  Index count() const { return static_cast<Index>(found_.tiles.size()); }
  TileRecovery& tile(Index t) { return found_.tiles[static_cast<size_t>(t)]; }
  bool stopped() const { return verdict_ != Verdict::kContinue; }
  double seconds() const {
    return earlier_seconds_ + std::chrono::duration<double>(Clock::now() - started_).count();
  }

  std::uint64_t fingerprint() const {
    ArchiveWriter archive;
    Optics optics = field_.optics;
    FieldOptions options = options_;
    std::vector<Index> numbers = numbers_of(field_);
    Index rows = field_.images.rows, cols = field_.images.cols;
    archive(optics.wavelength_m, optics.numerical_aperture, optics.pixel_m, optics.led_pitch_mm);
    archive(optics.led_distance_mm, optics.slide_thickness_mm, optics.slide_index);
    archive(optics.rotation_degrees, optics.x_offset_mm, optics.y_offset_mm, optics.defocus_m);
    archive(optics.upsampling, optics.mirrored, optics.swapped, numbers, rows, cols);
    archive(options.image.refine_pupil, options.image.pupil_rounds, options.image.gain_rounds);
    archive(options.image.dark_gain, options.image.background, options.image.led_gains);
    archive(options.image.hold_slow_phases, options.image.dynamics);
    archive(options.image.noise, options.image.columns, options.image.dynamics_steps);
    archive(options.image.seed, options.tiles.side, options.tiles.overlap, options.held_out);
    bool drop_bad = field_.drop_bad;
    archive(drop_bad);
    for (GridPoint led : field_.leds) archive(led.x, led.y);
    std::uint64_t stored = field_.stored ? field_.stored->hash() : 0;
    archive(stored);
    const std::vector<double>& values = field_.images.values;
    return array_hash(values.data(), values.size() * sizeof(double), fnv_hash(archive.take()));
  }

  void resume(const std::string& bytes) {
    auto state = state_from_bytes<FieldState>(kStateKind, bytes);
    require(state.fingerprint == fingerprint_,
            "the checkpoint belongs to another problem or to other options");
    require(state.tiles.size() == found_.tiles.size(),
            "checkpoint: sizes that do not belong together");
    found_.tiles = std::move(state.tiles);
    earlier_seconds_ = state.seconds;
    for (const TileRecovery& done : found_.tiles) steps_ += done.iterations;
  }

  void save() {
    FieldState state{fingerprint_, seconds(), found_.tiles};
    clock_.save([&] { return bytes_of_state(kStateKind, state); });
  }

  // Tiles of a ring need only what is further in.
  void run_ring(Index ring) {
    std::vector<Index> todo;
    for (Index t = 0; t < count(); ++t)
      if (found_.grid.ring(t) == ring && !tile(t).done) todo.push_back(t);
    // A device takes one tile at a time.
    const Index at_once =
        options_.image.device == "cpu" ? 1 : std::max<Index>(1, static_cast<Index>(todo.size()));
    parallel_blocks(static_cast<Index>(todo.size()), at_once, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        TileRecovery recovered = recover_tile(todo[static_cast<size_t>(i)]);
        const std::lock_guard lock(mutex_);
        if (!recovered.done && recovered.failed.empty()) continue;
        tile(todo[static_cast<size_t>(i)]) = std::move(recovered);
        if (!stopped() && clock_.due_at_point()) save();
      }
    });
  }

  // All threads report here; what is counted are steps of all tiles.
  Verdict observe(const IterationRecord& record) {
    const std::lock_guard lock(mutex_);
    if (stopped() || !hooks_.observer) return verdict_;
    IterationRecord told = record;
    told.iteration = ++steps_;
    told.seconds = seconds();
    verdict_ = hooks_.observer(told);
    return verdict_;
  }

  TileRecovery recover_tile(Index t) {
    try {
      return recover_checked(t);
    } catch (const InvalidArgument& error) {
      TileRecovery nothing;
      nothing.tile = found_.grid.tiles[static_cast<size_t>(t)];
      nothing.failed =
          message("tile of ", nothing.tile.rows, " x ", nothing.tile.cols, " pixels at (",
                  nothing.tile.row, ", ", nothing.tile.col, "): ", error.what());
      return nothing;
    }
  }

  TileRecovery recover_checked(Index t) {
    PtychographyData data = data_of(field_, found_.grid.tiles[static_cast<size_t>(t)]);
    soften_edges(data);
    Index parent = found_.grid.parent(t);
    while (parent >= 0 && !tile(parent).done) parent = found_.grid.parent(parent);
    PtychographyStart clear;
    clear.curvature = wave_curvature(data.optics);
    if (parent < 0) return recover_from(t, data, clear, true);
    const TileRecovery& neighbour = tile(parent);
    TileRecovery found = recover_from(t, data, neighbour.pupil, false);
    const auto residual = [](const TileRecovery& r) { return r.error_square / r.data_square; };
    if (!found.done || residual(found) <= std::max(kMuchWorse * kMuchWorse * residual(neighbour),
                                                   kGoodFit * kGoodFit))
      return found;
    TileRecovery afresh = recover_from(t, data, clear, true);
    if (!afresh.done) return afresh;
    afresh.iterations += found.iterations;
    return residual(afresh) < residual(found) ? afresh : found;
  }

  TileRecovery recover_from(Index t, const PtychographyData& data, const PtychographyStart& start,
                            bool by_itself) {
    PtychographyOptions options = options_.image;
    options.examine = false;
    options.record = Recording::kNone;
    options.dynamics = options.dynamics && t == found_.grid.middle();
    Hooks hooks;
    hooks.observer = [this](const IterationRecord& record) { return observe(record); };
    const PtychographySplit split = split_as_possible(data, options_.held_out, options.seed);
    PtychographyResult found = recover_image(split.used, options, hooks, start);
    TileRecovery recovered;
    recovered.tile = found_.grid.tiles[static_cast<size_t>(t)];
    recovered.by_itself = by_itself;
    recovered.done = found.converged;
    if (!recovered.done) return recovered;
    take(data, split, start, found, recovered);
    return recovered;
  }

  void take(const PtychographyData& data, const PtychographySplit& split,
            const PtychographyStart& start, PtychographyResult& found, TileRecovery& recovered) {
    recovered.iterations = found.iterations;
    recovered.warnings = data.warnings;
    recovered.data_square = squared_data(split.used);
    recovered.error_square = std::pow(found.amplitude_residual, 2) * recovered.data_square;
    if (split.held_out.op) {
      const HeldOutResidual residual = held_out_residual(split.held_out, found);
      recovered.held_data = squared_data(split.held_out);
      recovered.held_square = std::pow(residual.predicted, 2) * recovered.held_data;
      recovered.held_scaled = std::pow(residual.scaled, 2) * recovered.held_data;
    }
    const auto op = operator_of(split.used, found);
    place_as(start.pupil.size() > 0 ? start.pupil : (found.exact ? data.exact.pupil : data.pupil),
             *op, found);
    const Vector<Complex> image = op->to_image(found.x);
    recovered.image =
        Eigen::Map<const RowMatrix<Complex>>(image.data(), op->image_rows(), op->image_cols());
    detail::bend_wave(recovered.image.data(), op->image_rows(), op->image_cols(), -start.curvature);
    recovered.pupil = {found.pupil, found.exact, found.dark_gain, start.curvature};
    take_gains(data, split, found, recovered);
  }

  void take_gains(const PtychographyData& data, const PtychographySplit& split,
                  const PtychographyResult& found, TileRecovery& recovered) const {
    const std::vector<Index> numbers = numbers_of(field_);
    recovered.gains = recovered.backgrounds =
        Vector<float>::Constant(static_cast<Index>(numbers.size()), std::nanf(""));
    for (Index i = 0; i < static_cast<Index>(split.fitted.size()); ++i) {
      const Index number = data.used[static_cast<size_t>(split.fitted[static_cast<size_t>(i)])];
      const auto at = std::find(numbers.begin(), numbers.end(), number) - numbers.begin();
      recovered.gains(at) = found.gains(i);
      recovered.backgrounds(at) = found.backgrounds(i);
    }
  }

  void join() {
    std::vector<const RowMatrix<Complex>*> images;
    for (const TileRecovery& done : found_.tiles) {
      images.push_back(&done.image);
      found_.iterations += done.iterations;
      if (done.done)
        found_.history.push_back(
            {static_cast<Index>(found_.history.size()) + 1, seconds(), 0.5 * done.error_square, 1});
    }
    found_.image = join_tiles(found_.grid, images, field_.optics.upsampling, kCut, found_.seams);
  }

  const PtychographyField& field_;
  const FieldOptions& options_;
  const Hooks& hooks_;
  SaveClock clock_;
  FieldRecovery found_;
  std::uint64_t fingerprint_ = 0;
  std::mutex mutex_;
  Verdict verdict_ = Verdict::kContinue;
  Index steps_ = 0;
  double earlier_seconds_ = 0;
  Clock::time_point started_ = Clock::now();
};

// The square in the middle that calibrate() looks at, or all where the field is small.
ImageStack calibration_part(const PtychographyField& field) {
  const Index rows = std::min(field.images.rows, kCalibrationSide);
  const Index cols = std::min(field.images.cols, kCalibrationSide);
  const Tile tile{(field.images.rows - rows) / 2, (field.images.cols - cols) / 2, rows, cols};
  ImageStack part = field.part(tile);
  const std::vector<Index> masked = field.masked(tile);
  if (masked.empty()) return part;
  for (Index l = 0; l < part.images; ++l)
    fill_from_neighbours(part.values.data() + l * rows * cols, rows, cols, masked);
  return part;
}

double root_share(const std::vector<TileRecovery>& tiles, double TileRecovery::*part,
                  double TileRecovery::*whole) {
  double square = 0, norm = 0;
  for (const TileRecovery& tile : tiles) {
    square += tile.*part;
    norm += tile.*whole;
  }
  return norm > 0 ? std::sqrt(square / norm) : 1;
}

}  // namespace

ImageStack PtychographyField::part(const Tile& tile) const {
  if (stored) return stored->part(tile);
  ImageStack cut{images.images, tile.rows, tile.cols, images.kind, {}};
  cut.values.reserve(static_cast<size_t>(cut.images * tile.rows * tile.cols));
  for (Index l = 0; l < images.images; ++l)
    for (Index r = 0; r < tile.rows; ++r) {
      const auto row =
          images.values.begin() + (l * images.rows + tile.row + r) * images.cols + tile.col;
      cut.values.insert(cut.values.end(), row, row + tile.cols);
    }
  return cut;
}

std::vector<Index> PtychographyField::masked(const Tile& tile) const {
  std::vector<Index> found;
  if (mask.empty()) return found;
  for (Index i = 0; i < tile.rows * tile.cols; ++i) {
    const Index row = tile.row + i / tile.cols, col = tile.col + i % tile.cols;
    if (mask[static_cast<size_t>(row * images.cols + col)]) found.push_back(i);
  }
  return found;
}

ImageStack PtychographyField::image(Index place) const {
  if (stored) return stored->image(place);
  const Index pixels = images.rows * images.cols;
  const auto first = images.values.begin() + place * pixels;
  return {1, images.rows, images.cols, images.kind, {first, first + pixels}};
}

void calibrate_field(PtychographyField& field, Calibration mode,
                     const std::function<bool()>& stopped) {
  constexpr int kLargest = 64;
  try {
    // Room for any geometry, until one is chosen.
    if (field.smallest_upsampling) field.optics.upsampling = kLargest;
    if (mode != Calibration::kOff) {
      CalibratedOptics calibrated = calibrate(calibration_part(field), field.optics, field.leds,
                                              mode, {field.pupil, stopped});
      field.optics = calibrated.optics;
      field.warnings.insert(field.warnings.end(), calibrated.warnings.begin(),
                            calibrated.warnings.end());
    }
    if (!field.smallest_upsampling) return;
    const int enough = enough_upsampling(field.optics, field.images.rows, field.images.cols,
                                         illuminations(field.optics, field.leds));
    field.optics.upsampling = std::min(enough, kLargest);
  } catch (const InvalidArgument& error) {
    if (field.source.empty()) throw;
    throw IoError(message(field.source, ": ", error.what()));
  }
}

Optics optics_at(Optics optics, double x_m, double y_m) {
  const double angle = optics.rotation_degrees * std::numbers::pi / 180;
  const double x = 1e3 * x_m, y = 1e3 * y_m;
  optics.x_offset_mm -= x * std::cos(angle) + y * std::sin(angle);
  optics.y_offset_mm -= -x * std::sin(angle) + y * std::cos(angle);
  return optics;
}

double wave_curvature(const Optics& optics) {
  const double pixel = optics.pixel_m / optics.upsampling;
  const double distance =
      1e-3 * (optics.led_distance_mm + optics.slide_thickness_mm / optics.slide_index);
  return 2 * std::numbers::pi * pixel * pixel / (optics.wavelength_m * distance);
}

PtychographyData data_of(const PtychographyField& field, const Tile& tile) {
  const Optics optics =
      optics_at(field.optics, metres_right(field, tile), metres_down(field, tile));
  const auto known = field.pupil.size() > 0 ? resampled_pupil(field.pupil, tile.rows, tile.cols)
                                            : RowMatrix<std::complex<double>>();
  auto data = detail::numbered_data(field.part(tile), optics, illuminations(optics, field.leds),
                                    numbers_of(field), known);
  apply_mask(field, tile, data);
  detail::check_images(data, field.drop_bad, optics);
  return data;
}

PtychographyData data_of(const PtychographyField& field) {
  try {
    const Tile whole{0, 0, field.images.rows, field.images.cols};
    auto data = detail::numbered_data(field.stored ? field.part(whole) : field.images, field.optics,
                                      illuminations(field.optics, field.leds), numbers_of(field),
                                      field.pupil);
    data.warnings = field.warnings;
    apply_mask(field, whole, data);
    detail::check_images(data, field.drop_bad, field.optics);
    return data;
  } catch (const InvalidArgument& error) {
    if (field.source.empty()) throw;
    throw IoError(message(field.source, ": ", error.what()));
  }
}

Index FieldRecovery::done() const {
  return std::count_if(tiles.begin(), tiles.end(), [](const TileRecovery& t) { return t.done; });
}

double FieldRecovery::amplitude_residual() const {
  return root_share(tiles, &TileRecovery::error_square, &TileRecovery::data_square);
}

double FieldRecovery::held_out_residual() const {
  return root_share(tiles, &TileRecovery::held_square, &TileRecovery::held_data);
}

double FieldRecovery::held_out_scaled() const {
  return root_share(tiles, &TileRecovery::held_scaled, &TileRecovery::held_data);
}

FieldRecovery recover_field(const PtychographyField& field, const FieldOptions& options,
                            const Hooks& hooks) {
  options.image.validate();
  options.tiles.validate();
  field.optics.validate();
  return FieldSolver(field, options, hooks).run();
}

}  // namespace udv
