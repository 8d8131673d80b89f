// A cache of kernel code by key: in memory for this process, on disk across processes, and in kernel packs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/CacheFolder.h"
#include "runtime/plan/Executable.h"
#include "runtime/plan/KernelPack.h"
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace halftone::compiler {

/// Identifies the whole compiler: the version and a hash of its sources. Executables record it, and processes that
/// train together must have the same one.
std::string buildId();

/// Identifies code generation, from a kernel's linalg form to its code: the version and a hash of the sources that
/// determine that code (cmake/CodeId.cmake) and of LLVM's version. It is part of every kernel's key and of the name of
/// the disk cache's folder, so no compiler finds code that a different code generator produced. A change elsewhere in
/// the compiler keeps the cache warm: it can change a kernel's code only through the kernel's text, which is part of
/// the key too.
std::string codeId();

/// The packs of this process: those that HALFTONE_KERNEL_PACK lists, which the first call opens, and added ones. Their
/// code id is codeId().
KernelPacks &kernelPacks();

/// Code by kernel key, in memory, in a CacheFolder named by the code id, and in kernel packs, which are only read; they
/// are searched in this order. Safe to use from several threads, and, on disk, from several processes. Memory holds the
/// most recently used code, up to a limit in bytes; programs own copies of theirs.
class KernelCache {
public:
  enum class Source : uint8_t { memory, disk, pack };
  static constexpr size_t usualMemoryLimit = size_t(64) << 20;
  struct Found {
    std::shared_ptr<const KernelCode> kernel;
    Source source;
  };

  /// `directory`: "" for $XDG_CACHE_HOME/halftone, or ~/.cache/halftone; "none" disables the disk cache.
  explicit KernelCache(std::string_view directory = "", int64_t limit = usualCacheLimit,
                       size_t memoryLimit = usualMemoryLimit, const KernelPacks &packs = kernelPacks());

  /// Returns the process's cache over `directory`. There is one per spelling; it lives as long as the process.
  static KernelCache &shared(std::string_view directory);

  /// Returns nullopt if there is no entry. A damaged file counts as no entry, and insert() rewrites it.
  std::optional<Found> find(const std::string &key);

  /// Stores `kernel` in memory and on disk. Returns the kernel that the cache holds under `key` from now on.
  std::shared_ptr<const KernelCode> insert(const std::string &key, KernelCode kernel);

  /// The reason why the cache does not use the disk, or why it could not write the last entry. Empty if neither
  /// occurred, or if the directory is "none".
  std::string warning() const { return disk_.warning(); }

  /// The reason why packs are not used, see KernelPacks::warning().
  const std::string &packWarning() const { return packs_.warning(); }

  /// The size in bytes of the code in memory.
  size_t bytesInMemory();

private:
  std::optional<KernelCode> readFromDisk(const std::string &key) const;

  struct Kept {
    std::string key;
    std::shared_ptr<const KernelCode> kernel;
  };
  std::shared_ptr<const KernelCode> foundLocked(const std::string &key);
  std::pair<std::shared_ptr<const KernelCode>, bool> keepLocked(const std::string &key, KernelCode kernel);

  const size_t memoryLimit_;
  std::mutex mutex_;
  std::list<Kept> kept_; // most recently used first
  std::unordered_map<std::string_view, std::list<Kept>::iterator> byKey_;
  size_t bytes_ = 0; // of the code in kept_
  CacheFolder disk_;
  const KernelPacks &packs_;
};

} // namespace halftone::compiler
