// The image files in a folder, in Keras's order, and how Keras shuffles and splits them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

struct ImageFolder {
  std::vector<std::string> files;      // paths
  std::vector<int64_t> labels;         // of the files; empty without labels
  std::vector<std::string> classNames; // the same
};

/// The files of the folders inside, each of which is a class: those in `classes` in this order, or all in the order of their names.
/// value_error for a class that is no folder; io_error for a folder that cannot be read; not_implemented_error for a GIF or BMP
/// file.
ImageFolder filesByClass(const std::string &directory, const std::vector<std::string> &classes, bool followLinks);
/// All files.
ImageFolder filesOf(const std::string &directory, bool followLinks);

/// 0 to count - 1 in the order in which numpy.random.RandomState(seed).shuffle() leaves them.
std::vector<int64_t> shuffledAsInNumPy(int64_t count, uint32_t seed);

} // namespace halftone::detail
