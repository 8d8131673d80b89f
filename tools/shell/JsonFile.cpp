// Reads JSON files.
// SPDX-License-Identifier: Apache-2.0
#include "JsonFile.h"
#include "halftone/Error.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

namespace halftone::tools {

Config parseFile(const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  std::string text;
  char buffer[4096];
  size_t count = 0;
  while (file && (count = std::fread(buffer, 1, sizeof buffer, file)) > 0)
    text.append(buffer, count);
  const int reason = !file || std::ferror(file) ? errno : 0;
  if (file)
    (void)std::fclose(file);
  if (reason)
    throw Error(ErrorKind::io_error, fmt::format("cannot read {}: {}", path, std::strerror(reason)));
  try {
    return Config::parse(text);
  } catch (const Error &error) {
    throw Error(error.kind(), fmt::format("{}: {}", path, error.message()));
  }
}

} // namespace halftone::tools
