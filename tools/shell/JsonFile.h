// Reads the JSON files that commands get.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Config.h"
#include <string>

namespace halftone::tools {

/// The JSON object in a file. io_error or value_error that names the file.
Config parseFile(const std::string &path);

} // namespace halftone::tools
