// Convolutions on Values: values compared with plain loops, dtypes, gradients, and calls that are rejected.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include "tests/frontend/Slopes.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <random>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;
using List = std::vector<Value>;

namespace {

Tensor randomTensor(const Shape &shape, unsigned seed) {
  std::mt19937 generator(seed);
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  Row values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(std::uniform_int_distribution<int>(-32, 32)(generator) / 16.0);
  return Tensor(values, shape).astype(float64);
}

/// The convolution over two spatial axes, channels last, with `low` elements of padding before each axis.
struct PlainConv {
  int64_t stride = 1, dilation = 1, lowRows = 0, lowColumns = 0, rows = 0, columns = 0;
  Row operator()(const Tensor &x, const Tensor &w) const {
    const Row image = numbers(x), kernel = numbers(w);
    const Shape xs = x.shape(), ws = w.shape();
    const int64_t groups = xs[3] / ws[2], filters = ws[3] / groups;
    Row y;
    for (int64_t n = 0; n < xs[0]; ++n)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
          for (int64_t f = 0; f < ws[3]; ++f) {
            double sum = 0;
            for (int64_t a = 0; a < ws[0]; ++a)
              for (int64_t b = 0; b < ws[1]; ++b)
                for (int64_t c = 0; c < ws[2]; ++c) {
                  const int64_t p = i * stride + a * dilation - lowRows, q = j * stride + b * dilation - lowColumns;
                  if (p < 0 || q < 0 || p >= xs[1] || q >= xs[2])
                    continue;
                  const int64_t channel = f / filters * ws[2] + c;
                  sum += image[static_cast<size_t>(((n * xs[1] + p) * xs[2] + q) * xs[3] + channel)] *
                         kernel[static_cast<size_t>(((a * ws[1] + b) * ws[2] + c) * ws[3] + f)];
                }
            y.push_back(sum);
          }
    return y;
  }
};

} // namespace

TEST_CASE("A convolution is a sum of products over the taps and channels") {
  const Tensor x = randomTensor({2, 5, 6, 4}, 1), w = randomTensor({3, 2, 4, 3}, 2),
               grouped = randomTensor({3, 2, 2, 6}, 3);
  for (Run run : everyRun) {
    const std::vector<Tensor> y = runOnce(run, {x, w, grouped}, [](const List &v) {
      return List{ops::conv(v[0], v[1]), ops::conv(v[0], v[1], {.strides = {2}, .padding = "same"}),
                  ops::conv(v[0], v[1], {.padding = "same", .dilation_rate = {2}}), ops::conv(v[0], v[2])};
    });
    CHECK(y[0].shape() == Shape({2, 3, 5, 3}));
    CHECK(numbers(y[0]) == PlainConv{.rows = 3, .columns = 5}(x, w));
    CHECK(y[1].shape() == Shape({2, 3, 3, 3})); // rows: 1 before and 1 after; columns: none
    CHECK(numbers(y[1]) == PlainConv{.stride = 2, .lowRows = 1, .rows = 3, .columns = 3}(x, w));
    CHECK(numbers(y[2]) == PlainConv{.dilation = 2, .lowRows = 2, .lowColumns = 1, .rows = 5, .columns = 6}(x, w));
    CHECK(numbers(y[3]) == PlainConv{.rows = 3, .columns = 5}(x, grouped));
  }
}

TEST_CASE("channels_first gives the same numbers with the channels in front") {
  const Tensor x = randomTensor({2, 5, 6, 4}, 1), w = randomTensor({3, 2, 4, 3}, 2);
  for (Run run : everyRun) {
    const std::vector<Tensor> y = runOnce(run, {x, w}, [](const List &v) {
      const Value front = ops::transpose(v[0], {0, 3, 1, 2});
      return List{ops::conv(v[0], v[1]),
                  ops::transpose(ops::conv(front, v[1], {.data_format = "channels_first"}), {0, 2, 3, 1}),
                  ops::max_pool(v[0], {2, 2}),
                  ops::transpose(ops::max_pool(front, {2, 2}, {.data_format = "channels_first"}), {0, 2, 3, 1})};
    });
    CHECK(numbers(y[0]) == numbers(y[1]));
    CHECK(numbers(y[2]) == numbers(y[3]));
  }
}

TEST_CASE("A depthwise convolution keeps channels apart; a separable one mixes them afterwards") {
  const Tensor x = randomTensor({1, 4, 4, 3}, 4), w = randomTensor({2, 2, 3, 2}, 5),
               points = randomTensor({1, 1, 6, 5}, 6);
  for (Run run : everyRun) {
    const std::vector<Tensor> y = runOnce(run, {x, w, points}, [](const List &v) {
      // The same as a convolution with one group per channel.
      const Value grouped = ops::reshape(v[1], {2, 2, 1, 6});
      return List{ops::depthwise_conv(v[0], v[1]), ops::conv(v[0], grouped), ops::separable_conv(v[0], v[1], v[2]),
                  ops::conv(ops::depthwise_conv(v[0], v[1]), v[2])};
    });
    CHECK(y[0].shape() == Shape({1, 3, 3, 6}));
    CHECK(numbers(y[0]) == numbers(y[1]));
    CHECK(numbers(y[1]) == PlainConv{.rows = 3, .columns = 3}(x, Tensor(numbers(w), {2, 2, 1, 6})));
    CHECK(numbers(y[2]) == numbers(y[3]));
  }
}

TEST_CASE("A causal convolution sees no later element") {
  const Tensor x({1, 2, 3, 4}, {1, 4, 1}), w({1, 10}, {2, 1, 1});
  for (Run run : everyRun) {
    const std::vector<Tensor> y = runOnce(run, {x, w}, [](const List &v) {
      return List{ops::conv(v[0], v[1], {.padding = "causal"}),
                  ops::conv(v[0], v[1], {.padding = "causal", .dilation_rate = {2}})};
    });
    CHECK(numbers(y[0]) == Row{10, 21, 32, 43});
    CHECK(numbers(y[1]) == Row{10, 20, 31, 42});
  }
}

TEST_CASE("A transposed convolution is the gradient of a convolution by its inputs") {
  const Tensor x({1, 2, 3}, {1, 3, 1}), w({1, 10, 100}, {3, 1, 1});
  for (Run run : everyRun) {
    const std::vector<Tensor> y = runOnce(run, {x, w}, [](const List &v) {
      return List{ops::conv_transpose(v[0], v[1]), ops::conv_transpose(v[0], v[1], {.strides = {2}}),
                  ops::conv_transpose(v[0], v[1], {.strides = {2}, .padding = "same"}),
                  ops::conv_transpose(v[0], v[1], {.strides = {2}, .output_padding = {{1}}})};
    });
    CHECK(numbers(y[0]) == Row{1, 12, 123, 230, 300});
    CHECK(numbers(y[1]) == Row{1, 10, 102, 20, 203, 30, 300});
    CHECK(numbers(y[2]) == Row{1, 10, 102, 20, 203, 30});
    CHECK(numbers(y[3]) == Row{1, 10, 102, 20, 203, 30, 300, 0});
  }
}

TEST_CASE("Gradients of convolutions agree with differences") {
  const Tensor x = randomTensor({2, 5, 4, 4}, 7), w = randomTensor({3, 2, 2, 4}, 8),
               depthwise = randomTensor({2, 2, 4, 2}, 9), turned = randomTensor({3, 2, 3, 4}, 10);
  CHECK(slopeError({x, w},
                   [](const List &v) { return ops::conv(v[0], v[1], {.strides = {2, 1}, .padding = "same"}); }) < 1e-5);
  CHECK(slopeError({x, depthwise}, [](const List &v) { return ops::depthwise_conv(v[0], v[1]); }) < 1e-5);
  CHECK(slopeError({x, turned}, [](const List &v) {
          return ops::conv_transpose(v[0], v[1], {.strides = {2}, .padding = "same"});
        }) < 1e-5);
}

TEST_CASE("Convolutions that do not fit are refused with the numbers that clash") {
  const auto refused = [](const Shape &inputs, const Shape &kernel, const ops::ConvArgs &args, const char *expected) {
    const auto run = [&] {
      runOnce(Run::interpreted, {Tensor::zeros(inputs), Tensor::zeros(kernel)},
              [&](const List &v) { return List{ops::conv(v[0], v[1], args)}; });
    };
    try {
      run();
    } catch (const Error &error) {
      CHECK(error.kind() == ErrorKind::value_error);
      CHECK_THAT(error.message(), Contains(expected));
      return;
    }
    FAIL("not refused: " << expected);
  };
  refused({1, 2, 2, 3}, {3, 3, 3, 4}, {}, "a window of 3 elements does not lie within an axis of 2");
  refused({1, 0, 5, 3}, {3, 3, 3, 4}, {}, "a window of 3 elements does not lie within an axis of 0");
  refused({1, 5, 5, 3}, {3, 3, 3, 4}, {.strides = {-1}},
          "strides must be one integer, or 2 of them, of at least 1; got (-1)");
  refused({1, 5, 5, 3}, {3, 3, 3, 4}, {.strides = {1, 2, 1}}, "got (1, 2, 1)");
  refused({1, 5, 5, 3}, {3, 3, 3, 4}, {.padding = "causal"}, "padding must be \"valid\" or \"same\"; got \"causal\"");
  refused({1, 5, 5, 3}, {3, 3, 2, 4}, {}, "got input channels 3 and kernel in_channels 2");
  refused({1, 5, 5, 4}, {3, 3, 2, 3}, {}, "got 3 filters and 2 groups");
  refused({1, 5, 3}, {3, 3, 3, 4}, {}, "got shapes (1, 5, 3) and (3, 3, 3, 4)");
}

TEST_CASE("An image without elements gives sums of nothing under padding same") {
  for (Run run : everyRun) {
    const std::vector<Tensor> y =
        runOnce(run, {Tensor::zeros({2, 0, 3, 2}), Tensor::ones({3, 3, 2, 4}), Tensor::zeros({0, 4, 4, 2})},
                [](const List &v) { return List{ops::conv(v[0], v[1], {.padding = "same"}), ops::conv(v[2], v[1])}; });
    CHECK(y[0].shape() == Shape({2, 0, 3, 4}));
    CHECK(y[1].shape() == Shape({0, 2, 2, 4}));
  }
}
