// Separable image resizing: each output pixel is a weighted sum of a few neighbours along each axis.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/ImageScaling.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <cmath>
#include <numbers>

namespace halftone::detail {

namespace {

struct Kernel {
  double radius;
  double (*weight)(double distance);
};
template <int radius> double lanczos(double x) {
  const double angle = std::numbers::pi * x;
  return x == 0.0 ? 1.0 : x >= radius ? 0.0 : radius * std::sin(angle) * std::sin(angle / radius) / (angle * angle);
}
Kernel kernelOf(Interpolation interpolation) {
  switch (interpolation) {
  case Interpolation::bicubic: // Keys's kernel with a = -0.5
    return {2.0, [](double x) {
              return x >= 2.0 ? 0.0 : x >= 1.0 ? ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0 : (1.5 * x - 2.5) * x * x + 1.0;
            }};
  case Interpolation::lanczos3:
    return {3.0, lanczos<3>};
  case Interpolation::lanczos5:
    return {5.0, lanczos<5>};
  case Interpolation::nearest:
  case Interpolation::bilinear:
    break;
  }
  return {1.0, [](double x) { return std::max(1.0 - x, 0.0); }};
}

/// The input pixels that contribute to an output pixel, and their weights, which add up to 1.
struct Neighbours {
  int64_t first;
  std::vector<float> weights;
};
/// The neighbours of the `to` output pixels that replace the `from` input pixels starting at `begin`.
std::vector<Neighbours> neighboursOf(int64_t begin, int64_t from, int64_t to, Interpolation interpolation) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<Neighbours> all;
  for (int64_t i = 0; i < to; ++i) {
    const double position = (static_cast<double>(i) + 0.5) * scale;
    if (interpolation == Interpolation::nearest) {
      all.push_back({begin + std::min(static_cast<int64_t>(position), from - 1), {1.0f}});
      continue;
    }
    const Kernel kernel = kernelOf(interpolation);
    const double center = position - 0.5;
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(std::ceil(center - kernel.radius)), 0);
    const int64_t last = std::min(static_cast<int64_t>(std::floor(center + kernel.radius)), from - 1);
    std::vector<double> weights;
    double total = 0.0;
    for (int64_t x = first; x <= last; ++x) {
      weights.push_back(kernel.weight(std::abs(center - static_cast<double>(x))));
      total += weights.back();
    }
    Neighbours neighbours{begin + first, {}};
    for (const double weight : weights)
      neighbours.weights.push_back(static_cast<float>(weight / total));
    all.push_back(std::move(neighbours));
  }
  return all;
}

/// A rectangle of an image: its first row and column, and its extents.
struct Part {
  std::array<int64_t, 2> begin, extents;
};
Part middle(const Pixels &pixels, const std::array<int64_t, 2> &size) {
  const auto fitting = [](int64_t extent, int64_t other, int64_t wanted, int64_t otherWanted) {
    return std::clamp<int64_t>(extentProduct(other, wanted) / otherWanted, 1, extent);
  };
  const int64_t height = fitting(pixels.height, pixels.width, size[0], size[1]);
  const int64_t width = fitting(pixels.width, pixels.height, size[1], size[0]);
  return {{(pixels.height - height) / 2, (pixels.width - width) / 2}, {height, width}};
}

/// Scales `part` to `extents`, combining rows first, then columns, and writes the result at `offset` of an image with
/// `wholeWidth` columns.
void scale(const Pixels &pixels, const Part &part, const std::array<int64_t, 2> &extents,
           const std::array<int64_t, 2> &offset, Interpolation interpolation, int64_t wholeWidth,
           std::vector<float> &result) {
  const int64_t channels = pixels.channels;
  const std::vector<Neighbours> rows = neighboursOf(part.begin[0], part.extents[0], extents[0], interpolation);
  const std::vector<Neighbours> columns = neighboursOf(part.begin[1], part.extents[1], extents[1], interpolation);
  std::vector<float> line(static_cast<size_t>(pixels.width * channels));
  for (int64_t y = 0; y < extents[0]; ++y) {
    std::ranges::fill(line, 0.0f);
    const Neighbours &row = rows[static_cast<size_t>(y)];
    for (size_t k = 0; k < row.weights.size(); ++k) {
      const uint8_t *from = &pixels.bytes[(static_cast<size_t>(row.first) + k) * pixels.rowBytes()];
      for (size_t i = 0; i < line.size(); ++i)
        line[i] += row.weights[k] * static_cast<float>(from[i]);
    }
    float *to = &result[static_cast<size_t>(((offset[0] + y) * wholeWidth + offset[1]) * channels)];
    for (const Neighbours &column : columns)
      for (int64_t c = 0; c < channels; ++c) {
        float sum = 0.0f;
        for (size_t k = 0; k < column.weights.size(); ++k)
          sum += column.weights[k] *
                 line[(static_cast<size_t>(column.first) + k) * static_cast<size_t>(channels) + static_cast<size_t>(c)];
        *to++ = sum;
      }
  }
}

} // namespace

std::vector<float> scaled(const Pixels &pixels, const Scaling &scaling) {
  const std::array<int64_t, 2> &size = scaling.size;
  std::vector<float> result(static_cast<size_t>(size[0] * size[1] * pixels.channels), 0.0f);
  Part part{{0, 0}, {pixels.height, pixels.width}};
  std::array<int64_t, 2> extents = size, offset{0, 0};
  if (scaling.cropsToRatio)
    part = middle(pixels, size);
  if (scaling.padsToRatio) {
    // In float precision, as in tf.image.resize_with_pad.
    const auto number = [](int64_t extent) { return static_cast<float>(extent); };
    const float larger = std::max(number(pixels.height) / number(size[0]), number(pixels.width) / number(size[1]));
    const std::array<float, 2> exact{number(pixels.height) / larger, number(pixels.width) / larger};
    for (size_t i = 0; i < 2; ++i) {
      extents[i] = std::clamp<int64_t>(static_cast<int64_t>(exact[i]), 1, size[i]);
      offset[i] = std::clamp<int64_t>(static_cast<int64_t>((number(size[i]) - exact[i]) / 2), 0, size[i] - extents[i]);
    }
  }
  scale(pixels, part, extents, offset, scaling.interpolation, size[1], result);
  return result;
}

} // namespace halftone::detail
