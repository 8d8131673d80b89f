// SHA-256 as text: keys of caches, and the check of a file in one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace halftone {

/// 64 hexadecimal digits in lower case. (FIPS 180-4.)
std::string sha256(std::string_view bytes);

} // namespace halftone
