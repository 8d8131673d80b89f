// A decoding loop on libturbojpeg and libpng, as a program without Halftone would write it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// Decodes a PNG or JPEG file to rows of RGB pixels. `pixels` keeps its allocation between calls, and each thread
/// reuses its decoder. std::runtime_error if the file or the library is missing or damaged.
void decodeBare(const std::string &path, std::vector<uint8_t> &pixels);

} // namespace halftone::benchmarks
