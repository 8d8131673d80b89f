// Parses NumPy's .npy format from memory, as used for members of .npz archives.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include <cstddef>
#include <span>
#include <string>

namespace halftone {

/// Parses the bytes of a .npy file. io_error as for Tensor::load_npy(), with `name` in place of the file name.
Tensor readNpy(const std::string &name, std::span<const std::byte> bytes);

} // namespace halftone
