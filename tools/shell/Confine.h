// Gives up a child program's rights before it looks at a file (runtime/base/ChildProgram.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace halftone::tools {

/// The descriptor on which a child program gets its file.
inline constexpr int fileDescriptor = 3;

/// Closes every other descriptor but the standard ones, and sets the limits: 1 GiB of address space beside `mappedBytes` of
/// the file, 20 s of CPU, and `openFiles` more open files: libhdf5 opens a file twice to make it. A lower limit that the
/// process has already stays. False if the system refuses.
bool confine(size_t mappedBytes, int openFiles);
inline constexpr const char *refusedLimits = "the system refuses limits";

} // namespace halftone::tools
