// Embedding: Keras's values, dtypes and errors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;

namespace {

/// A table of 4 rows. Its elements i / 8 + 0.0001 are not exact in float16 or bfloat16.
Embedding table(const PolicyArg &policy) {
  Embedding layer(4, 3, {.dtype = policy});
  (void)layer(Tensor::zeros({1}, int32));
  std::vector<float> rows;
  for (int i = 0; i < 12; ++i)
    rows.push_back(static_cast<float>(i) / 8 + 0.0001f);
  layer.set_weights({Tensor(rows, {4, 3})});
  return layer;
}

} // namespace

// Values from Keras 3.15 with JAX.
// policies 11.8
TEST_CASE("Rows are read as they are stored and given in the compute dtype") {
  Tensor indices(std::vector<int32_t>{0, 3, 1, 1}, {2, 2});
  struct Case {
    const char *policy;
    DType result;
    Row firstRow, lastRow;
  };
  for (const Case &each :
       {Case{"float32",
             float32,
             {9.999999747378752e-05, 0.1251000016927719, 0.2500999867916107},
             {1.125100016593933, 1.250100016593933, 1.375100016593933}},
        Case{"mixed_float16", float16, {0.00010001659393310547, 0.1251220703125, 0.25}, {1.125, 1.25, 1.375}},
        Case{"mixed_bfloat16", bfloat16, {0.00010013580322265625, 0.125, 0.25}, {1.125, 1.25, 1.375}}}) {
    INFO(each.policy);
    Embedding layer = table(each.policy);
    CHECK(layer.embeddings().dtype() == float32);
    CHECK(layer.embeddings().path() == layer.path() + "/embeddings");
    Tensor y = layer(indices);
    CHECK(y.dtype() == each.result);
    CHECK(y.shape() == Shape{2, 2, 3});
    Row found = numbers(y);
    CHECK(Row(found.begin(), found.begin() + 3) == each.firstRow);
    CHECK(Row(found.begin() + 3, found.begin() + 6) == each.lastRow);
    CHECK(Row(found.begin() + 6, found.begin() + 9) == Row(found.begin() + 9, found.end()));
  }
}

// policies 11.8
TEST_CASE("Indices of other dtypes become int32; those that name no row clamp") {
  Embedding layer = table("float32");
  auto firstOf = [&](const Tensor &indices) {
    Row all = numbers(layer(indices)), first;
    for (size_t i = 0; i < all.size(); i += 3)
      first.push_back(std::round(all[i] * 8));
    return first;
  };
  CHECK(firstOf(Tensor({0.9f, 1.2f, 1.99f}, {3})) == Row{0, 3, 3});
  CHECK(firstOf(Tensor(std::vector<uint8_t>{3}, {1})) == Row{9});
  CHECK(firstOf(Tensor(std::vector<int64_t>{2, int64_t(1) << 40}, {2})) == Row{6, 9});
  CHECK(firstOf(Tensor(std::vector<int32_t>{-1, -5, 4, 3}, {4})) == Row{0, 0, 9, 9});
  // Under mixed_float16 an index of 2049 remains 2049: inputs are not autocast.
  Embedding large(3000, 1, {.dtype = "mixed_float16"});
  (void)large(Tensor::zeros({1}));
  std::vector<float> rows(3000);
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = i == 2049 ? 1.0f : 0.0f;
  large.set_weights({Tensor(rows, {3000, 1})});
  CHECK(numbers(large(Tensor({2049.0f}, {1}))) == Row{1});
}

TEST_CASE("An Embedding's table is uniform in [-0.05, 0.05] unless set otherwise, and regularized as said") {
  Embedding layer(1000, 8);
  (void)layer(Tensor::zeros({1}, int32));
  Row all = numbers(layer.embeddings());
  auto [low, high] = std::minmax_element(all.begin(), all.end());
  CHECK((*low >= -0.05 && *low < -0.0499));
  CHECK((*high <= 0.05 && *high > 0.0499));
  CHECK(layer.count_params() == 8000);
  CHECK_THAT(layer.get_config().dump(), Contains("\"input_dim\":1000") && Contains("\"output_dim\":8"));
  CHECK_THAT(errorOf([] { Embedding(0, 3); }),
             Contains("ValueError: `input_dim` must be a positive integer. Received: input_dim=0"));
  CHECK_THAT(errorOf([] { Embedding(3, -1); }), Contains("`output_dim` must be a positive integer"));
}

TEST_CASE("An Embedding that is given weights begins with them") {
  const Tensor table({1, 2, 3, 4, 5, 6}, {3, 2});
  const Embedding layer(3, 2, {.weights = table});
  CHECK(numbers(layer(Tensor::of<int32_t>({2, 0}, {2}))) == std::vector<double>{5, 6, 1, 2});
  CHECK_FALSE(layer.get_config().contains("weights"));
  CHECK_THROWS_WITH(Embedding(2, 2, {.weights = table}),
                    Contains("`weights` must have the shape of the table, (2, 2). Received: weights.shape=(3, 2)"));
}

TEST_CASE("PositionEmbedding gives each step its row, in the compute dtype and for every sample") {
  const PositionEmbedding layer(4, {.initializer = "ones", .dtype = "mixed_bfloat16"});
  const Tensor y = layer(Tensor::zeros({2, 3, 2}));
  CHECK(y.dtype() == bfloat16);
  CHECK(layer.position_embeddings().shape() == Shape{4, 2});
  CHECK(layer.position_embeddings().dtype() == float32);
  layer.set_weights({counted({4, 2})});
  CHECK(numbers(layer(Tensor::zeros({2, 3, 2}))) == Row{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
  CHECK(numbers(layer(Tensor::zeros({1, 1, 2}))) == Row{0, 1});
  CHECK(layer(Tensor::zeros({1, 0, 2})).shape() == Shape{1, 0, 2});
  CHECK_THAT(errorOf([&] { (void)layer(Tensor::zeros({1, 5, 2})); }),
             Contains("ValueError: PositionEmbedding has a table of 4 positions. Received an input of 5 steps"));
  CHECK_THAT(errorOf([] { (void)PositionEmbedding(0); }), Contains("sequence_length"));
  CHECK(layers::deserialize(layers::serialize(layer)).get_config().get_int("sequence_length") == 4);
}

TEST_CASE("PositionEmbedding takes inputs whose steps are not known before the call") {
  const Input x({none, 2});
  const PositionEmbedding layer(4, {.initializer = "ones"});
  const Value y = layer(x);
  CHECK(y.shape() == Shape{none, none, 2});
  const Model model({x}, {y});
  CHECK(numbers(model(Tensor::zeros({1, 2, 2}))) == Row{1, 1, 1, 1});
  CHECK_THAT(errorOf([&] { (void)model(Tensor::zeros({1, 5, 2})); }), Contains("Received an input of 5 steps"));
  CHECK_THAT(errorOf([&] { (void)layer(Input({7, 2})); }), Contains("Received an input of 7 steps"));
}
