// Random programs over the dialect's ops: windows and convolutions.
// SPDX-License-Identifier: Apache-2.0
#include "RandomProgram.h"
#include <fmt/format.h>
#include <numeric>

namespace halftone::test {

RandomProgram::RandomSteps RandomProgram::windowSteps(int rank) {
  RandomSteps steps;
  const auto sign = [&] { return below(5) ? 1 : -1; };
  std::vector<int64_t> stride, dilation, low, hole;
  for (int axis = 0; axis < rank; ++axis) {
    steps.places.push_back(degenerate ? below(5) : 1 + below(9));
    steps.taps.push_back(degenerate ? below(4) : 1 + below(4));
    stride.push_back(sign() * (1 + below(2)));
    dilation.push_back(sign() * (1 + (below(4) == 0)));
    low.push_back(below(5) - 2);
    hole.push_back(1 + (below(4) == 0));
  }
  steps.text = fmt::format("stride = {}, dilation = {}, low = {}, hole = {}", array(stride), array(dilation),
                           array(low), array(hole));
  return steps;
}

void RandomProgram::window(const RandomItem &x) {
  const int rank = int(x.shape.size()), spatial = rank < 2 ? 0 : 1 + below(std::min(2, rank - 1));
  if (spatial == 0)
    return;
  const RandomSteps steps = windowSteps(spatial);
  RandomShape to{x.shape.front()};
  to.insert(to.end(), steps.places.begin(), steps.places.end());
  to.insert(to.end(), steps.taps.begin(), steps.taps.end());
  to.insert(to.end(), x.shape.begin() + 1 + spatial, x.shape.end());
  if (sizeOf(to) > maxElements)
    return;
  const RandomItem y = moved("window", x, fmt::format("{{{}{}}}", steps.text, below(4) ? "" : ", lowest"), to);
  if (x.dtype == "i1" || x.isFloat8() || below(2)) // otherwise pooled
    return;
  std::vector<int64_t> axes;
  for (int axis = 0; axis < spatial; ++axis)
    axes.push_back(1 + spatial + axis);
  reduce(below(2) ? "max" : "sum", y, axes, below(2) ? x.dtype : x.isFloat() ? x.wide() : x.dtype);
}

/// The shape with its last two axes swapped.
static RandomShape exchanged(RandomShape shape) {
  std::swap(shape.back(), *(shape.end() - 2));
  return shape;
}

RandomItem RandomProgram::turned(const RandomItem &kernel) {
  std::vector<int64_t> permutation(kernel.shape.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  return moved("transpose", kernel, fmt::format("{{permutation = {}}}", array(exchanged(permutation))),
               exchanged(kernel.shape));
}

void RandomProgram::convolution(RandomItem x) {
  const int rank = int(x.shape.size()), spatial = rank < 3 ? 0 : 1 + below(std::min(2, rank - 2));
  if (spatial == 0)
    return;
  x = unary("tanh", x);
  // (n, s..., g, c): the axes after the spatial ones are groups and channels.
  RandomShape image(x.shape.begin(), x.shape.begin() + 1 + spatial);
  const int64_t groups = rank > spatial + 2 ? x.shape[size_t(spatial) + 1] : 1;
  image.insert(image.end(),
               {groups, sizeOf(RandomShape(x.shape.begin() + 1 + spatial + (rank > spatial + 2), x.shape.end()))});
  // Some kernels are transposed, like the kernel in a gradient by the image. These are read in runs of channels.
  const bool isTurned = below(3) == 0;
  if (isTurned && below(2))
    image.back() = 16 * (1 + below(2));
  RandomSteps steps = windowSteps(spatial);
  int64_t filters = 1 + below(isTurned ? 40 : 9);
  // CPUs read windows with longer lines and more channels directly from the image.
  if (!degenerate && below(3) == 0) {
    steps.places.back() = 7 + below(14);
    image[size_t(spatial)] = std::max<int64_t>(image[size_t(spatial)], 1 + below(20));
    image.back() = isTurned ? 16 : 16 + below(9);
    filters = 17 + below(54);
  }
  RandomShape kernel = steps.taps, to{x.shape.front()};
  kernel.insert(kernel.end(), {groups, image.back(), filters});
  to.insert(to.end(), steps.places.begin(), steps.places.end());
  to.insert(to.end(), {groups, filters});
  const int64_t depth = sizeOf(steps.taps) * image.back();
  if (sizeOf(image) > maxElements || sizeOf(kernel) > maxElements || sizeOf(to) > maxElements ||
      sizeOf(to) * depth > 1'000'000)
    return;
  const RandomItem from = image == x.shape                   ? x
                          : sizeOf(image) == sizeOf(x.shape) ? moved("reshape", x, "", image)
                                                             : factor(x.dtype, image);
  const std::string dtype = below(5) < 3 ? x.dtype : x.wide();
  const RandomItem w = isTurned ? turned(factor(x.dtype, exchanged(kernel))) : factor(x.dtype, kernel);
  const RandomItem y = add(dtype, to,
                           fmt::format("convolution {}, {} {{{}}} : ({}, {}) -> {}", from.name, w.name, steps.text,
                                       from.type(), w.type(), RandomItem{"", dtype, to}.type()));
  RandomShape flat(to.begin(), to.end() - 2);
  flat.push_back(groups * filters);
  moved("reshape", y, "", flat);
}

} // namespace halftone::test
