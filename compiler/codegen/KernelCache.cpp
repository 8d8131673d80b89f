// Caches kernel code in memory and on disk, and finds it in kernel packs.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/KernelCache.h"
#include "compiler/codegen/BuildId.inc"
#include "compiler/codegen/CodeId.inc"
#include "runtime/base/ForkGate.h"
#include <map>
#include <tuple>
#include <utility>

using namespace halftone;
using namespace halftone::compiler;

std::string compiler::buildId() { return HALFTONE_BUILD_ID; }

std::string compiler::codeId() { return HALFTONE_CODE_ID; }

KernelPacks &compiler::kernelPacks() {
  const ForkGate gate; // the first call reads files
  static auto &packs = *new KernelPacks(codeId(), "HALFTONE_KERNEL_PACK");
  return packs;
}

KernelCache::KernelCache(std::string_view directory, int64_t limit, size_t memoryLimit, const KernelPacks &packs)
    : memoryLimit_(memoryLimit), disk_(directory, codeId(), kernelEntryMagic, limit), packs_(packs) {}

KernelCache &KernelCache::shared(std::string_view directory) {
  static std::mutex mutex;
  static auto &caches = *new std::map<std::string, KernelCache, std::less<>>;
  const std::string name = directory.empty() ? defaultCacheDirectory() : std::string(directory);
  const ForkSafeLock lock(mutex);
  return caches.try_emplace(name, directory).first->second;
}

std::optional<KernelCache::Found> KernelCache::find(const std::string &key) {
  {
    const ForkSafeLock lock(mutex_);
    if (auto found = foundLocked(key))
      return Found{std::move(found), Source::memory};
  }
  Source source = Source::disk;
  std::optional<KernelCode> kernel = readFromDisk(key);
  if (!kernel) {
    source = Source::pack;
    kernel = packs_.find(key);
  }
  if (!kernel)
    return std::nullopt;
  const ForkSafeLock lock(mutex_);
  auto [kept, isNew] = keepLocked(key, std::move(*kernel));
  return Found{std::move(kept), isNew ? source : Source::memory};
}

std::shared_ptr<const KernelCode> KernelCache::foundLocked(const std::string &key) {
  const auto found = byKey_.find(key);
  if (found == byKey_.end())
    return nullptr;
  kept_.splice(kept_.begin(), kept_, found->second);
  return found->second->kernel;
}

/// Returns the kernel with this key, and whether it was inserted.
std::pair<std::shared_ptr<const KernelCode>, bool> KernelCache::keepLocked(const std::string &key, KernelCode kernel) {
  if (auto found = foundLocked(key))
    return {std::move(found), false};
  const auto sizeOf = [](const Kept &kept) {
    return kept.key.size() + kept.kernel->code.size() + kept.kernel->description.size();
  };
  kept_.push_front({key, std::make_shared<const KernelCode>(std::move(kernel))});
  byKey_.emplace(kept_.front().key, kept_.begin());
  bytes_ += sizeOf(kept_.front());
  std::shared_ptr<const KernelCode> result = kept_.front().kernel;
  while (bytes_ > memoryLimit_ && kept_.size() > 1) {
    bytes_ -= sizeOf(kept_.back());
    byKey_.erase(kept_.back().key);
    kept_.pop_back();
  }
  return {std::move(result), true};
}

size_t KernelCache::bytesInMemory() {
  const ForkSafeLock lock(mutex_);
  return bytes_;
}

std::shared_ptr<const KernelCode> KernelCache::insert(const std::string &key, KernelCode kernel) {
  std::shared_ptr<const KernelCode> kept;
  {
    const ForkSafeLock lock(mutex_);
    bool isNew = false;
    std::tie(kept, isNew) = keepLocked(key, std::move(kernel));
    if (!isNew)
      return kept;
  }
  disk_.write(key, writeKernelCode(*kept));
  return kept;
}

std::optional<KernelCode> KernelCache::readFromDisk(const std::string &key) const {
  const std::optional<std::string> body = disk_.read(key);
  return body ? readKernelCode(*body) : std::nullopt;
}
