// Dataset pipelines: order, batches, shuffling, generators, prefetching, repeat() and cache().
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Data.h"
#include "halftone/Error.h"
#include "halftone/Model.h"
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
  auto forgetful = [&] { // would start over after its end
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

namespace {

using Row = std::vector<float>;

/// All elements of x, in order.
Row valuesOf(const Dataset &data) {
  Row values;
  for (const Batch &batch : data)
    for (const float value : batch.x[0].to_vector<float>())
      values.push_back(value);
  return values;
}
/// The dataset of the scalars 0, 1, 2, ...
Dataset scalars(int64_t count) {
  Row values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0f);
  return Dataset(Tensor(std::move(values), {count}));
}
/// Counts the elements requested of it in `asked`, and its passes in `passes`.
struct Source {
  int64_t asked = 0, passes = 0, length = 5;
  int64_t failsAt = -1; // the element at which it throws, once
  Dataset dataset(std::optional<int64_t> cardinality = {}) {
    return Dataset::from_generator(
        [this] {
          ++passes;
          return [this, at = int64_t{0}]() mutable -> std::optional<Batch> {
            if (at == length)
              return std::nullopt;
            ++asked;
            if (at == failsAt) {
              failsAt = -1;
              throw Error(ErrorKind::io_error, "disk gone");
            }
            return Batch{.x = Tensor::full({}, static_cast<float>(at++))};
          };
        },
        cardinality);
  }
};

} // namespace

TEST_CASE("repeat gives its passes one after the other, and batches may lie in two of them") {
  const Dataset data = scalars(3).repeat(3);
  CHECK(data.cardinality() == 9);
  CHECK(valuesOf(data) == Row{0, 1, 2, 0, 1, 2, 0, 1, 2});
  CHECK(valuesOf(data) == Row{0, 1, 2, 0, 1, 2, 0, 1, 2}); // another iteration starts over
  const Dataset batches = data.batch(4);
  CHECK(batches.cardinality() == 3);
  std::vector<int64_t> sizes;
  for (const Batch &batch : batches)
    sizes.push_back(batch.x[0].shape()[0]);
  CHECK(sizes == std::vector<int64_t>{4, 4, 1});
  CHECK(valuesOf(scalars(3).batch(2).repeat(2)) == Row{0, 1, 2, 0, 1, 2});
  CHECK(scalars(3).batch(2).repeat(2).cardinality() == 4);
  CHECK(valuesOf(scalars(2).repeat(1)) == Row{0, 1});
  CHECK(valuesOf(scalars(1).repeat(2).repeat(3)) == Row{0, 0, 0, 0, 0, 0});
  CHECK(scalars(2).repeat(INT64_MAX).cardinality() == INT64_MAX);
}

TEST_CASE("repeat without a count, or with -1, goes on for ever and has no cardinality") {
  for (const Dataset &data :
       {scalars(3).repeat(), scalars(3).repeat(-1), scalars(3).repeat().repeat(2), scalars(3).repeat(2).repeat(),
        scalars(3).repeat().cache(), scalars(3).repeat().prefetch(2)}) {
    CHECK_FALSE(data.cardinality().has_value());
    CHECK_FALSE(data.batch(2).cardinality().has_value());
    CHECK_FALSE(data.map([](Batch b) { return b; }).shuffle(2).cardinality().has_value());
    CHECK(data.take(8).cardinality() == 8);
    CHECK(data.batch(2).take(4).cardinality() == 4);
    CHECK(valuesOf(data.take(8)) == Row{0, 1, 2, 0, 1, 2, 0, 1});
    CHECK(valuesOf(data.batch(2).take(4)) == Row{0, 1, 2, 0, 1, 2, 0, 1});
    CHECK(data.repeat(0).cardinality() == 0);
  }
}

TEST_CASE("repeat of nothing is empty, also without end") {
  Source source;
  const Dataset none = source.dataset().repeat(0);
  CHECK(none.cardinality() == 0);
  CHECK(valuesOf(none).empty());
  CHECK(source.passes == 0);
  CHECK(scalars(0).repeat().cardinality() == 0);
  CHECK(valuesOf(scalars(0).repeat()).empty());
  source.length = 0;
  CHECK(valuesOf(source.dataset().repeat()).empty());
  CHECK(valuesOf(source.dataset().repeat(INT64_MAX)).empty());
  CHECK_FALSE(source.dataset().repeat(3).cardinality().has_value());
  const auto once = [left = std::make_shared<int>(2)] { // a stream that cannot restart
    return [left]() -> std::optional<Batch> {
      return (*left)-- > 0 ? std::optional(Batch{.x = Tensor::ones({})}) : std::nullopt;
    };
  };
  CHECK(valuesOf(Dataset::from_generator(once).repeat()) == Row{1, 1});
  CHECK_THROWS_WITH(scalars(3).repeat(-2), Contains("repeat: count must not be negative, got -2"));
}

TEST_CASE("repeat begins a pass of its source only when it needs an element of it") {
  Source source;
  CHECK(valuesOf(source.dataset(5).repeat(2).take(5)) == Row{0, 1, 2, 3, 4});
  CHECK(source.passes == 1);
  CHECK(valuesOf(source.dataset(5).repeat(2).take(6)) == Row{0, 1, 2, 3, 4, 0});
  CHECK(source.passes == 3);
  CHECK(source.asked == 11);
  source.failsAt = 3;
  Dataset::iterator at = source.dataset().repeat().begin();
  for (int i = 0; i < 2; ++i)
    ++at;
  CHECK_THROWS_WITH(++at, Contains("disk gone"));
}

TEST_CASE("each pass of repeat has a new order of the shuffle before it, which no thread changes") {
  const auto passes = [](const Dataset &data) {
    const Row values = valuesOf(data);
    std::vector<Row> each;
    for (size_t i = 0; i < values.size(); i += 30)
      each.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(i),
                        values.begin() + static_cast<std::ptrdiff_t>(i) + 30);
    return each;
  };
  const Dataset data = scalars(30).shuffle(30, 3).repeat(3);
  const std::vector<Row> first = passes(data), second = passes(data);
  REQUIRE(first.size() == 3);
  for (const Row &pass : first)
    CHECK(std::set<float>(pass.begin(), pass.end()).size() == 30);
  CHECK(std::set<Row>(first.begin(), first.end()).size() == 3);
  CHECK(first[0] == valuesOf(scalars(30).shuffle(30, 3)));
  CHECK(second != first);
  // A prefetching thread begins passes that the loop does not reach.
  const Dataset ahead = scalars(30).shuffle(30, 3).repeat().prefetch(100);
  CHECK(passes(ahead.take(90)) == first);
  CHECK(passes(ahead.take(90)) == second);
  const auto unseeded = [](bool isAhead) {
    set_random_seed(5);
    const Dataset repeated = scalars(30).shuffle(30).repeat();
    const Row order = valuesOf((isAhead ? repeated.prefetch(100) : repeated).take(60));
    return std::pair(order, valuesOf(scalars(30).shuffle(30)));
  };
  CHECK(unseeded(true) == unseeded(false));
}

TEST_CASE("cache keeps the first whole pass, and later passes do not ask the source") {
  Source source;
  for (const bool isKnown : {false, true}) {
    source.asked = source.passes = 0;
    const Dataset data = source.dataset(isKnown ? std::optional<int64_t>(5) : std::nullopt).cache();
    CHECK(data.cardinality().has_value() == isKnown);
    CHECK(valuesOf(data.take(3)) == Row{0, 1, 2}); // not a complete pass
    CHECK(source.asked == 3);
    for (int pass = 0; pass < 3; ++pass)
      CHECK(valuesOf(data) == Row{0, 1, 2, 3, 4});
    CHECK(source.asked == 8);
    CHECK(source.passes == 2);
    CHECK(valuesOf(data.batch(2)) == Row{0, 1, 2, 3, 4});
    CHECK(valuesOf(data.prefetch(2).repeat(2)) == Row{0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
    CHECK(source.asked == 8);
  }
  source.asked = source.passes = 0;
  CHECK(valuesOf(source.dataset().cache().repeat(3)).size() == 15);
  CHECK(source.asked == 5);
  CHECK(source.passes == 1);
  source.asked = 0;
  CHECK(valuesOf(source.dataset().cache().repeat().prefetch(3).take(12)).size() == 12);
  CHECK(source.asked == 5);
  source.length = 0;
  CHECK(valuesOf(source.dataset().cache().repeat(2)).empty());
}

TEST_CASE("A pass that takes as many elements as a cache has is whole, though it does not ask for the end") {
  Source source;
  const Dataset data = source.dataset(5).cache();
  Dataset::iterator at = data.begin();
  for (int i = 0; i < 4; ++i)
    ++at;
  CHECK((*at).x[0].item<float>() == 4);
  CHECK(valuesOf(data) == Row{0, 1, 2, 3, 4});
  CHECK(source.asked == 5);
}

TEST_CASE("cache keeps what is before it, and not what is behind it") {
  int64_t before = 0, behind = 0;
  const auto counting = [](int64_t &count) {
    return [&count](Batch batch) {
      ++count;
      return batch;
    };
  };
  const Dataset data = scalars(4).map(counting(before)).cache().map(counting(behind));
  CHECK(valuesOf(data) == valuesOf(data));
  CHECK(before == 4);
  CHECK(behind == 8);
  const Dataset frozen = scalars(30).shuffle(30, 1).cache(), fresh = scalars(30).cache().shuffle(30, 1);
  CHECK(valuesOf(frozen) == valuesOf(frozen));
  CHECK(valuesOf(fresh) != valuesOf(fresh));
  const Dataset named(Tensors{{"a", rows(3)}, {"b", rows(3)}}, rows(3), Tensor::ones({3}));
  const Dataset kept = named.cache();
  (void)valuesOf(kept);
  for (const Batch &batch : kept) {
    CHECK(batch.x.names() == std::vector<std::string>{"a", "b"});
    CHECK(batch.y.size() == 1);
    CHECK(batch.sample_weight.size() == 1);
  }
}

TEST_CASE("A pass of a cache that fails, or that runs beside another one, keeps no half") {
  Source source{.failsAt = 2};
  const Dataset data = source.dataset().cache();
  Dataset::iterator at = data.begin();
  ++at;
  CHECK_THROWS_WITH(++at, Contains("disk gone"));
  while (at != data.end()) // the source continues; the pass has failed
    ++at;
  CHECK(source.passes == 1);
  CHECK(valuesOf(data) == Row{0, 1, 2, 3, 4});
  CHECK(source.passes == 2);
  const Dataset shared = source.dataset().cache();
  source.passes = 0;
  Dataset::iterator one = shared.begin(), other = shared.begin();
  Row seen;
  for (; one != shared.end(); ++one, ++other) {
    CHECK((*one).x[0].item<float>() == (*other).x[0].item<float>());
    seen.push_back((*one).x[0].item<float>());
  }
  CHECK(seen == Row{0, 1, 2, 3, 4});
  CHECK(source.passes == 2);
  CHECK(valuesOf(shared) == seen);
  CHECK(source.passes == 2);
}
