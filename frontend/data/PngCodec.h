// PNG decoding with libpng.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/data/ImageCodecs.h"

namespace halftone::detail {

Pixels decodedPng(const std::string &bytes, const std::string &path);

} // namespace halftone::detail
