// Memory-mapped files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace halftone {

/// The bytes of a regular file, valid while the object lives. The mapping is private: writes stay in this process and
/// never reach the file. The bytes stay valid if the file is replaced by a rename. Nobody may truncate the file in
/// place meanwhile: a read past its new end kills the process.
class MappedFile {
public:
  /// Maps a file. Errors as for openFile().
  static StatusOr<std::shared_ptr<MappedFile>> open(const std::string &path);
  /// Like open(path), for an open file, which the caller may close afterwards. `name` stands for its path in errors.
  static StatusOr<std::shared_ptr<MappedFile>> open(int descriptor, const std::string &name);
  MappedFile(const MappedFile &) = delete;
  ~MappedFile();
  std::span<std::byte> bytes() const { return bytes_; } // aligned to 64 bytes at least

private:
  explicit MappedFile(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_; // empty for an empty file, which is not mapped
};

} // namespace halftone
