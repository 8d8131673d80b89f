// Opens a file for writing, and removes it if it is new.
// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/OutputFile.h"
#include "runtime/base/WriteFile.h"
#include <filesystem>

namespace halftone::tools {

std::string faultOfOutput(const std::string &path) {
  std::error_code ignored;
  const bool isNew = !std::filesystem::exists(path, ignored);
  if (std::filesystem::is_fifo(path, ignored))
    return "";
  const StatusOr<GrowingFile> file = GrowingFile::open(path, /*appends=*/true);
  if (!file)
    return file.status().message();
  if (isNew) // the file itself, not a link to it
    std::filesystem::remove(std::filesystem::canonical(path, ignored), ignored);
  return "";
}

} // namespace halftone::tools
