// Memory of tensors: blocks in use, and blocks cached for later tensors.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/TensorMemory.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/FreeMemory.h"
#include "runtime/base/PageMemory.h"
#include <algorithm>
#include <cstdlib>
#include <list>
#include <mutex>
#include <new>

namespace halftone {

namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HALFTONE_ADDRESS_SANITIZER
#endif
#endif
#ifdef HALFTONE_ADDRESS_SANITIZER
constexpr bool keeps = false; // so that the sanitizer finds uses after free
#else
constexpr bool keeps = true;
#endif

constexpr size_t page = size_t(1) << 12;
constexpr std::align_val_t alignment{64};

size_t roundUp(size_t value, size_t step) { return (value + step - 1) / step * step; }

/// The cached blocks of destroyed tensors, oldest first.
class KeptBlocks {
public:
  void *take(size_t bytes) {
    const ForkSafeLock lock(mutex_);
    const auto found =
        std::find_if(blocks_.rbegin(), blocks_.rend(), [&](const Block &block) { return block.bytes == bytes; });
    if (found == blocks_.rend())
      return nullptr;
    void *const memory = found->memory;
    bytes_ -= bytes;
    blocks_.erase(std::next(found).base());
    return memory;
  }

  void give(void *memory, size_t bytes) noexcept {
    std::list<Block> leaving; // freed after the lock is released
    {
      const ForkSafeLock lock(mutex_);
      try {
        blocks_.push_back({memory, bytes});
      } catch (const std::bad_alloc &) {
        return std::free(memory);
      }
      bytes_ += bytes;
      while (bytes_ > maxKeptBytes) {
        bytes_ -= blocks_.front().bytes;
        leaving.splice(leaving.end(), blocks_, blocks_.begin());
      }
    }
    for (const Block &block : leaving)
      std::free(block.memory);
  }

  size_t bytes() {
    const ForkSafeLock lock(mutex_);
    return bytes_;
  }

private:
  struct Block {
    void *memory;
    size_t bytes;
  };
  std::mutex mutex_;
  std::list<Block> blocks_;
  size_t bytes_ = 0;
};

KeptBlocks &keptBlocks() {
  static KeptBlocks &blocks = *new KeptBlocks;
  return blocks;
}

} // namespace

std::shared_ptr<void> allocateTensorMemory(size_t bytes) {
  if (keeps && bytes < minKeptBlock) { // a single malloc block, which is faster than two blocks or an aligned one
    constexpr size_t align = static_cast<size_t>(alignment);
    const auto block = std::make_shared_for_overwrite<std::byte[]>(bytes + align - 1);
    const size_t past = reinterpret_cast<uintptr_t>(block.get()) % align;
    return {block, block.get() + (align - past) % align};
  }
  if (!keeps || bytes > maxKeptBytes) {
    void *const memory = fitsMemory(static_cast<int64_t>(bytes))
                             ? ::operator new(std::max<size_t>(bytes, 1), alignment, std::nothrow)
                             : nullptr;
    return memory ? std::shared_ptr<void>(memory, [](void *p) { ::operator delete(p, alignment); }) : nullptr;
  }
  const size_t rounded = roundUp(bytes, page);
  void *memory = keptBlocks().take(rounded);
  if (!memory)
    memory = allocatePages(rounded);
  return memory ? std::shared_ptr<void>(memory, [rounded](void *p) { keptBlocks().give(p, rounded); }) : nullptr;
}

size_t keptTensorBytes() { return keptBlocks().bytes(); }

} // namespace halftone
