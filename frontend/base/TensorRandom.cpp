// Draws random tensors on the host, with the same random words as draws in graphs.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Philox.h"
#include "frontend/base/RandomRules.h"
#include "halftone/Tensor.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Convert.h"
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace halftone {
using namespace detail;

namespace {

/// Generates the words of the first streams of a key, in element order.
class Words {
public:
  explicit Words(const KeyWords &key) : key_(key) {}
  void moveTo(int64_t index) {
    if (index % 4 == 0)
      for (uint32_t stream = 0; stream < streams; ++stream)
        blocks_[stream] = dialect::philox4x32(
            {static_cast<uint32_t>(index / 4), static_cast<uint32_t>(static_cast<uint64_t>(index / 4) >> 32), 0, 0},
            {key_[0] + offsetOfStream(stream), key_[1]});
    position_ = static_cast<size_t>(index % 4);
  }
  uint32_t operator()(uint32_t stream) const { return blocks_[stream][position_]; }
  /// A value in [0, 1), shifted by `offset` steps.
  template <class F> F uniform(F offset = 0, uint32_t which = 0) const {
    if constexpr (std::is_same_v<F, float>)
      return (static_cast<F>((*this)(which) >> 8) + offset) * 0x1p-24f;
    else
      return (static_cast<F>((*this)(2 * which) >> 5) * 0x1p26 + static_cast<F>((*this)(2 * which + 1) >> 6) + offset) *
             0x1p-53;
  }

private:
  static constexpr uint32_t streams = 4;
  KeyWords key_;
  std::array<std::array<uint32_t, 4>, streams> blocks_{};
  size_t position_ = 0;
};

/// Fills a tensor with elements f(words), computed in T, a few thousand elements at a time.
template <class T, class F> Tensor drawn(const Shape &shape, DType from, DType dtype, const KeyWords &key, F f) {
  Tensor result = TensorAccess::allocate(dtype, shape);
  const int64_t count = result.size(), width = itemsize(dtype);
  std::vector<T> block(static_cast<size_t>(std::min<int64_t>(count, 4096)));
  Words words(key);
  for (int64_t begin = 0; begin < count; begin += std::ssize(block)) {
    const int64_t length = std::min(std::ssize(block), count - begin);
    for (int64_t i = 0; i < length; ++i) {
      words.moveTo(begin + i);
      block[static_cast<size_t>(i)] = f(words);
    }
    convert(from, block.data(), dtype, TensorAccess::mutableData(result) + begin * width, length).orThrow();
  }
  return result;
}

template <class F> F uniformOf(const UniformRule &rule, F u) {
  const F scale = static_cast<F>(rule.scale);
  const F product = rule.needsMinimum ? std::min(u * scale, scale) : u * scale;
  F v = (product + static_cast<F>(rule.offset)) * static_cast<F>(rule.factor);
  if (rule.needsLowest)
    v = std::max(v, static_cast<F>(rule.lowest));
  return rule.needsHighest ? std::min(v, static_cast<F>(rule.highest)) : v;
}

template <class F> F normalOf(const NormalTensorArgs &args, const Words &words) {
  const F radius = std::sqrt(std::log(words.uniform<F>(F(0.5))) * F(-2));
  const F x = radius * std::cos(words.uniform<F>(0, 1) * F(2 * std::numbers::pi));
  return x * static_cast<F>(args.stddev) + static_cast<F>(args.mean);
}

} // namespace

Tensor Tensor::normal(const Shape &shape, const NormalTensorArgs &args) {
  requireFloat("Tensor::normal", args.dtype);
  requireExtents("Tensor::normal()", shape);
  const KeyWords key = keyOfSeed("Tensor::normal()", args.seed);
  if (args.dtype == DType::float64)
    return drawn<double>(shape, DType::float64, args.dtype, key,
                         [&](const Words &words) { return normalOf<double>(args, words); });
  return drawn<float>(shape, DType::float32, args.dtype, key,
                      [&](const Words &words) { return normalOf<float>(args, words); });
}

Tensor Tensor::uniform(const Shape &shape, const UniformTensorArgs &args) {
  const UniformRule rule = uniformRule("Tensor::uniform", args.minval, args.maxval, args.dtype);
  requireExtents("Tensor::uniform()", shape);
  const KeyWords key = keyOfSeed("Tensor::uniform()", args.seed);
  if (args.dtype == DType::float64)
    return drawn<double>(shape, DType::float64, args.dtype, key,
                         [&](const Words &words) { return uniformOf(rule, words.uniform<double>()); });
  return drawn<float>(shape, DType::float32, args.dtype, key,
                      [&](const Words &words) { return uniformOf(rule, words.uniform<float>()); });
}

Tensor Tensor::randint(const Shape &shape, int64_t minval, int64_t maxval, const RandintTensorArgs &args) {
  const RandintRule rule = randintRule("Tensor::randint", minval, maxval, args.dtype);
  requireExtents("Tensor::randint()", shape);
  const KeyWords key = keyOfSeed("Tensor::randint()", args.seed);
  const auto upper = [](uint64_t x) { return x >> 32; };
  const auto lower = [](uint64_t x) { return x & 0xFFFFFFFFu; };
  return drawn<uint64_t>(shape, DType::uint64, args.dtype, key, [&](const Words &words) {
    const uint64_t first = words(0), second = words(1), third = words(2);
    const uint64_t v = rule.words == 1   ? upper(first * rule.range)
                       : rule.words == 2 ? scaledWords(first, second, rule.range, upper)
                                         : scaledWords(first, second, third, rule.range, upper, lower);
    return v + static_cast<uint64_t>(minval);
  });
}

} // namespace halftone
