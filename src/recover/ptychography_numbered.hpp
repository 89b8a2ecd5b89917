// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "udv/recover/ptychography_data.hpp"

namespace udv::detail {

/// Amplitudes and geometry of some images of a larger set, not yet checked: numbers[l] is the place
/// of image l there, from 0, for `used` and for messages.
PtychographyData numbered_data(const ImageStack& images, const Optics& optics,
                               const std::vector<Illumination>& lights, std::vector<Index> numbers,
                               const RowMatrix<std::complex<double>>& known_pupil);

/// Finds images that are empty, on the rim of the pupil or contradict the model, and leaves them
/// out where `drop_bad`; samples and pixels that say nothing get the weight 0. Throws
/// InvalidArgument where what is left makes no sense.
void check_images(PtychographyData& data, bool drop_bad, const Optics& optics);

}  // namespace udv::detail
