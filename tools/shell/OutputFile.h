// Checks that an output file can be written, before a long run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace halftone::tools {

/// The reason why the file cannot be written, or "". A file that did not exist is not left behind; symlinks are
/// followed and kept. A FIFO is not opened, since that could block until there is a reader.
std::string faultOfOutput(const std::string &path);

} // namespace halftone::tools
