// Pillow's resampling: 22-bit weights, the horizontal pass first, each pass rounded to 8 bits.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/ImageResample.h"
#include <algorithm>
#include <cmath>
#include <numbers>

namespace halftone::detail {

namespace {

constexpr int weightBits = 22;

double sinc(double x) { return x == 0.0 ? 1.0 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x); }

struct Filter {
  double support;
  double (*weight)(double distance);
};
Filter filterOf(Resample resample) {
  switch (resample) {
  case Resample::box:
    return {0.5, [](double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }};
  case Resample::hamming:
    return {1.0, [](double x) {
              return std::abs(x) >= 1.0 ? 0.0 : sinc(x) * (0.54 + 0.46 * std::cos(std::numbers::pi * x));
            }};
  case Resample::bicubic:
    return {2.0, [](double given) {
              constexpr double a = -0.5;
              const double x = std::abs(given);
              return x < 1.0   ? ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
                     : x < 2.0 ? (((x - 5.0) * x + 8.0) * x - 4.0) * a
                               : 0.0;
            }};
  case Resample::lanczos:
    return {3.0, [](double x) { return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0; }};
  case Resample::nearest:
  case Resample::bilinear:
    break;
  }
  return {1.0, [](double x) { return std::max(1.0 - std::abs(x), 0.0); }};
}

/// The input pixels that contribute to an output pixel, with their weights.
struct Taps {
  int64_t first;
  std::vector<int64_t> weights;
};
std::vector<Taps> tapsOf(int64_t extent, int64_t begin, int64_t from, int64_t to, Resample resample) {
  const Filter filter = filterOf(resample);
  const double scale = static_cast<double>(from) / static_cast<double>(to), step = std::max(scale, 1.0);
  const double support = filter.support * step;
  std::vector<Taps> all;
  const auto towardZero = [](double x) { return static_cast<int64_t>(x); };
  for (int64_t i = 0; i < to; ++i) {
    const double center = static_cast<double>(begin) + (static_cast<double>(i) + 0.5) * scale;
    const int64_t first = std::max<int64_t>(towardZero(center - support + 0.5), 0);
    const int64_t end = std::min(towardZero(center + support + 0.5), extent);
    std::vector<double> weights;
    double total = 0.0;
    for (int64_t x = first; x < end; ++x) {
      weights.push_back(filter.weight((static_cast<double>(x) - center + 0.5) / step));
      total += weights.back();
    }
    Taps taps{first, {}};
    for (const double weight : weights)
      taps.weights.push_back(
          static_cast<int64_t>(std::floor((total == 0.0 ? weight : weight / total) * (1 << weightBits) + 0.5)));
    all.push_back(std::move(taps));
  }
  return all;
}
/// A (outer, extent, inner) array. Output element (outer, i, inner) is a weighted sum of the elements (outer, first +
/// k, inner).
struct Layout {
  int64_t outer, extent, inner;
};
std::vector<uint8_t> weighed(const std::vector<uint8_t> &bytes, const Layout &layout, const std::vector<Taps> &taps) {
  std::vector<uint8_t> result;
  result.reserve(static_cast<size_t>(layout.outer * std::ssize(taps) * layout.inner));
  for (int64_t outer = 0; outer < layout.outer; ++outer)
    for (const Taps &each : taps)
      for (int64_t inner = 0; inner < layout.inner; ++inner) {
        int64_t sum = int64_t{1} << (weightBits - 1);
        auto at = static_cast<size_t>((outer * layout.extent + each.first) * layout.inner + inner);
        for (const int64_t weight : each.weights) {
          sum += weight * bytes[at];
          at += static_cast<size_t>(layout.inner);
        }
        result.push_back(static_cast<uint8_t>(std::clamp<int64_t>(sum >> weightBits, 0, 255)));
      }
  return result;
}

/// For each output pixel, the index of the nearest input pixel.
std::vector<int64_t> nearest(int64_t begin, int64_t from, int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<int64_t> all;
  double position = static_cast<double>(begin) + scale * 0.5;
  for (int64_t i = 0; i < to; ++i, position += scale)
    all.push_back(std::min(static_cast<int64_t>(position), begin + from - 1));
  return all;
}
Pixels looked(const Pixels &pixels, const Box &box, std::array<int64_t, 2> size) {
  Pixels result{size[0], size[1], pixels.channels, {}};
  const std::vector<int64_t> columns = nearest(box.left, box.width, size[1]);
  for (const int64_t row : nearest(box.top, box.height, size[0]))
    for (const int64_t column : columns) {
      const auto at = pixels.bytes.begin() + (row * pixels.width + column) * pixels.channels;
      result.bytes.insert(result.bytes.end(), at, at + pixels.channels);
    }
  return result;
}

/// Premultiplies colours by alpha, and reverts it.
void weighColours(Pixels &pixels) {
  for (size_t i = 0; i < pixels.bytes.size(); ++i)
    if (i % 4 != 3) {
      const uint32_t product = uint32_t{pixels.bytes[i]} * pixels.bytes[i | 3] + 128;
      pixels.bytes[i] = static_cast<uint8_t>(((product >> 8) + product) >> 8);
    }
}
void unweighColours(Pixels &pixels) {
  for (size_t i = 0; i < pixels.bytes.size(); ++i) {
    const uint32_t opacity = pixels.bytes[i | 3];
    if (i % 4 != 3 && opacity != 0 && opacity != 255)
      pixels.bytes[i] = static_cast<uint8_t>(std::min<uint32_t>(255 * pixels.bytes[i] / opacity, 255));
  }
}

} // namespace

Pixels resampled(const Pixels &pixels, const Box &box, std::array<int64_t, 2> size, Resample filter) {
  const bool isWhole = box.height == pixels.height && box.width == pixels.width;
  if (isWhole && size[0] == pixels.height && size[1] == pixels.width)
    return pixels;
  if (filter == Resample::nearest)
    return looked(pixels, box, size);
  Pixels result = pixels;
  if (pixels.channels == 4)
    weighColours(result);
  if (size[1] != result.width || box.width != result.width)
    result.bytes = weighed(result.bytes, {result.height, result.width, result.channels},
                           tapsOf(result.width, box.left, box.width, size[1], filter));
  result.width = size[1];
  if (size[0] != result.height || box.height != result.height)
    result.bytes = weighed(result.bytes, {1, result.height, result.width * result.channels},
                           tapsOf(result.height, box.top, box.height, size[0], filter));
  result.height = size[0];
  if (pixels.channels == 4)
    unweighColours(result);
  return result;
}

} // namespace halftone::detail
