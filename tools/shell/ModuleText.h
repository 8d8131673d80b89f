// Refuses text on which MLIR's parser crashes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <string>
#include <string_view>

namespace halftone::tools {

/// value_error, with the line in `name`, for text with an array of `index`, or of a type by its alias, on which the
/// parser of MLIR 22 crashes (`array<index: 1>`); ok for all other text, even if it is no module.
Status checkModuleText(std::string_view text, const std::string &name);

} // namespace halftone::tools
