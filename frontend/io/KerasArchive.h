// A .keras archive, a zip that holds config.json, metadata.json and the weights; and zips of other data.
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

/// The archive is open, and its file mapped, while the object lives: nobody may shorten the file in place meanwhile. Every
/// error names the file and, if it concerns a member, the member.
class KerasArchive {
public:
  /// io_error when the file cannot be read or is no zip; the error names the `kind` of archive and its `first` member.
  explicit KerasArchive(const std::string &path, const char *kind = "a .keras archive",
                        const char *first = "config.json");
  bool contains(const std::string &member) const;
  /// The JSON object in a member. io_error when there is no such member or two, when its data are damaged or when it has more
  /// than `mostJsonBytes` bytes; value_error when it holds no JSON object.
  Config json(const std::string &member) const;
  /// The same bytes as text.
  std::string text(const std::string &member) const;
  /// A member's data: their place in the archive, or for packed data a file in memory. io_error as above, and if it has more
  /// than `mostBytes` bytes.
  FileRange data(const std::string &member, int64_t mostBytes) const;
  const std::string &path() const { return path_; }

private:
  struct Close {
    void operator()(zip_t *archive) const;
  };
  struct CloseMember {
    void operator()(zip_file_t *file) const;
  };
  /// io_error when there is no such member.
  uint64_t indexOf(const std::string &member) const;
  std::unique_ptr<zip_file_t, CloseMember> open(const std::string &member, uint64_t index, bool isRaw) const;
  /// The data of a member that is neither packed nor encrypted; nullopt for others. io_error when they are damaged.
  std::optional<std::span<const std::byte>> stored(const std::string &member) const;
  /// Gives the member's data, piece after piece, to `take`. io_error when there is no such member or its data are damaged.
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
