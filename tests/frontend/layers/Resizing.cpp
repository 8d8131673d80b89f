// Resizing, CenterCrop and UpSampling: exact values, integers, extents of 1 and rejected arguments.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("Resizing by the nearest pixel repeats and leaves out whole pixels") {
  const ResizingArgs nearest{.interpolation = Interpolation::nearest};
  CHECK(numbers(Resizing(1, 4, nearest)(counted({1, 1, 2, 1}))) == std::vector<double>{0, 0, 1, 1});
  CHECK(numbers(Resizing(1, 2, nearest)(counted({1, 1, 6, 1}))) == std::vector<double>{1, 4});
  CHECK(numbers(Resizing(3, 1, nearest)(counted({2, 1, 1}))) == std::vector<double>{0, 1, 1}); // one image
  const Tensor large = Tensor::of<int64_t>({1LL << 60, (1LL << 60) + 1}, {1, 1, 2, 1});
  CHECK(Resizing(1, 2, nearest)(large).to_vector<int64_t>() == large.to_vector<int64_t>());
}

TEST_CASE("Each weighted sum of pixels has weights that add up to 1") {
  for (const Interpolation method : {Interpolation::bilinear, Interpolation::bicubic, Interpolation::lanczos3})
    for (const int64_t extent : {1, 2, 7, 20})
      for (const bool antialias : {false, true}) {
        const Resizing layer(extent, extent, {.interpolation = method, .antialias = antialias});
        const size_t count = static_cast<size_t>(extent * extent);
        CHECK(near(numbers(layer(Tensor::full({1, 6, 5, 1}, 3))), std::vector<double>(count, 3), 1e-5));
      }
}

TEST_CASE("A weighted sum of integers is rounded to even and clamped to their range") {
  const Tensor step = Tensor::of<uint8_t>({0, 255}, {1, 1, 2, 1});
  const std::vector<double> smooth = numbers(Resizing(1, 4)(step));
  CHECK(smooth == std::vector<double>{0, 64, 191, 255});
  const Tensor edge = Tensor::of<uint8_t>({0, 0, 255, 255}, {1, 1, 4, 1});
  const Tensor sharp = Resizing(1, 8, {.interpolation = Interpolation::bicubic})(edge);
  CHECK(sharp.dtype() == uint8);
  CHECK(numbers(sharp)[2] == 0);   // below 0 before clipping
  CHECK(numbers(sharp)[5] == 255); // above 255 before clipping
  CHECK(Resizing(2, 2)(Tensor::of<int8_t>({-128, -128}, {1, 1, 2, 1})).to_vector<int8_t>() ==
        std::vector<int8_t>(4, -128));
}

TEST_CASE("CenterCrop cuts the middle, or cuts and resizes an image that is too small") {
  CHECK(numbers(CenterCrop(1, 2)(counted({1, 3, 4, 1}))) == std::vector<double>{5, 6});
  CHECK(numbers(CenterCrop(1, 3)(counted({1, 3, 4, 1}))) == std::vector<double>{4, 5, 6});
  CHECK(CenterCrop(4, 4)(counted({2, 3, 5, 2})).shape() == Shape{2, 4, 4, 2});
  CHECK(CenterCrop(2, 2)(Tensor::of<uint8_t>({1, 2, 3, 4}, {2, 2, 1})).dtype() == float32);
  CHECK(CenterCrop(2, 2, {.dtype = "mixed_bfloat16"})(counted({0, 3, 3, 1})).dtype() == bfloat16);
}

TEST_CASE("UpSampling repeats elements along each spatial axis") {
  CHECK(numbers(UpSampling1D(2)(counted({1, 2, 2}))) == std::vector<double>{0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(numbers(UpSampling2D({1, 2})(counted({1, 2, 2, 1}))) == std::vector<double>{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(UpSampling3D({1, 2, 3})(counted({1, 2, 2, 2, 1})).shape() == Shape{1, 2, 4, 6, 1});
  CHECK(UpSampling2D()(Tensor::ones({1, 0, 2, 1})).shape() == Shape{1, 0, 4, 1});
}

TEST_CASE("Sizes that cannot be are refused") {
  CHECK_THROWS_WITH(Resizing(0, 2), Contains("Argument `height` should be a positive integer. Received: height=0"));
  CHECK_THROWS_WITH(CenterCrop(2, -1), Contains("Argument `width` should be a positive integer"));
  CHECK_THROWS_WITH(Resizing(2, 2, {.crop_to_aspect_ratio = true, .pad_to_aspect_ratio = true}),
                    Contains("Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`."));
  CHECK_THROWS_WITH(Resizing(2, 2)(counted({2, 2})), Contains("Invalid images rank: expected rank 3 (single image) or "
                                                              "rank 4 (batch of images)"));
  CHECK_THROWS_WITH(UpSampling1D(0), Contains("Argument `size` should be a positive integer. Received: size=0"));
  CHECK_THROWS_WITH(UpSampling2D({1, 0}),
                    Contains("The `size` argument must be a tuple of 2 integers. Received size=(1, "
                             "0), with values that do not satisfy `value >= 1`"));
  CHECK_THROWS_WITH(UpSampling3D({1, 2}), Contains("must be a tuple of 3 integers. Received size=(1, 2)"));
  CHECK_THROWS_WITH(UpSampling2D(2, {.interpolation = Interpolation::bilinear})(counted({1, 2, 2})),
                    Contains("expected ndim=4, found ndim=3"));
}
