// An open file of the system, which is closed at the end of the object's life.
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
  /// An empty file in memory. io_error if the system has none left; `name` is for the error.
  static Descriptor memory(const std::string &name);
  /// A regular file for reading; errors as of openFile().
  static Descriptor reading(const std::string &path);

  /// Another descriptor of the same open file, with a number of at least `least`.
  Descriptor copy(const std::string &name, int least = 0) const;

  int number() const { return file_.number(); }
  /// Bytes. The functions below throw an io_error that begins with `name` if the system fails.
  int64_t size(const std::string &name) const;
  void readAt(int64_t offset, std::span<std::byte> to, const std::string &name) const;
  /// All bytes, which stay when the descriptor is closed.
  std::shared_ptr<MappedFile> mapped(const std::string &name) const;
  void writeAt(int64_t offset, std::span<const std::byte> from, const std::string &name) const;

private:
  OpenFile file_;
};

/// A part of a file.
struct FileRange {
  Descriptor file;
  int64_t offset = 0, bytes = 0;
};

} // namespace halftone::detail
