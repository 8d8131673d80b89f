// The loop over libturbojpeg and libpng that a program without Halftone would have.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// Reads a PNG or JPEG file, and decodes it into rows of red, green and blue. `pixels` keeps its memory from call to call, and
/// so does the decoder: it stays for the thread. std::runtime_error if the file or the library is missing or damaged.
void decodeBare(const std::string &path, std::vector<uint8_t> &pixels);

} // namespace halftone::benchmarks
