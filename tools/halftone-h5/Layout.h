// The datasets of a file as a table, and a new file from such a table.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hdf5.h>
#include <istream>
#include <string>

namespace halftone::h5 {

/// The most rows that a table may have.
inline constexpr size_t mostRows = size_t{1} << 20;

/// Prints a line for each dataset: where its numbers begin in the file, how many bytes they are, their dtype, extents
/// and path. "8192 48 float32 4,3 layers/dense/vars/0"; the extents of a scalar are "-". The offset is -1 if the
/// numbers are not in one piece as they are. Returns "" or an error.
std::string list(hid_t file);

/// Makes the objects that the lines of `wanted` name, with room for the numbers, which the library writes:
/// "dataset float32 4,3 layers/dense/vars/0", and "group layers/dense/vars hidden", whose attribute "name" becomes the
/// rest of the line. Returns "" or an error.
std::string layOut(hid_t file, std::istream &wanted);

/// Prints the numbers of a dataset, little-endian, in row-major order. Returns "" or an error.
std::string printNumbers(hid_t file, const std::string &path);

} // namespace halftone::h5
