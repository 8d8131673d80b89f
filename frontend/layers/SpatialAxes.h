// Spatial axes of images and sequences, and arguments that refer to them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include "halftone/Spatial.h"
#include <array>

namespace halftone::detail {

/// The spatial axes of an input with a batch axis, in order.
std::vector<int64_t> spatialAxes(int64_t count, DataFormat format);
/// The axes of height and width of one image, of rank 3, or of a batch. value_error for other ranks.
std::array<int64_t, 2> imageAxes(const Shape &input, DataFormat format);
/// value_error unless the input has this rank.
void requireRank(const Shape &input, int64_t rank);

/// Expands a single entry to one per axis. Otherwise returns the list itself, which requireEntries() then checks.
Integers forEachAxis(const Integers &given, int64_t count);
Margins forEachAxis(const Margins &given, int64_t count);
/// value_error with Keras's message unless there are `count` entries, none below `least`.
void requireEntries(const Layer &layer, const char *argument, const Integers &value, int64_t count, int64_t least,
                    Where where);
void requireEntries(const Layer &layer, const char *argument, const Margins &value, int64_t count, Where where);
void requirePositive(const Layer &layer, const char *argument, int64_t value, Where where);

} // namespace halftone::detail
