// Memory of tensors: the blocks that are kept for reuse, for which tensors, and their total size.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/TensorMemory.h"
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

using namespace halftone;

namespace {

/// Returns true if blocks are kept at all. Under AddressSanitizer none are.
bool keeps() {
  std::shared_ptr<void> block = allocateTensorMemory(minKeptBlock);
  const size_t before = keptTensorBytes();
  block.reset();
  return keptTensorBytes() != before;
}

} // namespace

TEST_CASE("Every block of tensor memory is aligned, writable and its own") {
  std::vector<std::shared_ptr<void>> blocks;
  const std::vector<size_t> sizes = {
      0, 1, 63, 4096, minKeptBlock - 1, minKeptBlock, minKeptBlock + 1, size_t(1) << 22, (size_t(5) << 20) + 3};
  for (int round = 0; round < 2; ++round)
    for (size_t bytes : sizes) {
      blocks.push_back(allocateTensorMemory(bytes));
      REQUIRE(blocks.back());
      CHECK(reinterpret_cast<uintptr_t>(blocks.back().get()) % 64 == 0);
      std::memset(blocks.back().get(), static_cast<int>(blocks.size()), bytes);
    }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto *bytes = static_cast<const unsigned char *>(blocks[i].get());
    const size_t size = sizes[i % sizes.size()];
    if (size) {
      CHECK(bytes[0] == i + 1);
      CHECK(bytes[size - 1] == i + 1);
    }
  }
}

TEST_CASE("A large block serves the next tensor of its size, and a small one is not kept") {
  if (!keeps())
    return;
  std::shared_ptr<void> large = allocateTensorMemory(7 * minKeptBlock);
  void *const address = large.get();
  const size_t before = keptTensorBytes();
  large.reset();
  CHECK(keptTensorBytes() == before + 7 * minKeptBlock);
  const std::shared_ptr<void> other = allocateTensorMemory(8 * minKeptBlock);
  CHECK(other.get() != address);
  const std::shared_ptr<void> again = allocateTensorMemory(7 * minKeptBlock);
  CHECK(again.get() == address);
  CHECK(keptTensorBytes() == before);
  allocateTensorMemory(minKeptBlock - 1).reset();
  CHECK(keptTensorBytes() == before);
}

TEST_CASE("No more tensor memory is kept than the limit") {
  if (!keeps())
    return;
  constexpr size_t block = maxKeptBytes / 4 + 1; // its pages are never touched
  std::vector<std::shared_ptr<void>> blocks;
  for (int i = 0; i < 6; ++i)
    blocks.push_back(allocateTensorMemory(block));
  blocks.clear();
  CHECK(keptTensorBytes() <= maxKeptBytes);
  CHECK(keptTensorBytes() >= 3 * block);
  const size_t before = keptTensorBytes();
  allocateTensorMemory(maxKeptBytes + 1).reset();
  CHECK(keptTensorBytes() == before);
}

TEST_CASE("Threads take and return tensor memory at once") {
  std::vector<std::thread> threads;
  std::vector<char> intact(4, 1);
  for (size_t t = 0; t < intact.size(); ++t)
    threads.emplace_back([t, &intact] {
      for (int i = 0; i < 200; ++i) {
        const std::shared_ptr<void> block = allocateTensorMemory(minKeptBlock * (1 + i % 3));
        auto *const bytes = static_cast<unsigned char *>(block.get());
        bytes[0] = bytes[minKeptBlock - 1] = static_cast<unsigned char>(t);
        std::this_thread::yield();
        intact[t] = intact[t] && bytes[0] == t && bytes[minKeptBlock - 1] == t;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (char one : intact)
    CHECK(one);
}
