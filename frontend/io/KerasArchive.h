// A .keras archive: a zip that holds config.json, metadata.json and the weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Config.h"
#include <cstdint>
#include <memory>
#include <string>

struct zip;

namespace halftone::detail {

/// The archive is open while the object lives. Every error names the file and, if it concerns a member, the member.
class KerasArchive {
public:
  /// io_error when the file cannot be read or is no zip.
  explicit KerasArchive(const std::string &path);
  bool contains(const std::string &member) const;
  /// The JSON object in a member. io_error when there is no such member, when its data are damaged or when it has more
  /// than `mostJsonBytes` bytes; value_error when it holds no JSON object.
  Config json(const std::string &member) const;
  const std::string &path() const { return path_; }

  static constexpr int64_t mostJsonBytes = 32 << 20;

private:
  struct Close {
    void operator()(struct zip *archive) const;
  };
  [[noreturn]] void fail(const std::string &member, const std::string &found) const;

  std::string path_;
  std::unique_ptr<struct zip, Close> archive_;
};

} // namespace halftone::detail
