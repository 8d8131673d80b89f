// Creates and removes a temporary folder.
// SPDX-License-Identifier: Apache-2.0
#include "Folder.h"
#include <cstdlib>
#include <stdexcept>

namespace halftone::benchmarks {

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "halftone-bench-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    throw std::runtime_error("cannot make " + pattern);
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

} // namespace halftone::benchmarks
