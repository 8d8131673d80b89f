// Convolutions, pooling, attention and their gradients are bit-identical for any number of threads, on each target.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/CpuDevice.h"
#include "runtime/devices/Registry.h"
#include "tests/end_to_end/ForcedTargets.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cstdlib>

using namespace halftone;
using namespace halftone::test;

namespace {

struct Case {
  const char *what;
  Shape image, kernel;
  std::function<Value(const Value &x, const Value &w)> result;
};

/// The sums of the kernel gradients are long enough to be split into parts. Positions and channels leave remainders.
std::vector<Case> cases() {
  return {{"a strided convolution",
           {7, 73, 71, 5},
           {3, 3, 5, 18},
           [](const Value &x, const Value &w) { return ops::conv(x, w, {.strides = {2}, .padding = "same"}); }},
          {"a convolution of many channels",
           {3, 23, 21, 18},
           {3, 3, 18, 40},
           [](const Value &x, const Value &w) { return ops::conv(x, w, {.padding = "same"}); }},
          {"a depthwise convolution",
           {7, 41, 39, 21},
           {3, 3, 21, 1},
           [](const Value &x, const Value &w) { return ops::depthwise_conv(x, w, {.padding = "same"}); }},
          {"a convolution in groups of few channels",
           {3, 41, 39, 44},
           {3, 3, 4, 44},
           [](const Value &x, const Value &w) { return ops::conv(x, w, {.padding = "same"}); }},
          {"a max pooling",
           {7, 41, 39, 21},
           {21},
           [](const Value &x, const Value &w) {
             return ops::max_pool(x * w, {3, 3}, {.strides = std::vector<int64_t>{2}, .padding = "same"});
           }},
          {"an attention",
           {2, 131, 4, 33},
           {2, 131, 2, 33},
           [](const Value &x, const Value &w) { return ops::dot_product_attention(x, w, w, {.is_causal = true}); }},
          {"an attention of one head, whose blocks share it",
           {1, 1100, 1, 17},
           {1, 300, 1, 17},
           [](const Value &x, const Value &w) { return ops::dot_product_attention(x, w, w, {.is_causal = true}); }},
          {"an attention of heads that share keys, with a mask that hides all keys of some queries",
           {1, 200, 4, 16},
           {1, 350, 1, 16},
           [](const Value &x, const Value &w) {
             const Value key = ops::arange(350.0), query = ops::expand_dims(ops::arange(200.0), 1);
             return ops::dot_product_attention(x, w, w, {.mask = ops::less(key + 30.0, query)});
           }},
          {"an attention with a mask", {2, 131, 4, 33}, {2, 231, 2, 33}, [](const Value &x, const Value &w) {
             const Value key = ops::arange(231.0), query = ops::expand_dims(ops::arange(131.0), 1);
             const Value distance = ops::abs(query - key);
             return ops::dot_product_attention(x, w, w, {.mask = ops::less(distance, ops::full_like(distance, 9.0))});
           }}};
}

Tensor varied(const Shape &shape, int64_t period, DType dtype) {
  std::vector<float> data(static_cast<size_t>(shape.elements()));
  for (int64_t i = 0; float &value : data)
    value = static_cast<float>(i++ * 7919 % period - period / 2) / 64;
  return Tensor(std::move(data), shape).astype(dtype);
}

/// Returns the result of a case, the sum of its columns, and the gradients by both operands.
detail::CompiledFunction functionOf(const Case &each) {
  return recorded(Run::compiled, [result = each.result](const std::vector<Value> &v) {
    const Value y = result(v[0], v[1]), wide = ops::cast(y, float32);
    std::vector<Value> found = gradients(ops::sum(ops::square(wide)), v);
    found.push_back(y);
    found.push_back(ops::sum(wide, {0, 1, 2}));
    return found;
  });
}

/// Sets the environment variable that selects the compile target, during its lifetime.
struct Compiling {
  explicit Compiling(const char *target) { setenv("HALFTONE_TARGET", target, 1); }
  ~Compiling() { unsetenv("HALFTONE_TARGET"); }
};

} // namespace

TEMPLATE_TEST_CASE("Convolutions, pooling, attention and their gradients have the same bits for any number of threads",
                   "", Host, Full<V2>, V3, Full<V4>, Zen4, Full<SapphireRapids>) {
  if (!TestType::runs()) {
    WARN(TestType::target << " was not tried: this CPU lacks some of its instructions");
    return;
  }
  const Compiling forTarget(TestType::target);
  const std::shared_ptr<CpuDevice> device = sharedCpuDevice().valueOrThrow();
  const int before = device->threads();
  for (const DType dtype : {float32, bfloat16})
    for (const Case &each : cases()) {
      INFO(each.what << " in " << name(dtype) << " on " << TestType::target);
      detail::CompiledFunction function = functionOf(each);
      const std::vector<Tensor> feeds = {varied(each.image, 1013, dtype), varied(each.kernel, 97, dtype)};
      std::vector<std::vector<double>> first;
      for (const int threads : {1, 2, 3, 7}) {
        device->setThreads(threads).orThrow();
        std::vector<std::vector<double>> found;
        for (const Tensor &tensor : function.run(feeds))
          found.push_back(numbers(tensor));
        if (first.empty())
          first = found;
        CHECK(found == first);
        CHECK(found.size() == 4);
      }
    }
  device->setThreads(before).orThrow();
}
