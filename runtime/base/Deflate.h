// Compresses bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <string>
#include <string_view>

namespace halftone {

/// A zlib stream, at the usual level. io_error if there is no memory for it.
StatusOr<std::string> zlibStream(std::string_view bytes);

} // namespace halftone
