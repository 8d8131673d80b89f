// Lays out a zip's headers around its members: PKWARE's APPNOTE, sections 4.3.7, 4.3.12 and 4.3.16.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/StoredZip.h"
#include "runtime/base/WriteFile.h"
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <zlib.h>

namespace halftone::detail {

namespace {

constexpr uint32_t version = 20, firstOfJanuary1980 = 0x21;

/// Appends little-endian numbers of 2 or 4 bytes.
struct Header {
  std::string bytes;
  Header &two(uint32_t value) { return add(value, 2); }
  Header &four(uint32_t value) { return add(value, 4); }
  Header &add(uint32_t value, int size) {
    for (int i = 0; i < size; ++i)
      bytes += static_cast<char>(value >> (8 * i));
    return *this;
  }
};

uint32_t checksum(std::string_view data) {
  uLong sum = crc32_z(0, nullptr, 0);
  return static_cast<uint32_t>(crc32_z(sum, reinterpret_cast<const Bytef *>(data.data()), data.size()));
}

/// The fields that both headers of a member have.
void describe(Header &header, const std::string &name, uint32_t sum, uint32_t size) {
  header.two(version).two(0).two(0).two(0).two(firstOfJanuary1980).four(sum).four(size).four(size);
  header.two(static_cast<uint32_t>(name.size())).two(0);
}

} // namespace

Status writeStoredZip(const std::string &path, const std::vector<std::pair<std::string, std::string_view>> &members) {
  constexpr uint64_t most = std::numeric_limits<uint32_t>::max();
  std::vector<Header> headers;
  Header directory;
  uint64_t offset = 0;
  for (const auto &[name, data] : members) {
    if (data.size() >= most || offset + data.size() >= most)
      return {ErrorKind::io_error, fmt::format("cannot write {}: {} has {} bytes, and a .keras file can have 4 GiB",
                                               path, name, data.size())};
    const uint32_t sum = checksum(data), size = static_cast<uint32_t>(data.size());
    Header &local = headers.emplace_back();
    local.four(0x04034b50);
    describe(local, name, sum, size);
    local.bytes += name;
    directory.four(0x02014b50).two(version);
    describe(directory, name, sum, size);
    directory.two(0).two(0).two(0).four(0).four(static_cast<uint32_t>(offset));
    directory.bytes += name;
    offset += local.bytes.size() + data.size();
  }
  const auto count = static_cast<uint32_t>(members.size());
  const auto directorySize = static_cast<uint32_t>(directory.bytes.size());
  directory.four(0x06054b50).two(0).two(0).two(count).two(count);
  directory.four(directorySize).four(static_cast<uint32_t>(offset)).two(0);
  std::vector<std::string_view> parts;
  for (size_t i = 0; i < members.size(); ++i) {
    parts.push_back(headers[i].bytes);
    parts.push_back(members[i].second);
  }
  parts.push_back(directory.bytes);
  return replaceFile(path, parts);
}

} // namespace halftone::detail
