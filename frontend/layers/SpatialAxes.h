// The axes of images and sequences, and the arguments that speak of them.
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
/// value_error unless the input has so many axes.
void requireRank(const Shape &input, int64_t rank);

/// One entry for each axis: a single one serves all. Else the list itself, which requireEntries() then refuses.
Integers forEachAxis(const Integers &given, int64_t count);
Margins forEachAxis(const Margins &given, int64_t count);
/// value_error in Keras's words unless there are so many entries, none below `least`.
void requireEntries(const Layer &layer, const char *argument, const Integers &value, int64_t count, int64_t least,
                    Where where);
void requireEntries(const Layer &layer, const char *argument, const Margins &value, int64_t count, Where where);
void requirePositive(const Layer &layer, const char *argument, int64_t value, Where where);

} // namespace halftone::detail
