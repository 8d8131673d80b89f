// A .keras archive: a zip that holds config.json, metadata.json and the weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/Descriptor.h"
#include "halftone/Config.h"
#include <cstdint>
#include <functional>
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
  /// A copy of a member's data, a file in memory. io_error as above, and if it has more than `mostBytes` bytes.
  Descriptor copy(const std::string &member, int64_t mostBytes) const;
  const std::string &path() const { return path_; }

  static constexpr int64_t mostJsonBytes = 32 << 20;

private:
  struct Close {
    void operator()(struct zip *archive) const;
  };
  /// Gives the member's data, piece after piece, to `take`. io_error when there is no such member or its data are damaged.
  void read(const std::string &member, const std::function<void(std::string_view)> &take) const;
  [[noreturn]] void fail(const std::string &member, const std::string &found) const;

  std::string path_;
  std::unique_ptr<struct zip, Close> archive_;
};

} // namespace halftone::detail
