// Searches the folders above the library for libexec/halftone.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/LibexecFile.h"
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace halftone {

namespace fs = std::filesystem;

fs::path ownFile() {
  Dl_info info{};
  std::error_code ignored;
  if (::dladdr(reinterpret_cast<const void *>(&ownFile), &info) != 0 && std::strchr(info.dli_fname, '/'))
    if (fs::path path = fs::canonical(info.dli_fname, ignored); !path.empty())
      return path;
  return fs::canonical("/proc/self/exe", ignored);
}

std::string libexecFile(const std::string &name, int mode) {
  fs::path folder = ownFile().parent_path();
  for (int level = 0; level < 5 && folder.has_relative_path(); ++level, folder = folder.parent_path())
    if (const fs::path file = folder / "libexec/halftone" / name; ::access(file.c_str(), mode) == 0)
      return file;
  return "";
}

} // namespace halftone
