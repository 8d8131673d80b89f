// The safetensors format: a JSON header with names, dtypes and byte ranges, then the data of the tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include "runtime/base/FileLimits.h"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone::detail {

/// A tensor as described by the header. `begin` and `end` are byte offsets from the end of the header.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::float32;
  std::vector<int64_t> dims;
  int64_t begin = 0, end = 0;
};
struct SafetensorsHeader {
  std::map<std::string, std::string> metadata; // "__metadata__"
  std::vector<SafetensorsEntry> tensors;       // in header order
};
/// Parses the header of the file at `path` that has `dataBytes` bytes of data. io_error unless the tensors' ranges
/// cover all data exactly once, each range fits its dtype and shape, and names are unique.
SafetensorsHeader parseSafetensorsHeader(const std::string &path, std::string_view text, int64_t dataBytes);

/// A tensor name for errors: quoted, without control characters, at most 80 characters.
std::string quotedName(const std::string &name);

/// The contents of a file.
struct Safetensors {
  std::map<std::string, std::string> metadata{};
  std::vector<std::pair<std::string, Tensor>> tensors{};
};
/// The tensors share the mapped file. io_error naming the file.
Safetensors readSafetensors(const std::string &path);
/// Replaces the file. io_error if it cannot be written. value_error for an undefined tensor, for a name that is
/// "__metadata__", duplicated or not UTF-8, and beyond a limit of runtime/base/FileLimits.h.
void writeSafetensors(const std::string &path, const Safetensors &contents);

/// The dtype's name in files, such as "BF16"; "" if the format does not support it.
std::string_view safetensorsName(DType dtype);

} // namespace halftone::detail
