// A temporary folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

namespace halftone::benchmarks {

/// A new empty folder, removed with its contents by the destructor.
class Folder {
public:
  Folder(); // std::runtime_error if it cannot be created
  ~Folder();
  Folder(const Folder &) = delete;
  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

} // namespace halftone::benchmarks
