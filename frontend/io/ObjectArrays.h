// NumPy arrays of objects, which .npz archives hold in Python's pickle format.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halftone::detail {

/// The lists of integers in a .npy file of a one-dimensional array of them. Nothing that a pickle may call is called: the
/// functions that rebuild an array are known by their names, and every other one is refused. io_error that names the file.
std::vector<std::vector<int64_t>> readIntegerLists(const std::string &name, std::span<const std::byte> bytes);

} // namespace halftone::detail
