// Checks before a long run that its output can be written.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace halftone::tools {

/// Why the file cannot be written, or "". If it was not there, it is not there afterwards; symlinks are followed and stay. A FIFO
/// is not opened: it may wait for its reader.
std::string faultOfOutput(const std::string &path);

} // namespace halftone::tools
