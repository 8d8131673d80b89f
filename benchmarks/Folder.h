// A temporary folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

namespace halftone::benchmarks {

/// A new, empty folder, which is removed at the end with all that it holds.
class Folder {
public:
  Folder(); // std::runtime_error when it cannot be made
  ~Folder();
  Folder(const Folder &) = delete;
  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

} // namespace halftone::benchmarks
