// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "udv/io/png.hpp"
#include "udv/io/run_info.hpp"
#include "udv/jobs/ptychography.hpp"
#include "udv/jobs/run_folder.hpp"

/// Pictures and tables of ptychographic runs.
namespace udv::jobs {

/// Amplitude and phase as 8-bit PNG files.
void write_pictures(const std::filesystem::path& amplitude, const std::filesystem::path& phase,
                    const RowMatrix<std::complex<float>>& image);

/// x.npy, and amplitude and phase as 8-bit and 16-bit PNG and 32-bit TIFF files; the numbers that
/// their blacks and whites stand for and the size of a pixel are noted.
void write_image(RunFolder& folder, io::RunInfo& info, const RowMatrix<std::complex<float>>& image,
                 double pixel_m);

/// The best image so far of a run that was interrupted; remove_image_so_far() once it has ended.
void write_image_so_far(RunFolder& folder, const RowMatrix<std::complex<float>>& image);
void remove_image_so_far(const RunFolder& folder);

/// Vortices and slow curvature of the phase.
void judge_image(io::RunInfo& info, PtychographyJobResult& result);

/// Image `first` .. of `amplitudes` at the scale of a result with `upsampling` pixels for each.
RowMatrix<double> enlarged(const float* amplitudes, Index rows, Index cols, Index upsampling);

/// pupil.npy and pupil.png.
void write_pupil(RunFolder& folder, const RowMatrix<std::complex<double>>& pupil);

/// What became of the LED of an image.
struct LedLight {
  double gain = -1, background = -1;  ///< negative: not fitted
};

/// leds.png and leds.csv: lights[l] belongs to leds[l].
void write_leds(RunFolder& folder, const Optics& optics, const std::vector<LedInfo>& leds,
                const std::vector<LedLight>& lights);

/// Which images are used and which are not, why, and the geometry.
void note_leds(io::RunInfo& info, const PtychographyData& data);

}  // namespace udv::jobs
