// SHA-256 as text, for cache keys and for integrity checks of cached files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace halftone {

/// The digest as 64 lower-case hexadecimal digits. (FIPS 180-4.)
std::string sha256(std::string_view bytes);

} // namespace halftone
