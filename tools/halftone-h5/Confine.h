// Gives up the process's rights before it looks at a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone::h5 {

/// The descriptor on which the library hands over the file.
inline constexpr int fileDescriptor = 3;

/// Closes every other descriptor but the standard ones, and sets the limits: 1 GiB of address space, 20 s of CPU, and
/// `openFiles` more open files, which the HDF5 file itself takes: libhdf5 opens it once to read it, and twice to make it.
/// False if the system refuses.
bool confine(int openFiles);

} // namespace halftone::h5
