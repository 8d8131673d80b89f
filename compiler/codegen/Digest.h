// SHA-256 as text: kernels' keys, and the check of a file in the cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace halftone::compiler {

/// 64 hexadecimal digits.
std::string digest(std::string_view bytes);

} // namespace halftone::compiler
