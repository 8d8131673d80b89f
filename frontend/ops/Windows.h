// Conversion of Keras's spatial arguments of convolutions and pools to window steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "halftone/Choice.h"
#include <string_view>
#include <vector>

namespace halftone::detail {

/// Expands `list` to one entry for each of `rank` spatial axes; a single entry applies to all. value_error naming `op`
/// and the argument for another length, or an entry below `least` or above 2^31.
std::vector<int64_t> perAxis(std::string_view op, std::string_view argument, const std::vector<int64_t> &list,
                             int64_t rank, int64_t least = 1);

/// The steps of a window of `taps` over `extents`, and the number of output positions along each axis.
struct Windows {
  Trace::WindowSteps steps;
  std::vector<int64_t> positions;
};
struct WindowArgs {
  std::vector<int64_t> extents, taps, strides, dilations;
};
/// Computes the windows with Keras's padding. value_error naming `op` for causal padding of several axes, and if a
/// window is larger than the axis and the padding is "valid".
Windows windowsOf(std::string_view op, const WindowArgs &args, Padding padding);

/// The inverse steps, which map an input element and a tap to the output position that reads it.
Trace::WindowSteps inverse(const Trace::WindowSteps &steps);

/// value_error with Keras's text unless the shape is that of one image, of rank 3, or of a batch.
void requireImages(const Shape &images);

/// Moves the channel axis of x to the end, and back.
Value channelsLast(const Value &x, DataFormat format);
Value channelsBack(const Value &x, DataFormat format);

} // namespace halftone::detail
