// A .keras archive: a zip with config.json, metadata.json and the weights; also zips of other data.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/Descriptor.h"
#include "frontend/io/MappedZipSource.h"
#include "halftone/Config.h"
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace halftone::detail {

/// An open zip archive, whose file stays mapped during the object's lifetime; the file must not be truncated in place
/// meanwhile. Every error names the file and, if it concerns a member, the member.
class KerasArchive {
public:
  /// io_error if the file cannot be read or is not a zip; the error names the `kind` of archive and its `first` member.
  explicit KerasArchive(const std::string &path, const char *kind = "a .keras archive",
                        const char *first = "config.json");
  bool contains(const std::string &member) const;
  /// The JSON object in a member. io_error if the member is missing or duplicated, if its data is damaged, or if it is
  /// larger than `maxJsonBytes`; value_error if it is not a JSON object.
  Config json(const std::string &member) const;
  /// The same bytes as text.
  std::string text(const std::string &member) const;
  /// The data of a member: its range in the archive, or an in-memory file for compressed data. io_error as above, and
  /// if the data is larger than `maxBytes` bytes.
  FileRange data(const std::string &member, int64_t maxBytes) const;
  const std::string &path() const { return path_; }

private:
  struct Close {
    void operator()(zip_t *archive) const;
  };
  struct CloseMember {
    void operator()(zip_file_t *file) const;
  };
  /// io_error if there is no such member.
  uint64_t indexOf(const std::string &member) const;
  std::unique_ptr<zip_file_t, CloseMember> open(const std::string &member, uint64_t index, bool isRaw) const;
  /// The data of a member that is neither compressed nor encrypted; nullopt for others. io_error if the data is
  /// damaged.
  std::optional<std::span<const std::byte>> stored(const std::string &member) const;
  /// Passes the member's data to `take` in chunks. io_error if the member is missing or its data is damaged.
  void read(const std::string &member, const std::function<void(std::span<const std::byte>)> &take) const;
  [[noreturn]] void fail(const std::string &member, const std::string &found) const;

  std::string path_;
  const char *kind_; // for errors
  Descriptor file_;
  std::shared_ptr<MappedFile> mapped_;
  std::unique_ptr<MappedZipSource> source_;
  std::unique_ptr<zip_t, Close> archive_;
};

} // namespace halftone::detail
