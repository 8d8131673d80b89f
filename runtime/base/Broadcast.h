// NumPy's shape broadcasting.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Shape.h"
#include <string_view>

namespace halftone {

/// The shape to which two operands broadcast. value_error naming `op` and both shapes if they do not.
Shape broadcastShape(std::string_view op, const Shape &a, const Shape &b);

} // namespace halftone
