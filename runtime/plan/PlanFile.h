// Serialization of executables: the binary format, its writer and its bounds-checked reader.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Executable.h"
#include "runtime/base/Status.h"
#include <string>
#include <string_view>

namespace halftone {

/// The format version. A file is little-endian: magic "HTPLAN\r
/// ", format version (u32), CRC-32 of the rest (u32), then the fields of Executable in the order of their declaration:
/// integers as 8 bytes, strings and lists after their length.
inline constexpr uint32_t planFileVersion = 10;
/// The oldest readable version. Version 9 has no cores; version 8 has no repeats either, and its slots are whole tensors.
inline constexpr uint32_t oldestPlanFileVersion = 8;

/// Serializes an executable. The output is deterministic.
std::string writeExecutable(const Executable &executable);

/// The inverse of writeExecutable(). Any input is safe; value_error names the fault and its offset. The returned plan
/// has passed verify(). (Playing it runs the contained machine code: trust the file as you would trust a shared
/// library.)
StatusOr<Executable> readExecutable(std::string_view bytes);

/// Reads a file. io_error with the path and the system's reason; value_error with the path for a damaged file.
StatusOr<Executable> loadExecutable(const std::string &path);
/// Writes a file as writeFile() does: readers see either the whole old file or the whole new file.
Status saveExecutable(const Executable &executable, const std::string &path);

} // namespace halftone
