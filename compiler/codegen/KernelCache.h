// Kernels' code by key: in this process, and on disk between processes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/plan/Executable.h"
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace halftone::compiler {

/// The identity of the compiler: the version and a hash of the compiler's sources. Part of every kernel's key and of
/// the disk cache's folder, so that a changed compiler never finds old code.
std::string buildId();

/// Code by kernel key. Safe for threads, and, on disk, for processes: an entry appears under its name complete or not
/// at all.
///
/// Each entry on disk is one file, `<directory>/<build id>/<key>`, with key, SHA-256 and size in its header. Loading
/// code is as trusting as loading a shared library, so this user must own the folder, nobody else may write to it, and
/// no part of the path from `<directory>` on may be a symlink. If that does not hold, or if the folder cannot be
/// written, the cache does not use the disk, and `complaint` gives the reason.
///
/// The entries of all builds in `<directory>` have at most `limit` bytes together. When they have more, the cache
/// removes the least recently used ones. Each process that writes at the same time may exceed the limit by a sixteenth.
class KernelCache {
public:
  enum class Source : uint8_t { memory, disk };
  struct Found {
    std::shared_ptr<const KernelCode> kernel;
    Source source;
  };

  /// `directory`: "" for $XDG_CACHE_HOME/halftone, or ~/.cache/halftone; "none" for no disk.
  explicit KernelCache(std::string_view directory = "", int64_t limit = int64_t(1) << 30);

  /// The process's cache over `directory`; one for each spelling, living as long as the process.
  static KernelCache &shared(std::string_view directory);

  /// nullopt when there is none; a damaged file counts as none, and insert writes it anew.
  std::optional<Found> find(const std::string &key);

  /// Keeps `kernel` and writes it to disk. Returns the kernel that the cache holds under `key` from now on.
  std::shared_ptr<const KernelCode> insert(const std::string &key, KernelCode kernel);

  /// The reason why the cache does not use the disk, or why it could not write the last entry. Empty when neither
  /// happened, and when the directory is "none".
  std::string complaint() const;

private:
  std::optional<KernelCode> read(const std::string &key) const;
  void write(const std::string &key, const KernelCode &kernel);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const KernelCode>> kernels_;
  std::string base_, folder_; // <directory>, and this build's folder in it; both empty without a disk
  std::string complaint_;
  int64_t limit_;
  std::optional<int64_t> unweighed_; // bytes written since entries were last added up; nullopt: never
};

} // namespace halftone::compiler
