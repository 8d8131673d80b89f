// Masks that Values carry, and softmax under a mask.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "halftone/Ops.h"

namespace halftone::detail {

/// The mask that `x` carries, in bool; undefined if it carries none.
Value maskOf(const Value &x);
/// `mask` as bools; undefined if `mask` is.
Value asMask(const Value &mask);
/// Where both hold; a mask that is undefined holds everywhere.
Value bothMasks(const Value &a, const Value &b);

/// exp(x) / sum(exp(x)) over `axes`.
Value softmaxOver(const Value &x, const Axes &axes);
/// The same of the elements for which `mask` holds, which broadcasts to the shape of x; the others are 0, and so is a row
/// without such elements. Without a mask, of all elements.
Value softmaxOver(const Value &x, const Axes &axes, const Value &mask);

} // namespace halftone::detail
