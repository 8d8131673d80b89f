// Drops the rights of a child program before it reads a file (runtime/base/ChildProgram.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace halftone::tools {

/// The descriptor on which a child program receives its file.
inline constexpr int fileDescriptor = 3;

/// Closes all descriptors except the standard ones and this file, and sets limits: 1 GiB of address space besides
/// `mappedBytes` of the file, 20 s of CPU time, and `openFiles` more open files (libhdf5 opens a file twice to create
/// it). Lower limits of the process are kept. Returns false if a system call fails.
bool confine(size_t mappedBytes, int openFiles);
inline constexpr const char *refusedLimits = "the system rejects resource limits";

} // namespace halftone::tools
