// SPDX-License-Identifier: MIT
#include "jobs/ptychography_geometry.hpp"

#include <string_view>

#include "core/archive.hpp"
#include "core/hash.hpp"

namespace udv {

template <typename Archive>
void fields(Archive& archive, Optics& o) {
  archive(o.wavelength_m, o.numerical_aperture, o.pixel_m, o.led_pitch_mm, o.led_distance_mm);
  archive(o.slide_thickness_mm, o.slide_index, o.rotation_degrees, o.x_offset_mm, o.y_offset_mm);
  archive(o.defocus_m, o.upsampling, o.mirrored, o.swapped);
}

namespace jobs {

template <typename Archive>
void fields(Archive& archive, ChosenGeometry& g) {
  archive(g.capture, g.optics, g.warnings, g.finished);
}

namespace {

constexpr std::string_view kKind = "ptychography geometry ";

// Bytes of the geometry in front of a payload; 0 where there is none.
size_t size_in(std::string_view payload) {
  if (!payload.starts_with(kKind)) return 0;
  ArchiveReader archive(payload.substr(kKind.size(), sizeof(std::uint64_t)));
  std::uint64_t size = 0;
  archive(size);
  const size_t whole = kKind.size() + sizeof(size) + size;
  return whole <= payload.size() && size <= payload.size() ? whole : 0;
}

// The geometry in front of a payload; that of capture 0 where there is none.
ChosenGeometry geometry_in(std::string_view payload) {
  ChosenGeometry geometry;
  const size_t size = size_in(payload), head = kKind.size() + sizeof(std::uint64_t);
  if (size == 0) return geometry;
  ArchiveReader archive(payload.substr(head, size - head));
  archive(geometry);
  return archive.at_end() ? geometry : ChosenGeometry();
}

std::string optics_bytes(Optics optics) {
  ArchiveWriter archive;
  archive(optics);
  return archive.take();
}

}  // namespace

std::uint64_t capture_hash(const PtychographyField& field) {
  ArchiveWriter archive;
  Optics optics = field.optics;
  Index images = field.images.images, rows = field.images.rows, cols = field.images.cols;
  archive(optics, images, rows, cols);
  for (GridPoint led : field.leds) archive(led.x, led.y);
  for (const bool masked : field.mask) {
    char bit = masked ? 1 : 0;
    archive(bit);
  }
  std::uint64_t stored = field.stored ? field.stored->hash() : 0;
  archive(stored);
  const std::uint64_t start = fnv_hash(archive.take());
  const auto& pupil = field.pupil;
  const std::uint64_t of_pupil =
      array_hash(pupil.data(), static_cast<size_t>(pupil.size()) * sizeof(*pupil.data()), start);
  const std::vector<double>& values = field.images.values;
  return array_hash(values.data(), values.size() * sizeof(double), of_pupil);
}

std::string to_bytes(const ChosenGeometry& geometry) {
  ArchiveWriter archive;
  ChosenGeometry copy = geometry;
  archive(copy);
  const std::string body = archive.take();
  ArchiveWriter head{std::string(kKind)};
  std::uint64_t size = body.size();
  head(size);
  return head.take() + body;
}

bool take_geometry(const std::string& payload, PtychographyField& field) {
  const ChosenGeometry geometry = geometry_in(payload);
  if (!geometry.finished || geometry.capture == 0 || geometry.capture != capture_hash(field))
    return false;
  field.optics = geometry.optics;
  field.warnings.insert(field.warnings.end(), geometry.warnings.begin(), geometry.warnings.end());
  return true;
}

Hooks with_geometry(Hooks hooks, const std::string& geometry) {
  const bool same = size_in(hooks.resume) == 0 || optics_bytes(geometry_in(hooks.resume).optics) ==
                                                      optics_bytes(geometry_in(geometry).optics);
  hooks.resume.erase(0, same ? size_in(hooks.resume) : std::string::npos);
  if (!hooks.save || geometry.empty()) return hooks;
  if (hooks.resume.empty()) hooks.save(geometry);
  hooks.save = [save = std::move(hooks.save), geometry](const std::string& state) {
    save(geometry + state);
  };
  return hooks;
}

}  // namespace jobs
}  // namespace udv
