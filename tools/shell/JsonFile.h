// Reads JSON files given to commands.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Config.h"
#include <string>

namespace halftone::tools {

/// The JSON object in a file. io_error or value_error naming the file.
Config parseFile(const std::string &path);

} // namespace halftone::tools
