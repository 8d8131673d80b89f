// Reads images and converts them to the color mode that the user asks for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/data/ImageCodecs.h"
#include "halftone/ImageFiles.h"

namespace halftone::detail {

/// Converts pixels to the channels of `mode`: gray is (19595 red + 38470 green + 7471 blue) / 65536, rounded; missing
/// alpha is 255.
Pixels inMode(Pixels pixels, ColorMode mode);
/// Reads the pixels of a file. Errors of load_img().
Pixels readImage(const std::string &path, ColorMode mode);

} // namespace halftone::detail
