// Sums and lists over threads that represent processes.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/communication/Collectives.h"
#include "Threads.h"
#include "runtime/base/Half.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

using namespace halftone;
using namespace halftone::test;

namespace {

/// Numbers of very different magnitudes, so that each order of summation gives other bits.
std::vector<float> numbersOf(int rank, int64_t count) {
  std::mt19937_64 engine(static_cast<uint64_t>(rank) + 1);
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float &x : numbers)
    x = std::ldexp(static_cast<float>(static_cast<int64_t>(engine() % 2001) - 1000),
                   static_cast<int>(engine() % 24) - 12);
  return numbers;
}

template <class T> SharedArray arrayOf(DType dtype, const std::vector<T> &from, std::vector<T> &to) {
  to.resize(from.size());
  return {dtype, std::ssize(from), reinterpret_cast<const std::byte *>(from.data()),
          reinterpret_cast<std::byte *>(to.data())};
}

} // namespace

TEST_CASE("A sum over processes is that of the ranks in their order, whatever its size") {
  for (int size : {1, 2, 3, 4, 7})
    for (int64_t count : {0, 1, 3, 1000, 100003}) {
      std::vector<float> expected(static_cast<size_t>(count));
      for (int rank = 0; rank < size; ++rank) {
        const std::vector<float> numbers = numbersOf(rank, count);
        for (size_t i = 0; i < expected.size(); ++i)
          expected[i] += numbers[i];
      }
      std::vector<std::vector<float>> results(static_cast<size_t>(size));
      inThreads(size, [&](Communicator &own) {
        const std::vector<float> numbers = numbersOf(own.rank(), count);
        const SharedArray array = arrayOf(DType::float32, numbers, results[static_cast<size_t>(own.rank())]);
        (void)Collectives(own).allReduce(CollectiveKind::sum, {&array, 1});
      });
      for (const std::vector<float> &result : results)
        CHECK(result == expected);
    }
}

TEST_CASE("Arrays of several dtypes travel together; narrow floats are summed in f32 and rounded once") {
  constexpr int size = 3;
  constexpr int64_t count = 1500;
  inThreads(size, [&](Communicator &own) {
    const float rank = static_cast<float>(own.rank());
    // 2048 + 1 + 1: in f16 each sum would round back to 2048.
    const std::vector<uint16_t> halves(count, Float16::encode(own.rank() == 0 ? 2048.0 : 1.0));
    const std::vector<uint16_t> brains(count, Bfloat16::encode(own.rank() == 0 ? 256.0 : 1.0));
    const std::vector<float> floats(3, rank + 0.5f);
    const std::vector<double> doubles(5, 1e-300 * rank);
    const std::vector<int64_t> whole(5001, own.rank() + 1); // large enough to be sent without packing
    const std::vector<uint8_t> bytes(7, 100);
    std::vector<uint16_t> halvesOut, brainsOut;
    std::vector<float> floatsOut;
    std::vector<double> doublesOut;
    std::vector<int64_t> wholeOut;
    std::vector<uint8_t> bytesOut;
    const std::vector<SharedArray> arrays{
        arrayOf(DType::float16, halves, halvesOut),   arrayOf(DType::float32, floats, floatsOut),
        arrayOf(DType::bfloat16, brains, brainsOut),  arrayOf(DType::uint8, bytes, bytesOut),
        arrayOf(DType::float64, doubles, doublesOut), arrayOf(DType::int64, whole, wholeOut)};
    const Status status = Collectives(own).allReduce(CollectiveKind::sum, arrays);
    const std::lock_guard lock(checking);
    CHECK(status.isOk());
    CHECK(halvesOut == std::vector<uint16_t>(count, Float16::encode(2050.0)));
    CHECK(brainsOut == std::vector<uint16_t>(count, Bfloat16::encode(258.0)));
    CHECK(floatsOut == std::vector<float>(3, 4.5f));
    CHECK(doublesOut == std::vector<double>(5, 3e-300));
    CHECK(wholeOut == std::vector<int64_t>(5001, 6));
    CHECK(bytesOut == std::vector<uint8_t>(7, 44)); // it wraps
  });
}

TEST_CASE("Inf and NaN of one process reach all, by sum and by max") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  inThreads(3, [&](Communicator &own) {
    std::vector<float> numbers{1, 2, 3}, sum, largest;
    if (own.rank() == 1)
      numbers = {inf, std::nanf(""), -inf};
    Collectives all(own);
    SharedArray array = arrayOf(DType::float32, numbers, sum);
    (void)all.allReduce(CollectiveKind::sum, {&array, 1});
    array = arrayOf(DType::float32, numbers, largest);
    (void)all.allReduce(CollectiveKind::max, {&array, 1});
    const std::lock_guard lock(checking);
    CHECK(sum[0] == inf);
    CHECK(std::isnan(sum[1]));
    CHECK(sum[2] == -inf);
    CHECK(largest[0] == inf);
    CHECK(std::isnan(largest[1]));
    CHECK(largest[2] == 3);
  });
}

TEST_CASE("A dtype without sums is refused before anything is sent") {
  inThreads(2, [&](Communicator &own) {
    const std::vector<uint8_t> flags(4, 1);
    std::vector<uint8_t> out;
    const SharedArray array = arrayOf(DType::bool_, flags, out);
    const Status status = Collectives(own).allReduce(CollectiveKind::sum, {&array, 1});
    const std::lock_guard lock(checking);
    CHECK(!status.isOk());
    CHECK(status.kind() == ErrorKind::type_error);
  });
}

TEST_CASE("Rank 0's bytes reach all, and every process gets the texts of all") {
  for (int size : {1, 2, 5})
    inThreads(size, [&](Communicator &own) {
      Collectives all(own);
      std::vector<std::byte> bytes(10000, std::byte(own.rank() + 7));
      const Status sent = all.broadcast(bytes);
      const StatusOr<std::vector<std::string>> texts = all.gather(std::string(static_cast<size_t>(own.rank()), 'x'));
      const std::lock_guard lock(checking);
      CHECK(sent.isOk());
      CHECK(bytes == std::vector<std::byte>(10000, std::byte(7)));
      REQUIRE(texts.isOk());
      for (int rank = 0; rank < size; ++rank)
        CHECK((*texts)[static_cast<size_t>(rank)] == std::string(static_cast<size_t>(rank), 'x'));
    });
}

TEST_CASE("Arrays of which each process has a part become whole in all, large and small ones together") {
  for (int size : {1, 2, 3, 7})
    inThreads(size, [&](Communicator &own) {
      // Rank r contributes sizes[i] + r bytes to array i. Some parts are empty, and some too large for packing.
      const std::vector<size_t> sizes{5, 0, 40000, 1, 32767};
      std::vector<std::vector<std::byte>> memory;
      std::vector<std::vector<std::span<std::byte>>> arrays;
      const auto bytesOf = [&](size_t array, int rank) {
        return array == 1 && rank != size - 1 ? 0 : sizes[array] + static_cast<size_t>(rank);
      };
      for (size_t i = 0; i < sizes.size(); ++i) {
        size_t all = 0;
        for (int rank = 0; rank < size; ++rank)
          all += bytesOf(i, rank);
        memory.emplace_back(all, std::byte(255));
        std::span<std::byte> rest = memory.back();
        arrays.emplace_back();
        for (int rank = 0; rank < size; ++rank) {
          arrays.back().push_back(rest.first(bytesOf(i, rank)));
          rest = rest.subspan(bytesOf(i, rank));
        }
        std::ranges::fill(arrays.back()[static_cast<size_t>(own.rank())],
                          std::byte(own.rank() * 10 + static_cast<int>(i)));
      }
      const Status status = Collectives(own).gatherInPlace(arrays);
      const std::lock_guard lock(checking);
      CHECK(status.isOk());
      for (size_t i = 0; i < arrays.size(); ++i)
        for (int rank = 0; rank < size; ++rank)
          CHECK(std::ranges::count(arrays[i][static_cast<size_t>(rank)], std::byte(rank * 10 + static_cast<int>(i))) ==
                static_cast<int64_t>(bytesOf(i, rank)));
    });
}

namespace {

/// Random offsets that divide `elements` among `size` ranks. Some parts are empty.
std::vector<int64_t> offsetsOf(int64_t elements, int size, std::mt19937_64 &engine) {
  std::vector<int64_t> offsets{0, elements};
  while (std::ssize(offsets) < size + 1)
    offsets.push_back(static_cast<int64_t>(engine() % static_cast<uint64_t>(elements + 1)));
  std::ranges::sort(offsets);
  return offsets;
}

/// The elements of `numbers` that belong to a rank.
std::vector<float> partOf(const std::vector<float> &numbers, const std::vector<int64_t> &offsets, int rank) {
  return {numbers.begin() + offsets[static_cast<size_t>(rank)],
          numbers.begin() + offsets[static_cast<size_t>(rank) + 1]};
}

} // namespace

TEST_CASE("Each process gets its part of the sums, with the bits of the whole sums, and all gather the parts") {
  for (int size : {1, 2, 3, 7})
    for (uint64_t seed : {1, 2, 3}) {
      std::mt19937_64 engine(seed);
      const std::vector<int64_t> counts{100003, 0, 1, 900, 20000, 7, 32768};
      std::vector<std::vector<int64_t>> offsets;
      for (int64_t count : counts)
        offsets.push_back(offsetsOf(count, size, engine));
      inThreads(size, [&](Communicator &own) {
        const int rank = own.rank();
        Collectives all(own);
        std::vector<std::vector<float>> from, sums(counts.size()), parts(counts.size()), wholes(counts.size());
        std::vector<SharedArray> reduced, scattered, gathered;
        for (size_t i = 0; i < counts.size(); ++i) {
          from.push_back(numbersOf(rank + static_cast<int>(i) * 10, counts[i]));
          reduced.push_back(arrayOf(DType::float32, from[i], sums[i]));
          parts[i].resize(partOf(from[i], offsets[i], rank).size());
          scattered.push_back(
              {DType::float32, counts[i], reduced[i].from, reinterpret_cast<std::byte *>(parts[i].data()), offsets[i]});
          wholes[i].resize(from[i].size());
          gathered.push_back({DType::float32, counts[i], scattered[i].to,
                              reinterpret_cast<std::byte *>(wholes[i].data()), offsets[i]});
        }
        const Status status = all.allReduce(CollectiveKind::sum, reduced),
                     divided = all.combine(CollectiveKind::scattered_sum, scattered);
        const std::vector<std::vector<float>> ownParts = parts;
        const Status joined = all.combine(CollectiveKind::gather, gathered);
        const std::lock_guard lock(checking);
        CHECK((status.isOk() && divided.isOk() && joined.isOk()));
        for (size_t i = 0; i < counts.size(); ++i) {
          CHECK(ownParts[i] == partOf(sums[i], offsets[i], rank));
          CHECK(wholes[i] == sums[i]);
        }
      });
    }
}

TEST_CASE("Parts of narrow floats and of integers have offsets between elements") {
  const std::vector<int64_t> offsets{0, 3, 3, 5}; // not multiples of 8 bytes
  inThreads(3, [&](Communicator &own) {
    const std::vector<uint16_t> halves(5, Float16::encode(own.rank() == 0 ? 2048.0 : 1.0));
    const std::vector<uint8_t> bytes{100, 200, 50, 3, 4};
    const auto rank = static_cast<size_t>(own.rank());
    const auto count = static_cast<size_t>(offsets[rank + 1] - offsets[rank]);
    std::vector<uint16_t> halvesOut(count);
    std::vector<uint8_t> bytesOut(count);
    const auto in = [](const auto &values) { return reinterpret_cast<const std::byte *>(values.data()); };
    const auto out = [](auto &values) { return reinterpret_cast<std::byte *>(values.data()); };
    const std::vector<SharedArray> arrays{{DType::float16, 5, in(halves), out(halvesOut), offsets},
                                          {DType::uint8, 5, in(bytes), out(bytesOut), offsets}};
    const Status status = Collectives(own).reduceScatter(arrays);
    const std::vector<uint8_t> sums{44, 88, 150, 9, 12}; // three times the values, with wrapping
    const std::lock_guard lock(checking);
    CHECK(status.isOk());
    CHECK(halvesOut == std::vector<uint16_t>(count, Float16::encode(2050.0)));
    CHECK(bytesOut == std::vector<uint8_t>(sums.begin() + offsets[rank], sums.begin() + offsets[rank + 1]));
  });
}
