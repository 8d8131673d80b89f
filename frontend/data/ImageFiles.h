// Images in the modes in which users ask for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/data/ImageCodecs.h"
#include "halftone/ImageFiles.h"

namespace halftone::detail {

/// The pixels with the channels of the mode: gray is (19595 red + 38470 green + 7471 blue) / 65536, rounded, and opacity that is
/// missing is 255.
Pixels inMode(Pixels pixels, ColorMode mode);
/// The pixels of a file. Errors of load_img().
Pixels readImage(const std::string &path, ColorMode mode);

} // namespace halftone::detail
