// Dataset pipelines: order, batches, shuffling, generators, reading ahead.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Data.h"
#include "halftone/Error.h"
#include "runtime/base/Threads.h"
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

using namespace halftone;
using Catch::Matchers::Contains;

static Tensor rows(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count * 2));
  std::iota(values.begin(), values.end(), 0.0f);
  return Tensor(std::move(values), {count, 2});
}

TEST_CASE("batches are rows in order, the last one smaller") {
  Dataset data = Dataset(rows(10), Tensor::zeros({10}, int32)).batch(4);
  CHECK(data.cardinality() == 3);
  std::vector<int64_t> sizes;
  float next = 0;
  for (const Batch &batch : data) {
    sizes.push_back(batch.x[0].shape()[0]);
    for (float v : batch.x[0].to_vector<float>())
      CHECK(v == next++);
    CHECK(batch.y[0].shape()[0] == sizes.back());
  }
  CHECK(sizes == std::vector<int64_t>{4, 4, 2});
  CHECK(Dataset(rows(10)).batch(4, true).cardinality() == 2);
}

TEST_CASE("shuffling keeps every row, differs between epochs and follows its seed") {
  auto order = [](const Dataset &data) {
    std::vector<float> seen;
    for (const Batch &batch : data)
      for (float v : batch.x[0].to_vector<float>())
        seen.push_back(v);
    return seen;
  };
  Dataset data = Dataset(rows(50)).shuffle(50, 3).batch(8);
  std::vector<float> first = order(data), second = order(data);
  CHECK(first != second);
  CHECK(std::set<float>(first.begin(), first.end()).size() == 100);
  CHECK(order(Dataset(rows(50)).shuffle(50, 3).batch(8)) == first);
  CHECK(order(Dataset(rows(50)).shuffle(50, 3).batch(8).prefetch(2)) == first);
}

TEST_CASE("a Dataset is made from a generator, mapped and cut by take") {
  auto epoch = [] {
    return [i = 0]() mutable -> std::optional<Batch> {
      if (i == 5)
        return std::nullopt;
      return Batch{.x = Tensor::full({2, 1}, i++)};
    };
  };
  Dataset data = Dataset::from_generator(epoch, 5).map([](Batch b) { return Batch{.x = b.x[0] * 2.0}; }).take(3);
  CHECK(data.cardinality() == 3);
  float sum = 0;
  for (const Batch &batch : data)
    sum += batch.x[0].to_vector<float>()[0];
  CHECK(sum == 6.0f);
}

TEST_CASE("a generator is not asked again after its end, nor for more than it is said to have") {
  int64_t asked = 0;
  auto forgetful = [&] { // would begin again after its end
    return [&, left = 5]() mutable -> std::optional<Batch> {
      ++asked;
      return left-- == 0 ? std::nullopt : std::optional(Batch{.x = Tensor::zeros({1})});
    };
  };
  auto count = [](const Dataset &data) {
    int64_t rows = 0;
    for (const Batch &batch : data)
      rows += batch.x[0].shape()[0];
    return rows;
  };
  Dataset data = Dataset::from_generator(forgetful);
  CHECK(count(data.batch(2)) == 5);
  CHECK(asked == 6);
  CHECK(count(data.shuffle(3, 1).batch(2).prefetch(2)) == 5);
  CHECK(asked == 12);
  CHECK(count(Dataset::from_generator(forgetful, 5).shuffle(9).batch(4)) == 5);
  CHECK(asked == 17);
  CHECK(count(Dataset::from_generator(forgetful, 3).batch(2)) == 3);
  CHECK(asked == 20);
}

TEST_CASE("an error of the generator arrives through prefetch") {
  auto epoch = [] { return []() -> std::optional<Batch> { throw Error(ErrorKind::io_error, "disk gone"); }; };
  Dataset data = Dataset::from_generator(epoch).prefetch(2);
  CHECK_THROWS_WITH(data.begin(), Contains("disk gone"));
}

TEST_CASE("A dataset that reads ahead gives the same batches if the system starts no thread") {
  const auto read = [](const Dataset &data) {
    std::vector<float> values;
    for (const Batch &batch : data)
      for (const float value : batch.x[0].to_vector<float>())
        values.push_back(value);
    return values;
  };
  const Dataset plain = Dataset(rows(7)).batch(3), ahead = plain.prefetch(2);
  const std::vector<float> expected = read(plain);
  REQUIRE(!expected.empty());
  const ThreadLimit none(0);
  CHECK(read(ahead) == expected);
  auto epoch = [] { return []() -> std::optional<Batch> { throw Error(ErrorKind::io_error, "disk gone"); }; };
  CHECK_THROWS_WITH(Dataset::from_generator(epoch).prefetch(2).begin(), Contains("disk gone"));
}

TEST_CASE("a Dataset refuses data that do not fit") {
  CHECK_THROWS_WITH(Dataset(rows(3), Tensor::zeros({4})), Contains("Data cardinality is ambiguous"));
  CHECK_THROWS_WITH(Dataset(rows(3)).batch(0), Contains("batch_size must be positive"));
  CHECK_THROWS_WITH(Dataset(Tensors()), Contains("no data was given"));
  CHECK_THROWS_WITH(Dataset(rows(3)).take(-1), Contains("must not be negative"));
  CHECK_THROWS_WITH(Dataset::from_generator([] { return [] { return std::optional<Batch>(); }; }, -1),
                    Contains("cardinality must not be negative"));
  CHECK_THROWS_WITH(Dataset::from_generator([] { return std::function<std::optional<Batch>()>(); }).begin(),
                    Contains("empty generator"));
}
