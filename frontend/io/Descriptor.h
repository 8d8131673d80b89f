// An owned file descriptor, closed by the destructor.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/MappedFile.h"
#include "runtime/base/OpenFile.h"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace halftone::detail {

class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(OpenFile file) : file_(std::move(file)) {}
  /// An empty file in memory. io_error, naming `name`, if the system cannot create one.
  static Descriptor memory(const std::string &name);
  /// Opens a regular file for reading. Errors as for openFile().
  static Descriptor reading(const std::string &path);

  /// A duplicate of the descriptor, with a number of at least `least`.
  Descriptor copy(const std::string &name, int least = 0) const;

  int number() const { return file_.number(); }
  /// In bytes. The functions below throw an io_error that begins with `name` if a system call fails.
  int64_t size(const std::string &name) const;
  void readAt(int64_t offset, std::span<std::byte> to, const std::string &name) const;
  /// Maps the whole file. The mapping outlives the descriptor.
  std::shared_ptr<MappedFile> mapped(const std::string &name) const;
  void writeAt(int64_t offset, std::span<const std::byte> from, const std::string &name) const;

private:
  OpenFile file_;
};

/// A byte range of a file.
struct FileRange {
  Descriptor file;
  int64_t offset = 0, bytes = 0;
};

} // namespace halftone::detail
