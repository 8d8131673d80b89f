// The properties of a window on which the product and the tiles of its matmul depend.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/KernelTraits.h"
#include "dialect/Dialect.h"

namespace halftone::compiler {

/// The number of elements of an image per spatial position.
int64_t channelsOf(dialect::WindowOp window);

/// Sets the traits of a product whose left operand is `window`.
void setWindow(MatmulTraits &traits, dialect::WindowOp window);

} // namespace halftone::compiler
