// Sizes and strings in cache files: a size is eight bytes, little-endian; a string is its size followed by its bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace halftone {

inline void putSize(std::string &out, uint64_t size) {
  for (int byte = 0; byte < 8; ++byte)
    out.push_back(char(size >> (8 * byte)));
}

inline void putString(std::string &out, std::string_view text) {
  putSize(out, text.size());
  out.append(text);
}

/// Consumes a size from the front of `in`; returns false if it is truncated.
inline bool takeSize(std::string_view &in, uint64_t &size) {
  if (in.size() < 8)
    return false;
  size = 0;
  for (int byte = 0; byte < 8; ++byte)
    size |= uint64_t(uint8_t(in[byte])) << (8 * byte);
  in.remove_prefix(8);
  return true;
}

/// Like takeSize(), for a string.
inline bool takeString(std::string_view &in, std::string &text) {
  uint64_t size = 0;
  if (!takeSize(in, size) || in.size() < size)
    return false;
  text = in.substr(0, size);
  in.remove_prefix(size);
  return true;
}

} // namespace halftone
