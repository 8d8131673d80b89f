// The spatial axes of convolutions and pools: Keras's arguments as the steps of windows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "halftone/Choice.h"
#include <string_view>
#include <vector>

namespace halftone::detail {

/// One entry of `list` for each of `rank` spatial axes: a list of one serves all. value_error naming `op` and the
/// argument for another length, or an entry below `least`.
std::vector<int64_t> perAxis(std::string_view op, std::string_view argument, const std::vector<int64_t> &list,
                             int64_t rank, int64_t least = 1);

/// How a window of `taps` goes over `extents`, and how many places it has along each axis.
struct Windows {
  Trace::WindowSteps steps;
  std::vector<int64_t> places;
};
struct WindowArgs {
  std::vector<int64_t> extents, taps, strides, dilations;
};
/// As Keras pads. value_error naming `op` for a causal padding of several axes, and if a window is larger than the axis and
/// the padding is "valid".
Windows windowsOf(std::string_view op, const WindowArgs &args, Padding padding);

/// The steps by which each element of an image finds, for each tap, the place that sees it.
Trace::WindowSteps inverse(const Trace::WindowSteps &steps);

/// value_error in Keras's words unless the shape is that of one image, of rank 3, or of a batch.
void requireImages(const Shape &images);

/// x with its axis of channels last, and back.
Value channelsLast(const Value &x, DataFormat format);
Value channelsBack(const Value &x, DataFormat format);

} // namespace halftone::detail
