// Caches kernel code in memory and on disk.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/KernelCache.h"
#include "compiler/codegen/BuildId.inc"
#include "compiler/codegen/CodeId.inc"
#include "runtime/base/ForkGate.h"
#include "runtime/base/SizedText.h"
#include <map>
#include <tuple>
#include <utility>

using namespace halftone;
using namespace halftone::compiler;

constexpr std::string_view magic = "halftone kernel 4\n";

std::string compiler::buildId() { return HALFTONE_BUILD_ID; }

std::string compiler::codeId() { return HALFTONE_CODE_ID; }

KernelCache::KernelCache(std::string_view directory, int64_t limit, size_t memoryLimit)
    : memoryLimit_(memoryLimit), disk_(directory, codeId(), magic, limit) {}

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
  std::optional<KernelCode> kernel = read(key);
  if (!kernel)
    return std::nullopt;
  const ForkSafeLock lock(mutex_);
  auto [kept, isNew] = keepLocked(key, std::move(*kernel));
  return Found{std::move(kept), isNew ? Source::disk : Source::memory};
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
  write(key, *kept);
  return kept;
}

std::optional<KernelCode> KernelCache::read(const std::string &key) const {
  const std::optional<std::string> body = disk_.read(key);
  if (!body)
    return std::nullopt;
  std::string_view in = *body;
  KernelCode kernel;
  uint64_t threads = 0, sharedBytes = 0, uses = 0;
  if (!takeString(in, kernel.symbol) || !takeString(in, kernel.kind) || !takeString(in, kernel.target) ||
      !takeString(in, kernel.description) || !takeString(in, kernel.code) || !takeString(in, kernel.method) ||
      !takeSize(in, threads) || !takeSize(in, sharedBytes) || !takeSize(in, uses))
    return std::nullopt;
  for (std::string core; uses > 0; --uses) {
    if (!takeString(in, core))
      return std::nullopt;
    kernel.uses.push_back(core);
  }
  if (!in.empty())
    return std::nullopt;
  kernel.launch = {int64_t(threads), int64_t(sharedBytes)};
  return kernel;
}

void KernelCache::write(const std::string &key, const KernelCode &kernel) {
  std::string body;
  for (const std::string *part :
       {&kernel.symbol, &kernel.kind, &kernel.target, &kernel.description, &kernel.code, &kernel.method})
    putString(body, *part);
  for (int64_t size : {kernel.launch.threads, kernel.launch.sharedBytes})
    putSize(body, uint64_t(size));
  putSize(body, kernel.uses.size());
  for (const std::string &core : kernel.uses)
    putString(body, core);
  disk_.write(key, body);
}
