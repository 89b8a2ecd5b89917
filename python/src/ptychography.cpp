// SPDX-License-Identifier: MIT
#include "udv/jobs/ptychography.hpp"

#include <pybind11/complex.h>
#include <pybind11/stl.h>

#include "answer.hpp"
#include "arrays.hpp"
#include "core/require.hpp"
#include "keywords.hpp"
#include "running.hpp"

namespace udv::python {
namespace {

using jobs::PtychographyJobOptions;

py::dict figures_of(const jobs::PtychographyJobResult& result) {
  py::dict all;
  all["dark_gain"] = result.dark_gain;
  all["amplitude_residual"] = result.amplitude_residual;
  all["held_out_residual"] = result.held_out_residual;
  all["held_out_scaled"] = result.held_out_scaled;
  all["winner"] = result.winner;
  py::dict candidates;
  for (const ImageCandidate& one : result.candidates) candidates[one.name.c_str()] = one.residual;
  all["candidates"] = candidates;
  return all;
}

template <typename Job>
py::tuple run_ptychography(const jobs::RunOptions& run, const py::object& watcher, const Job& job) {
  PythonListener listener(watcher);
  jobs::PtychographyJobResult result = run_job(run, listener, job);
  py::object image = to_array(std::move(result.image)), pupil = to_array(std::move(result.pupil));
  py::dict figures = figures_of(result);
  using Recovered = jobs::RecoveryResult<std::complex<float>>;
  return py::make_tuple(answer_of(Recovered(std::move(result))), listener.warnings(),
                        listener.notices(), image, pupil, figures);
}

Optics optics_of(const py::dict& given) {
  Optics optics;
  const std::vector<std::pair<const char*, double*>> numbers = {
      {"wavelength_m", &optics.wavelength_m},
      {"numerical_aperture", &optics.numerical_aperture},
      {"pixel_m", &optics.pixel_m},
      {"led_pitch_mm", &optics.led_pitch_mm},
      {"led_distance_mm", &optics.led_distance_mm},
      {"slide_thickness_mm", &optics.slide_thickness_mm},
      {"slide_index", &optics.slide_index},
      {"rotation_degrees", &optics.rotation_degrees},
      {"x_offset_mm", &optics.x_offset_mm},
      {"y_offset_mm", &optics.y_offset_mm},
      {"defocus_m", &optics.defocus_m}};
  std::vector<std::string> known = {"upsampling", "leds",    "kind", "pupil",
                                    "mirrored",   "swapped", "mask"};
  for (const auto& [name, number] : numbers) known.emplace_back(name);
  for (const auto& [key, value] : given) {
    const std::string name = key.cast<std::string>();
    require(std::find(known.begin(), known.end(), name) != known.end(), "setup: '", name,
            "' found, a quantity of the optics expected", did_you_mean(name, known));
    for (const auto& [of, number] : numbers)
      if (name == of) *number = value.cast<double>();
    if (name == "upsampling") optics.upsampling = value.cast<int>();
    if (name == "mirrored") optics.mirrored = value.cast<bool>();
    if (name == "swapped") optics.swapped = value.cast<bool>();
  }
  return optics;
}

std::vector<GridPoint> leds_of(const py::dict& setup, Index images) {
  if (!setup.contains("leds")) return spiral_order(images);
  std::vector<GridPoint> leds;
  for (const auto& [x, y] : setup["leds"].cast<std::vector<std::pair<double, double>>>())
    leds.push_back({x, y});
  require(static_cast<Index>(leds.size()) == images, "setup: ", leds.size(), " leds found, ",
          images, " expected, one for each image");
  return leds;
}

// True where a pixel says nothing.
std::vector<bool> mask_of(const py::dict& setup, const ImageStack& images) {
  if (!setup.contains("mask")) return {};
  const auto mask = setup["mask"].cast<Dense<bool>>();
  require(mask.ndim() == 2 && mask.shape(0) == images.rows && mask.shape(1) == images.cols,
          "setup: a mask of another shape found, ", images.rows, " x ", images.cols,
          " expected, as the images");
  return std::vector<bool>(mask.data(), mask.data() + mask.size());
}

py::tuple ptychography_arrays(const Dense<double>& images, const py::dict& setup,
                              const py::dict& keywords, const py::object& watcher) {
  jobs::RunOptions run;
  const auto options = options_from<PtychographyJobOptions>("ptychography", keywords, run);
  const Optics optics = optics_of(setup);
  optics.validate();
  ImageStack stack{images.shape(0), images.shape(1), images.shape(2), ImageKind::kIntensity, {}};
  if (setup.contains("kind")) {
    const std::string kind = setup["kind"].cast<std::string>();
    require(kind == "amplitude" || kind == "intensity", "setup: kind '", kind,
            "' found, amplitude or intensity expected");
    if (kind == "amplitude") stack.kind = ImageKind::kAmplitude;
  }
  stack.values.assign(images.data(), images.data() + images.size());
  RowMatrix<std::complex<double>> known_pupil;
  if (setup.contains("pupil"))
    known_pupil = to_matrix(setup["pupil"].cast<Dense<std::complex<double>>>());
  PtychographyField field;
  field.leds = leds_of(setup, stack.images);
  field.images = std::move(stack);
  field.drop_bad = options.drop_bad;
  field.pupil = std::move(known_pupil);
  field.mask = mask_of(setup, field.images);
  field.optics = optics;
  field.smallest_upsampling = !setup.contains("upsampling");
  return run_ptychography(run, watcher, [&](jobs::Session& session) {
    return jobs::ptychography(std::move(field), options, session);
  });
}

py::tuple ptychography_files(const std::string& data, const std::string& setup,
                             const py::dict& keywords, const py::object& watcher) {
  jobs::RunOptions run;
  const auto options = options_from<PtychographyJobOptions>("ptychography", keywords, run);
  return run_ptychography(run, watcher, [&](jobs::Session& session) {
    jobs::PtychographyInput input;
    input.data = data;
    input.setup = setup;
    return jobs::ptychography(input, options, session);
  });
}

}  // namespace

void bind_ptychography(py::module_& m) {
  m.def("ptychography", ptychography_arrays);
  m.def("ptychography_files", ptychography_files);
}

}  // namespace udv::python
