// Image files of a folder, in Keras's order, with Keras's shuffle and split.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

struct ImageFolder {
  std::vector<std::string> files;      // paths
  std::vector<int64_t> labels;         // one per file; empty without labels
  std::vector<std::string> classNames; // empty without labels
};

/// The files of the subfolders, each of which is a class: those listed in `classes`, in that order, or all subfolders
/// in name order. value_error for a class that is not a folder; io_error for an unreadable folder;
/// not_implemented_error for a GIF or BMP file.
ImageFolder filesByClass(const std::string &directory, const std::vector<std::string> &classes, bool followLinks);
/// All image files of the folder.
ImageFolder filesOf(const std::string &directory, bool followLinks);

/// The permutation of 0 to count - 1 that numpy.random.RandomState(seed).shuffle() produces.
std::vector<int64_t> shuffledAsInNumPy(int64_t count, uint32_t seed);

} // namespace halftone::detail
