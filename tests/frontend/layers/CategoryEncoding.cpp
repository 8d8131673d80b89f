// CategoryEncoding: weights, policies and rejected arguments. KerasStrings.cpp compares vectors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("Counts are weighted, integers outside count nowhere, and an empty row has zeros") {
  const CategoryEncoding counts(4, {.output_mode = "count", .trainable = false, .dtype = "float32", .name = "counts"});
  CHECK(counts.name() == "counts");
  const Tensor x({{0, 1, 1}, {3, 9, -1}}, int32), weights({{0.5, 1, 2}, {3, 4, 5}});
  CHECK(numbers(counts(x)) == std::vector<double>{1, 2, 0, 0, 0, 0, 0, 1});
  CHECK(numbers(counts(Tensors({x, weights}))) == std::vector<double>{0.5, 3, 0, 0, 0, 0, 0, 3});
  CHECK(numbers(CategoryEncoding(2)(Tensor(std::vector<int32_t>{}, {1, 0}))) == std::vector<double>{0, 0});
}

TEST_CASE("A file has the weights of a call under Keras's name of the argument") {
  Input x({3}, {.dtype = int32}), weights({3});
  const Model model({x, weights}, {CategoryEncoding(4, {.output_mode = "count"})(Values{x, weights})});
  CHECK_THAT(model.to_json(), Contains("\"count_weights\""));
  model.save("counts.keras", {.overwrite = true});
  const Tensors data({Tensor({{1, 2, 2}}, int32), Tensor({{0.5, 1, 2}})});
  CHECK(numbers(load_model("counts.keras").predict(data, {.verbose = 0})) == std::vector<double>{0, 0.5, 3, 0});
}

TEST_CASE("What does not fit is refused") {
  CHECK_THAT(errorOf([] { (void)CategoryEncoding(0); }), Contains("`num_tokens` must be >= 1"));
  CHECK_THAT(errorOf([] { (void)CategoryEncoding(3, {.output_mode = "int"}); }),
             Contains("Unknown arg for output_mode: int"));
  const Tensor x({{0, 1}}, int32);
  CHECK_THAT(errorOf([&] { (void)CategoryEncoding(3)(Tensors({x, x})); }), Contains("`count_weights` is not used"));
  CHECK_THAT(errorOf([&] { (void)CategoryEncoding(3, {.output_mode = "count"})(Tensors({x, Tensor({1.0})})); }),
             Contains("must have the shape of the input"));
  CHECK_THAT(errorOf([&] { (void)CategoryEncoding(3)(Tensor({{{0, 1}}}, int32)); }), Contains("at most 2 axes"));
  CHECK_THAT(errorOf([&] { (void)CategoryEncoding(3)(Tensor(std::vector<std::string>{"a"})); }), Contains("strings"));
}
