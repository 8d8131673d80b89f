// Conversion of Keras's spatial arguments of convolutions and pools to window steps.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/Windows.h"
#include "frontend/graph/Promotion.h"
#include "halftone/Error.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace halftone::detail {

std::vector<int64_t> perAxis(std::string_view op, std::string_view argument, const std::vector<int64_t> &list,
                             int64_t rank, int64_t least) {
  std::vector<int64_t> all = list;
  if (list.size() == 1)
    all.resize(static_cast<size_t>(rank), list.front());
  constexpr int64_t most = int64_t(1) << 31;
  const bool fits = static_cast<int64_t>(all.size()) == rank &&
                    std::all_of(all.begin(), all.end(), [&](int64_t n) { return n >= least && n <= most; });
  if (!fits)
    throw Error(ErrorKind::value_error,
                fmt::format("{}: {} must be one integer, or {} of them, of at least {}{}; got ({})", op, argument, rank,
                            least,
                            std::ranges::any_of(all, [](int64_t n) { return n > most; }) ? " and at most 2^31" : "",
                            fmt::join(list, ", ")));
  return all;
}

Windows windowsOf(std::string_view op, const WindowArgs &args, Padding padding) {
  const size_t rank = args.extents.size();
  const bool isCausal = padding == Padding::causal, isSame = padding == Padding::same;
  if (isCausal && rank != 1)
    throw Error(ErrorKind::value_error, fmt::format("{}: padding must be \"valid\" or \"same\"; got \"causal\"", op));
  Windows windows;
  windows.steps = {args.strides, args.dilations, {}, std::vector<int64_t>(rank, 1)};
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t extent = args.extents[axis], stride = args.strides[axis];
    const int64_t span =
        args.taps[axis] == 0 ? 0 : extentSum(extentProduct(args.taps[axis] - 1, args.dilations[axis]), 1);
    const int64_t rounded = extent == 0 ? 0 : (extent - 1) / stride + 1;
    if (!isSame && !isCausal && span > extent)
      throw Error(ErrorKind::value_error,
                  fmt::format("{}: a window of {} elements does not lie within an axis of {} with padding \"valid\"; "
                              "expected an input of shape ({}) or larger along its spatial axes, or padding \"same\"",
                              op, span, extent, fmt::join(args.taps, ", ")));
    const int64_t total = std::max<int64_t>(span - (extent - (rounded - 1) * stride), 0);
    windows.steps.paddingLow.push_back(isCausal ? span - 1 : isSame && extent > 0 ? total / 2 : 0);
    windows.positions.push_back(isSame || isCausal ? rounded : (extent - span) / stride + 1);
  }
  return windows;
}

Trace::WindowSteps inverse(const Trace::WindowSteps &steps) {
  Trace::WindowSteps result{steps.baseDilation, steps.dilation, steps.paddingLow, steps.stride};
  for (int64_t &number : result.dilation)
    number = -number;
  for (int64_t &number : result.paddingLow)
    number = -number;
  return result;
}

void requireImages(const Shape &images) {
  if (images.rank() != 3 && images.rank() != 4)
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid images rank: expected rank 3 (single image) or rank 4 (batch of images). Received "
                            "input with shape: {}",
                            images.str()));
}

Value channelsLast(const Value &x, DataFormat format) {
  if (format == DataFormat::channels_last)
    return x;
  std::vector<int64_t> order(static_cast<size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 1);
  order.front() = 0;
  order.back() = 1;
  std::iota(order.begin() + 1, order.end() - 1, 2);
  return tracing().transpose(x, order);
}

Value channelsBack(const Value &x, DataFormat format) {
  if (format == DataFormat::channels_last)
    return x;
  std::vector<int64_t> order(static_cast<size_t>(x.rank()));
  std::iota(order.begin(), order.end(), -1);
  order[0] = 0;
  order[1] = x.rank() - 1;
  return tracing().transpose(x, order);
}

} // namespace halftone::detail
