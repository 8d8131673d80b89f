// padded_batch: the longest sequence of a batch, length buckets, what is padded, and errors.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/ModelState.h"
#include "frontend/training/Trainer.h"
#include "halftone/Halftone.h"
#include "tests/frontend/data/Elements.h"
#include <catch2/catch.hpp>
#include <map>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {
/// Sequences of ones of these lengths, with their lengths as y.
Dataset ofLengths(const std::vector<int64_t> &lengths, bool hasSteps = false) {
  return Dataset::from_generator(
      [=] {
        return [=, i = size_t{0}]() mutable -> std::optional<Batch> {
          if (i == lengths.size())
            return std::nullopt;
          const int64_t length = lengths[i++];
          if (hasSteps)
            return Batch{
                .x = Tensor::ones({length, 2}), .y = Tensor::ones({length}), .sample_weight = Tensor::ones({length})};
          return Batch{.x = Tensor::ones({length}), .y = Tensor::full({}, double(length))};
        };
      },
      std::ssize(lengths));
}
} // namespace

TEST_CASE("padded_batch pads each axis to the longest of its batch") {
  const Dataset data = ofLengths({2, 0, 3, 1, 1}).padded_batch(2, {.padding_value = -1.0});
  CHECK(data.cardinality() == 3);
  std::vector<std::vector<float>> rows;
  for (const Batch &batch : data)
    rows.push_back(batch.x[0].to_vector<float>());
  CHECK(rows == std::vector<std::vector<float>>{{1, 1, -1, -1}, {1, 1, 1, 1, -1, -1}, {1}});
  CHECK(ofLengths({2, 0, 3}).padded_batch(2, {.drop_remainder = true}).cardinality() == 1);
  const auto images = Dataset::from_generator([] {
    return [i = 0]() mutable -> std::optional<Batch> {
      ++i;
      return i > 2 ? std::nullopt : std::optional(Batch{.x = Tensor::full({i, 3 - i, 1}, i, uint8)});
    };
  });
  for (const Batch &batch : images.padded_batch(2)) {
    CHECK(batch.x[0].shape() == Shape{2, 2, 2, 1});
    CHECK(batch.x[0].to_vector<uint8_t>() == std::vector<uint8_t>{1, 1, 0, 0, 2, 0, 2, 0});
  }
  CHECK(numbersOf(ofLengths({}).padded_batch(2)).empty());
  CHECK(numbersOf(ofLengths({0, 0}).padded_batch(2)).empty());
}

TEST_CASE("With boundaries, batches have elements of one bucket and its length, in the order in which buckets fill") {
  const Dataset data = ofLengths({1, 9, 4, 3, 10, 5, 2, 8}).padded_batch(2, {.bucket_boundaries = {4, 10}});
  CHECK(data.cardinality() == std::nullopt);
  std::vector<int64_t> lengths;
  std::vector<float> members;
  for (const Batch &batch : data) {
    lengths.push_back(batch.x[0].shape()[1]);
    for (const float length : batch.y[0].to_vector<float>())
      members.push_back(length);
  }
  CHECK(lengths == std::vector<int64_t>{4, 10, 4, 10});
  CHECK(members == std::vector<float>{1, 4, 9, 10, 3, 2, 5, 8});
  CHECK(ofLengths({1, 2, 3}).padded_batch(2, {.bucket_boundaries = {4}}).cardinality() == 2);
  int64_t whole = 0;
  for (const Batch &batch :
       ofLengths({1, 9, 2, 3}).padded_batch(2, {.bucket_boundaries = {4, 10}, .drop_remainder = true}))
    whole += batch.x[0].shape()[0] == 2;
  CHECK(whole == 1);
}

TEST_CASE("pad_y pads targets of steps, and weights with zeros") {
  for (const Batch &batch :
       ofLengths({1, 3}, true).padded_batch(2, {.bucket_boundaries = {4}, .pad_y = true, .padding_value = 7.0})) {
    CHECK(batch.x[0].shape() == Shape{2, 4, 2});
    CHECK(batch.y[0].to_vector<float>() == std::vector<float>{1, 7, 7, 7, 1, 1, 1, 7});
    CHECK(batch.sample_weight[0].to_vector<float>() == std::vector<float>{1, 0, 0, 0, 1, 1, 1, 0});
  }
  for (const Batch &batch : ofLengths({1, 3}, true).padded_batch(2, {.bucket_boundaries = {4}}))
    CHECK(batch.y[0].shape() == Shape{2, 3});
}

TEST_CASE("Batches of 65 lengths have as many shapes as there are buckets") {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < 65; ++i)
    lengths.push_back(1 + i * 37 % 65);
  const Dataset data = ofLengths(lengths).padded_batch(5, {.bucket_boundaries = {16, 32, 65}, .drop_remainder = true});
  std::map<int64_t, int64_t> shapes;
  for (const Batch &batch : data)
    ++shapes[batch.x[0].shape()[1]];
  CHECK(shapes == std::map<int64_t, int64_t>{{16, 3}, {32, 3}, {65, 6}});
}

TEST_CASE("A model compiles once for each bucket of inputs of 65 lengths, in training and in evaluation") {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < 2 * 65; ++i)
    lengths.push_back(1 + i * 37 % 65);
  const Sequential model({Input({none}), layers::Embedding(4, 3, {.mask_zero = true}), layers::GlobalAveragePooling1D(),
                          layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const auto compiled = detail::compiledIfAny(model);
  const PaddedBatchArgs buckets{.bucket_boundaries = {16, 32, 48, 65}, .drop_remainder = true};
  const Dataset data = ofLengths(lengths).padded_batch(4, buckets);
  model.fit(data, {.epochs = 2, .verbose = 0, .validation_data = data});
  CHECK(compiled->train.compileCount() == 4);
  CHECK(compiled->test.compileCount() == 4);
  for (const Batch &batch : data)
    (void)model.predict(batch.x, {.batch_size = 4, .verbose = 0});
  CHECK(detail::stateOf(model).predict->compileCount() == 4);
  model.fit(ofLengths(lengths).padded_batch(4, {.drop_remainder = true}), {.verbose = 0});
  CHECK(compiled->train.compileCount() > 20); // without buckets: once per longest length
}

TEST_CASE("padded_batch refuses lengths beyond the last boundary, other ranks and dtypes, and bad arguments") {
  const auto error = [](const Dataset &data) { return [=] { (void)numbersOf(data); }; };
  CHECK_THROWS_WITH(error(ofLengths({3, 5}).padded_batch(2, {.bucket_boundaries = {4}}))(),
                    Contains("an element has 5 steps, more than the last of bucket_boundaries, 4"));
  CHECK_THROWS_WITH(error(countedElements(3).padded_batch(2, {.bucket_boundaries = {4}}))(),
                    Contains("requires elements whose x has a time axis"));
  CHECK_THROWS_WITH(error(ofLengths({2}).concatenate(ofLengths({2}, true)).padded_batch(2))(),
                    Contains("different ranks"));
  CHECK_THROWS_WITH(
      error(Dataset(Tensor::ones({1, 2})).concatenate(Dataset(Tensor::ones({1, 3}, int32))).padded_batch(2))(),
      Contains("cannot batch elements of different types"));
  const Dataset bytes = Dataset(Tensor::ones({1, 2}, uint8)).concatenate(Dataset(Tensor::ones({1, 3}, uint8)));
  CHECK_THROWS_WITH(error(bytes.padded_batch(2, {.padding_value = -1.0}))(), Contains("uint8 cannot represent -1"));
  CHECK_THROWS_WITH(ofLengths({2}).padded_batch(0), Contains("batch_size must be positive, got 0"));
  for (const std::vector<int64_t> &boundaries : {std::vector<int64_t>{0}, {4, 4}, {5, 4}, {-1, 4}})
    CHECK_THROWS_WITH(ofLengths({2}).padded_batch(2, {.bucket_boundaries = boundaries}),
                      Contains("bucket_boundaries must be positive and ascending"));
}
