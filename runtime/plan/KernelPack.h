// Kernel packs: files of kernel code that programs ship, so that their first calls compile no kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Executable.h"
#include "runtime/base/OpenFile.h"
#include "runtime/base/Status.h"
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone {

/// The magic bytes of a cache entry with kernel code (cacheEntry()), with its format version.
inline constexpr std::string_view kernelEntryMagic = "halftone kernel 4\n";
/// The body of such an entry.
std::string writeKernelCode(const KernelCode &kernel);
/// The inverse of writeKernelCode(). nullopt for bytes that are not exactly one such body.
std::optional<KernelCode> readKernelCode(std::string_view body);

/// A file of cache entries with kernel code, by key:
///
///   magic "halftone pack 1\n", SHA-256 of the index, size of the index, index, entries
///
/// The index holds the code id of the compiler, the number of entries and, for each entry in ascending order of the
/// keys, its key, its offset from the end of the index, and its size. Entries are adjacent and reach to the end of the
/// file. Sizes and strings are those of SizedText.h; an entry is what cacheEntry() returns.
///
/// A pack holds machine code, so it is read under the same conditions as a cache entry: this user or root owns the
/// file, and nobody else may write to it. Safe for concurrent threads and processes. A file that is replaced by a rename
/// is read to the end of the object's life; one that is written in place is damaged, and its entries then count as
/// absent.
class KernelPack {
public:
  /// Opens a pack and reads its index. io_error for a file that cannot be read or that others may have written;
  /// value_error for a file that is no pack, that is damaged, or that has another code id. Both begin with the path or
  /// contain it.
  static StatusOr<std::shared_ptr<const KernelPack>> open(const std::string &path, const std::string &codeId);
  /// Returns nullopt if there is no entry; a damaged entry counts as absent.
  std::optional<KernelCode> find(const std::string &key) const;

private:
  struct Range {
    int64_t offset; // in the file
    size_t size;
  };
  explicit KernelPack(OpenFile file) : file_(std::move(file)) {}
  Status readHeader(const std::string &codeId, int64_t size);
  Status readIndex(std::string_view index, const std::string &codeId, Range entries);

  OpenFile file_;
  std::map<std::string, Range> entries_;
};

/// Writes a pack as replaceFile() does, without write permissions for others. Returns its size in bytes. Equal kernels
/// give equal bytes. value_error for kernels that exceed the size limits of packs.
StatusOr<int64_t> saveKernelPack(const std::string &path, const std::string &codeId,
                                 const std::map<std::string, KernelCode> &kernels);

/// A list of packs that are searched in order. Safe for concurrent threads.
class KernelPacks {
public:
  /// Opens the files that an environment variable lists, separated by ':'. Files that open() rejects are skipped.
  KernelPacks(std::string codeId, const char *variable);
  /// Adds a pack at the end; a pack of the same path is replaced. Errors as KernelPack::open().
  Status add(const std::string &path);
  std::optional<KernelCode> find(const std::string &key) const;
  /// Names the variable, and why files that it lists were skipped. Empty if none was.
  const std::string &warning() const { return warning_; }

private:
  struct Named {
    std::string path;
    std::shared_ptr<const KernelPack> pack;
  };
  const std::string codeId_;
  std::string warning_;
  mutable std::mutex mutex_;
  std::vector<Named> packs_;
};

} // namespace halftone
