// Reads JSON files.
// SPDX-License-Identifier: Apache-2.0
#include "JsonFile.h"
#include "halftone/Error.h"
#include "runtime/base/FileLimits.h"
#include "runtime/base/OpenFile.h"
#include <fmt/format.h>

namespace halftone::tools {

Config parseFile(const std::string &path) {
  const std::string text = readFile(path, detail::maxJsonBytes).valueOrThrow();
  try {
    return Config::parse(text);
  } catch (const Error &error) {
    throw Error(error.kind(), fmt::format("{}: {}", path, error.message()));
  }
}

} // namespace halftone::tools
