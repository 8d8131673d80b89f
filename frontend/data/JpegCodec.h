// JPEG files, by libturbojpeg.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/data/ImageCodecs.h"

namespace halftone::detail {

/// io_error for an image without pixels, or with more than Pillow takes.
void requirePixels(const std::string &path, uint64_t height, uint64_t width);
Pixels decodedJpeg(const std::string &bytes, const std::string &path);

} // namespace halftone::detail
