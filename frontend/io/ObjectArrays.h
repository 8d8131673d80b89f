// NumPy arrays of objects, stored in .npz archives as Python pickles.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halftone::detail {

/// The lists of integers in a .npy file with a one-dimensional object array. The reader calls nothing that the pickle
/// names: it recognizes the functions that rebuild an array by name and rejects all others. io_error naming the file.
std::vector<std::vector<int64_t>> readIntegerLists(const std::string &name, std::span<const std::byte> bytes);

} // namespace halftone::detail
