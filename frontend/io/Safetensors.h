// safetensors files: a JSON header with names, dtypes and ranges, then the bytes of the tensors.
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

/// A tensor as the header describes it. `begin` and `end` count bytes from the end of the header.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::float32;
  std::vector<int64_t> dims;
  int64_t begin = 0, end = 0;
};
struct SafetensorsHeader {
  std::map<std::string, std::string> metadata; // of "__metadata__"
  std::vector<SafetensorsEntry> tensors;       // in the order of the text
};
/// The header of a file at `path` with `dataBytes` bytes after the header. io_error unless the ranges of the tensors
/// cover all bytes once, each fits its dtype and shape, and no name stands twice.
SafetensorsHeader parseSafetensorsHeader(const std::string &path, std::string_view text, int64_t dataBytes);

/// The text that names a tensor in errors: in quotes, without control characters, of at most 80 characters.
std::string quotedName(const std::string &name);

/// The contents of a file.
struct Safetensors {
  std::map<std::string, std::string> metadata{};
  std::vector<std::pair<std::string, Tensor>> tensors{};
};
/// The tensors share the mapped file. io_error that names it.
Safetensors readSafetensors(const std::string &path);
/// Replaces the file. io_error when it cannot be written; value_error for an undefined tensor, or for a name that is
/// "__metadata__", stands twice or is no UTF-8, and past a limit of runtime/base/FileLimits.h.
void writeSafetensors(const std::string &path, const Safetensors &contents);

/// The dtype's name in files, "BF16"; "" if files cannot hold it.
std::string_view safetensorsName(DType dtype);

} // namespace halftone::detail
