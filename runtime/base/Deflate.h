// Zlib compression.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <string>
#include <string_view>

namespace halftone {

/// Compresses bytes to a zlib stream at the default level. io_error if out of memory.
StatusOr<std::string> zlibStream(std::string_view bytes);

} // namespace halftone
