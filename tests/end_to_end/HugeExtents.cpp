// Shapes whose number of elements exceeds 64 bits, and arguments above 32 bits: one clear error, and no wrong number.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using List = std::vector<Value>;

namespace {

constexpr int64_t wide = (int64_t(1) << 32) + 2, huge = int64_t(1) << 62;

struct Case {
  const char *name;
  std::function<Value()> make;
};
std::string refusal(const Case &each) {
  return errorOf([&] { (void)each.make(); });
}
Value image() { return Input({8, 8, 1}); }

} // namespace

TEST_CASE("Integer arguments above 32 bits are themselves, or an error that shows them") {
  CHECK(Integers(wide).list() == std::vector{wide});
  CHECK(Sections(wide).count() == wide);
  CHECK(Margins(wide).list()[0].before == wide);
  CHECK_THROWS_WITH(Integers(UINT64_MAX), Contains("ValueError: an integer argument is 18446744073709551615"));
  CHECK_THROWS_WITH(Margins(UINT64_MAX), Contains("a margin is 18446744073709551615"));
  CHECK_THROWS_WITH(Device::cuda(wide), Contains("cuda:4294967298 is not available"));
  CHECK(ZeroPadding2D({wide, 0})(image()).shape() == Shape{none, 2 * wide + 8, 8, 1});
  CHECK(ZeroPadding1D(wide)(Input({8, 1})).shape() == Shape{none, 2 * wide + 8, 1});
  CHECK(UpSampling1D(wide)(Input({8, 1})).shape() == Shape{none, 8 * wide, 1});
  CHECK(UpSampling2D({wide, 1})(image()).shape() == Shape{none, 8 * wide, 8, 1});
  for (const Case &each : {Case{"Conv2D", [] { return Conv2D(2, wide)(image()); }},
                           Case{"strides", [] { return Conv2D(2, 3, {.strides = wide})(image()); }},
                           Case{"dilation_rate", [] { return Conv2D(2, 3, {.dilation_rate = wide})(image()); }},
                           Case{"MaxPooling2D", [] { return MaxPooling2D(wide)(image()); }},
                           Case{"Cropping2D", [] { return Cropping2D(wide)(image()); }}}) {
    INFO(each.name);
    CHECK_THAT(refusal(each), Contains("4294967298"));
  }
  CHECK_THAT(refusal({"MaxPooling2D", [] { return MaxPooling2D(wide)(image()); }}), Contains("and at most 2^31"));
}

TEST_CASE("A shape that is too large is named by what asks for it, and nothing wraps") {
  const std::vector<Case> cases{
      {"broadcast_to",
       [] { return ops::broadcast_to(Input({1}, {.batch_size = 1}), {int64_t(1) << 32, int64_t(1) << 32}); }},
      {"Concatenate", [] { return Concatenate()({Input({huge}), Input({huge})}); }},
      {"Concatenate of four",
       [] { return Concatenate()({Input({huge}), Input({huge}), Input({huge}), Input({huge})}); }},
      {"repeat", [] { return ops::repeat(Input({8}), huge, 1); }},
      {"tile", [] { return ops::tile(Input({8}), {1, huge}); }},
      {"RepeatVector", [] { return RepeatVector(huge)(Input({8})); }},
      {"UpSampling1D", [] { return UpSampling1D(huge)(Input({8, 4})); }},
      {"UpSampling2D", [] { return UpSampling2D(huge)(image()); }},
      {"UpSampling2D bilinear", [] { return UpSampling2D(huge, {.interpolation = Interpolation::bilinear})(image()); }},
      {"UpSampling3D", [] { return UpSampling3D(huge)(Input({8, 8, 8, 1})); }},
      {"ZeroPadding1D", [] { return ZeroPadding1D(huge)(Input({8, 4})); }},
      {"ZeroPadding2D", [] { return ZeroPadding2D(huge)(image()); }},
      {"ZeroPadding2D of both sides", [] { return ZeroPadding2D({{INT64_MAX, INT64_MAX}, {1, 1}})(image()); }},
      {"Cropping2D", [] { return Cropping2D(huge)(image()); }},
      {"Cropping2D of both sides", [] { return Cropping2D({{INT64_MAX, INT64_MAX}, {1, 1}})(image()); }},
      {"Conv2DTranspose", [] { return Conv2DTranspose(1, 3, {.strides = int64_t(1) << 31})(Input({huge, 8, 1})); }},
      {"Resizing", [] { return Resizing(huge, huge)(image()); }},
      {"one_hot", [] { return ops::one_hot(Input({8}, {.dtype = int32}), INT64_MAX); }},
      {"Flatten", [] { return Flatten()(Input({huge, 4})); }},
      {"Dense", [] { return Dense(huge)(Input({8})); }},
      {"Embedding", [] { return Embedding(huge, huge)(Input({8}, {.dtype = int32})); }},
      {"Dot", [] { return Dot(-1)({Input({int64_t(1) << 40, 1}), Input({int64_t(1) << 40, 1})}); }},
      {"DepthwiseConv2D", [] { return DepthwiseConv2D(3, {.depth_multiplier = huge})(Input({8, 8, 4})); }},
      {"stack", [] { return ops::stack({Input({huge}), Input({huge}), Input({huge})}, 1); }}};
  for (const Case &each : cases) {
    const std::string text = refusal(each);
    INFO(each.name << ": " << text);
    CHECK_THAT(text, Contains("ValueError: ") || Contains("RuntimeError: ") || Contains("DeviceError: "));
    CHECK_THAT(text, !Contains("(None, -") && !Contains("InternalError") && !Contains("18446744073709551"));
  }
  const auto inJit = [](std::function<Value(const Value &)> f) {
    return errorOf([&] { (void)jit([f](const Value &x) -> Value { return f(x); })(Tensor::ones({1})); });
  };
  CHECK_THAT(inJit([](const Value &x) { return ops::broadcast_to(x, {int64_t(1) << 32, int64_t(1) << 32}); }),
             Contains("ValueError: a tensor of shape (4294967296, 4294967296) and dtype float32 is too large"));
  CHECK_THAT(inJit([](const Value &x) { return ops::repeat(x, INT64_MAX) + ops::repeat(x, INT64_MAX); }),
             Contains("is too large"));
  CHECK_THAT(inJit([](const Value &) { return ops::eye(int64_t(1) << 33); }), Contains("is too large"));
  CHECK_THAT(inJit([](const Value &x) {
               return ops::max_pool(ops::broadcast_to(x, {1, 64, 64, 64, 1}),
                                    {int64_t(1) << 31, int64_t(1) << 31, int64_t(1) << 31}, {.padding = "same"});
             }),
             Contains("is too large"));
}
