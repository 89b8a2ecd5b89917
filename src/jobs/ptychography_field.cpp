// SPDX-License-Identifier: MIT
#include "jobs/ptychography_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "jobs/ptychography_geometry.hpp"
#include "jobs/ptychography_pictures.hpp"
#include "jobs/recovery.hpp"
#include "udv/io/gray_picture.hpp"
#include "udv/io/npy.hpp"

namespace udv::jobs {
namespace {

using Complex = std::complex<float>;

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kBadFit = 0.25;   // as for images that are not cut
constexpr double kBadSeams = 0.3;  // |x_a - x_b| / |x| over what tiles share

// Enough for the tiles in the corners, whose LEDs are farthest off.
int upsampling_of(const PtychographyField& field, const TileGrid& grid) {
  Optics optics = field.optics;
  for (const Tile& tile : grid.tiles) {
    const double right =
        static_cast<double>(tile.col) + 0.5 * static_cast<double>(tile.cols - field.images.cols);
    const double down =
        static_cast<double>(tile.row) + 0.5 * static_cast<double>(tile.rows - field.images.rows);
    const Optics here = optics_at(optics, optics.pixel_m * right, optics.pixel_m * down);
    optics.upsampling =
        std::max(optics.upsampling,
                 enough_upsampling(here, tile.rows, tile.cols, illuminations(here, field.leds)));
  }
  return optics.upsampling;
}

// A warning without its numbers: what is wrong, whatever the LEDs.
std::string kind_of(const std::string& warning) {
  std::string kind;
  for (const char c : warning)
    if (!std::isdigit(static_cast<unsigned char>(c)) && c != ',' && c != ' ') kind += c;
  return kind;
}

// One warning of each kind, that of the first tile that gave it.
std::vector<std::string> joined_warnings(const FieldRecovery& found) {
  struct Warning {
    std::string text;
    Index tiles = 0;
  };
  std::map<std::string, Warning> all;
  const auto add = [&](const std::string& kind, const std::string& text) {
    Warning& warning = all[kind];
    if (warning.tiles++ == 0) warning.text = text;
  };
  for (const TileRecovery& tile : found.tiles) {
    for (const std::string& warning : tile.warnings) add(kind_of(warning), warning);
    if (!tile.failed.empty()) add("left out", tile.failed + ": left out");
  }
  std::vector<std::string> texts;
  for (const auto& [kind, warning] : all)
    texts.push_back(fmt::format("{} ({}{} of {} tiles)", warning.text,
                                warning.tiles > 1 ? "one of " : "", warning.tiles,
                                found.tiles.size()));
  return texts;
}

class FieldJob {
 public:
  FieldJob(const PtychographyInput& input, PtychographyField field,
           const PtychographyJobOptions& options, Session& session, std::string geometry)
      : input_(input),
        field_(std::move(field)),
        options_(options),
        session_(session),
        geometry_(std::move(geometry)) {
    options_.method.seed = session.seed();
    if (options.tile > 0) settings_.tiles.side = options.tile;
    settings_.tiles.overlap = std::min<Index>(settings_.tiles.overlap, settings_.tiles.side / 4);
    settings_.image = image_options(options_);
    settings_.held_out = options.held_out;
    grid_ = tile_grid(field_.images.rows, field_.images.cols, settings_.tiles);
    field_.optics.upsampling = upsampling_of(field, grid_);
    middle_ = data_of(field_, grid_.tiles[static_cast<size_t>(grid_.middle())]);
  }

  PtychographyJobResult run() {
    OptionTable table;
    describe(table, input_);
    describe(table, options_);
    for (const std::string& warning : field_.warnings) session_.listener().warning(warning);
    session_.notice(size_text());
    Run run(session_, "ptycho", table.config(), table.fingerprint());
    run.info().warnings = field_.warnings;
    note_leds(run.info(), middle_);
    const Hooks hooks = with_geometry(run.hooks({0, session_.options().time_limit}), geometry_);
    found_ = run.compute(hooks, [&] { return recover_field(field_, settings_, hooks); });
    PtychographyJobResult result;
    BasicRecovery<Complex> recovery = facts();
    if (recovery.stop_reason != StopReason::kInterrupted)
      use_answer(run, result);
    else if (run.has_folder())
      write_image_so_far(run.folder(), found_.image);
    static_cast<RecoveryResult<Complex>&>(result) = finish(run, std::move(recovery));
    return result;
  }

 private:
  // "64 images of 256 x 256 -> 768 x 768 in 9 tiles of 104 x 104, about 60 MiB for each thread"
  std::string size_text() const {
    const Tile& tile = grid_.tiles.front();
    const Index up = field_.optics.upsampling;
    const double bytes = memory_estimate(*split_images(middle_).used.op, settings_.image.columns);
    return fmt::format(
        "{} images of {} x {} -> {} x {} in {} tiles of {} x {}, about {:.0f} MiB "
        "for each thread",
        field_.images.images, field_.images.rows, field_.images.cols, field_.images.rows * up,
        field_.images.cols * up, grid_.tiles.size(), tile.rows, tile.cols, bytes / kMiB);
  }

  // X = x x^* of the whole field. Neither certificate nor free directions are known.
  BasicRecovery<Complex> facts() const {
    BasicRecovery<Complex> recovery;
    recovery.method = "udu";
    recovery.operator_name = "ptychography";
    recovery.rows = recovery.cols = found_.image.size();
    recovery.measurements = field_.measurements();
    recovery.symmetric = recovery.by_rank_walk = recovery.intensities = true;
    const float length = found_.image.norm();
    recovery.rank = length > 0 ? 1 : 0;
    const Eigen::Map<const Vector<Complex>> x(found_.image.data(), found_.image.size());
    recovery.U = length > 0 ? RowMatrix<Complex>(x / length) : RowMatrix<Complex>(x.size(), 0);
    recovery.d = Vector<float>::Constant(recovery.rank, length * length);
    recovery.spectrum = Vector<double>::Zero(2);
    recovery.spectrum(0) = static_cast<double>(length) * static_cast<double>(length);
    recovery.relative_residual = found_.amplitude_residual();
    for (const TileRecovery& tile : found_.tiles) recovery.objective += 0.5 * tile.error_square;
    recovery.iterations = found_.iterations;
    recovery.seconds = found_.seconds;
    recovery.history = found_.history;
    recovery.converged = found_.verdict == Verdict::kContinue;
    if (recovery.converged) recovery.certificate.verdict = Optimality::kStationary;
    recovery.stop_reason = stop_reason(found_.verdict, recovery.converged);
    return recovery;
  }

  void use_answer(Run& run, PtychographyJobResult& result) {
    const TileRecovery& middle = found_.tiles[static_cast<size_t>(grid_.middle())];
    result.image = found_.image;
    result.tiles = static_cast<Index>(found_.tiles.size());
    result.pupil = middle.done ? middle.pupil.pupil : middle_.pupil;
    result.dark_gain = middle.pupil.dark_gain;
    result.winner = "tiles";
    result.amplitude_residual = found_.amplitude_residual();
    if (settings_.held_out > 0 && found_.done() > 0) {
      result.held_out_residual = found_.held_out_residual();
      result.held_out_scaled = found_.held_out_scaled();
    }
    for (const std::string& warning : joined_warnings(found_)) run.warn(warning);
    if (result.amplitude_residual > kBadFit && found_.done() > 0)
      run.warn(
          fmt::format("the images do not fit the model, amplitude residual {:.2g}: is the "
                      "geometry right?",
                      result.amplitude_residual));
    if (found_.seams.mismatch > kBadSeams)
      run.warn(
          fmt::format("tiles differ by {:.2g} of the image where they overlap: larger tiles "
                      "(option tile) or a better geometry expected",
                      found_.seams.mismatch));
    judge_image(run.info(), result);
    note_answer(run.info(), result);
    if (run.has_folder()) write_files(run, result);
  }

  void note_answer(io::RunInfo& info, const PtychographyJobResult& result) const {
    info.figures["tiles"] = std::int64_t{result.tiles};
    info.figures["tiles_done"] = std::int64_t{found_.done()};
    info.figures["tile_rows"] = std::int64_t{grid_.tiles.front().rows};
    info.figures["tile_cols"] = std::int64_t{grid_.tiles.front().cols};
    info.figures["seam_mismatch"] = found_.seams.mismatch;
    info.figures["light_curvature"] = wave_curvature(field_.optics) - found_.seams.bend;
    info.figures["winner"] = result.winner;
    info.figures["dark_gain"] = result.dark_gain;
    info.figures["amplitude_residual"] = result.amplitude_residual;
    if (result.held_out_residual) info.figures["held_out_residual"] = *result.held_out_residual;
    if (result.held_out_scaled) info.figures["held_out_scaled"] = *result.held_out_scaled;
    for (const TileRecovery& tile : found_.tiles)
      info.lists["tile_residuals"].push_back(
          tile.done ? std::sqrt(tile.error_square / tile.data_square) : std::nan(""));
  }

  void write_files(Run& run, const PtychographyJobResult& result) const {
    RunFolder& folder = run.folder();
    write_image(folder, run.info(), result.image, field_.optics.pixel_m / field_.optics.upsampling);
    write_pupil(folder, result.pupil);
    io::write_png(folder.file("raw.png"), io::gray_picture(raw_image()));
    std::vector<LedLight> lights(middle_.leds.size());
    const TileRecovery& middle = found_.tiles[static_cast<size_t>(grid_.middle())];
    for (Index l = 0; l < middle.gains.size(); ++l)
      if (std::isfinite(middle.gains(l)))
        lights[static_cast<size_t>(l)] = {static_cast<double>(middle.gains(l)),
                                          static_cast<double>(middle.backgrounds(l))};
    write_leds(folder, middle_.optics, middle_.leds, lights);
  }

  // Amplitudes of the image of the LED nearest to the axis.
  RowMatrix<double> raw_image() const {
    const auto lights = illuminations(field_.optics, field_.leds);
    const auto nearest =
        std::min_element(lights.begin(), lights.end(),
                         [](const auto& a, const auto& b) { return a.na < b.na; }) -
        lights.begin();
    const ImageStack raw = field_.image(nearest);
    Vector<float> amplitudes(raw.rows * raw.cols);
    for (Index i = 0; i < amplitudes.size(); ++i) {
      const double value = raw.values[static_cast<size_t>(i)];
      amplitudes(i) =
          static_cast<float>(raw.kind == ImageKind::kAmplitude ? value : std::sqrt(value));
    }
    return enlarged(amplitudes.data(), raw.rows, raw.cols, field_.optics.upsampling);
  }

  PtychographyInput input_;
  PtychographyField field_;
  PtychographyJobOptions options_;
  Session& session_;
  std::string geometry_;
  FieldOptions settings_;
  TileGrid grid_;
  PtychographyData middle_;
  FieldRecovery found_;
};

}  // namespace

PtychographyJobResult recover_in_tiles(const PtychographyInput& input, PtychographyField field,
                                       const PtychographyJobOptions& options, Session& session,
                                       std::string geometry) {
  return FieldJob(input, std::move(field), options, session, std::move(geometry)).run();
}

}  // namespace udv::jobs
