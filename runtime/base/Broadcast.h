// NumPy's broadcasting of shapes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Shape.h"
#include <string_view>

namespace halftone {

/// The shape to which two operands broadcast. value_error naming `op` and both shapes when they do not broadcast.
Shape broadcastShape(std::string_view op, const Shape &a, const Shape &b);

} // namespace halftone
