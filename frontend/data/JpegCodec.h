// JPEG decoding with libturbojpeg.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/data/ImageCodecs.h"

namespace halftone::detail {

Pixels decodedJpeg(const std::string &bytes, const std::string &path);

} // namespace halftone::detail
