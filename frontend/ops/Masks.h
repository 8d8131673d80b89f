// Masks attached to Values, and masked softmax.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "halftone/Ops.h"

namespace halftone::detail {

/// The mask of `x`, as bools; undefined if it has none.
Value maskOf(const Value &x);
/// `mask` as bools; undefined if `mask` is.
Value asMask(const Value &mask);
/// The conjunction of both masks; an undefined mask is true everywhere.
Value bothMasks(const Value &a, const Value &b);

/// exp(x) / sum(exp(x)) over `axes`.
Value softmaxOver(const Value &x, const Axes &axes);
/// Softmax over the elements for which `mask` is true; all other elements, and rows without a true element, are 0. The
/// mask broadcasts to the shape of x. Without a mask, softmax over all elements.
Value softmaxOver(const Value &x, const Axes &axes, const Value &mask);

} // namespace halftone::detail
