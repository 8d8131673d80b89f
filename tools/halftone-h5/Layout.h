// Prints the datasets of a file as a table, and creates a file from such a table.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hdf5.h>
#include <istream>
#include <string>

namespace halftone::h5 {

/// The maximum number of rows of a table.
inline constexpr size_t maxRows = size_t{1} << 20;

/// Prints a line for each dataset: the file offset of its values, their size in bytes, their dtype, extents and path:
/// "8192 48 float32 4,3 layers/dense/vars/0". The extents of a scalar are "-". The offset is -1 if the values are not
/// stored contiguously and unencoded. Returns "" or an error.
std::string list(hid_t file);

/// Creates the objects named by the lines of `wanted`, with space for the values, which the library writes. The lines
/// are "dataset float32 4,3 layers/dense/vars/0" and "group layers/dense/vars hidden", where the rest of the line
/// becomes the "name" attribute. Returns "" or an error.
std::string layOut(hid_t file, std::istream &wanted);

/// Prints the values of a dataset, little-endian, in row-major order. Returns "" or an error.
std::string printNumbers(hid_t file, const std::string &path);

} // namespace halftone::h5
