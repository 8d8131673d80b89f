// Writes the headers of a zip archive around its members: PKWARE's APPNOTE, sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16 and 4.5.3.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/StoredZip.h"
#include "runtime/base/Crc32.h"
#include "runtime/base/WriteFile.h"
#include <limits>
#include <span>

namespace halftone::detail {

namespace {

constexpr uint64_t largest =
    std::numeric_limits<uint32_t>::max(); // of a field; in a header it refers to the zip64 fields
constexpr uint32_t version = 20, zip64Version = 45, firstOfJanuary1980 = 0x21;

/// Appends little-endian integers of 2, 4 or 8 bytes.
struct Header {
  std::string bytes;
  Header &two(uint64_t value) { return add(value, 2); }
  Header &four(uint64_t value) { return add(value, 4); }
  Header &eight(uint64_t value) { return add(value, 8); }
  Header &add(uint64_t value, int size) {
    for (int i = 0; i < size; ++i)
      bytes += static_cast<char>(value >> (8 * i));
    return *this;
  }
};

struct Member {
  std::string name;
  uint32_t sum = 0;
  uint64_t size = 0, offset = 0;
  bool isWide = false; // sizes and offset are in zip64 fields
};

/// The fields that both headers of a member share, up to the lengths of name and extra fields.
void describe(Header &header, const Member &member, uint64_t extraBytes) {
  const uint64_t size = member.isWide ? largest : member.size;
  header.two(member.isWide ? zip64Version : version).two(0).two(0).two(0).two(firstOfJanuary1980);
  header.four(member.sum).four(size).four(size).two(member.name.size()).two(extraBytes);
}

/// Aligns the member's bytes to `alignment`, so that readers can use its values in place. An extra field, like that of
/// Android's zipalign, fills the gap.
std::string localHeader(const Member &member) {
  constexpr uint64_t alignment = 64, fixedBytes = 30, fieldBytes = 6;
  const uint64_t wideBytes = member.isWide ? 20 : 0;
  const uint64_t begin = member.offset + fixedBytes + member.name.size() + wideBytes + fieldBytes;
  const uint64_t gap = (alignment - begin % alignment) % alignment;
  Header header;
  header.four(0x04034b50);
  describe(header, member, wideBytes + fieldBytes + gap);
  header.bytes += member.name;
  if (member.isWide)
    header.two(1).two(16).eight(member.size).eight(member.size);
  header.two(0xd935).two(2 + gap).two(alignment);
  return header.bytes.append(gap, '\0');
}

void addToDirectory(Header &directory, const Member &member) {
  directory.four(0x02014b50).two(member.isWide ? zip64Version : version);
  describe(directory, member, member.isWide ? 28 : 0);
  directory.two(0).two(0).two(0).four(0).four(member.isWide ? largest : member.offset);
  directory.bytes += member.name;
  if (member.isWide)
    directory.two(1).two(24).eight(member.size).eight(member.size).eight(member.offset);
}

/// Ends the central directory, which begins at `offset`.
void endDirectory(Header &directory, uint64_t count, uint64_t offset, bool isWide) {
  const uint64_t size = directory.bytes.size();
  if (isWide) {
    directory.four(0x06064b50).eight(44).two(zip64Version).two(zip64Version).four(0).four(0);
    directory.eight(count).eight(count).eight(size).eight(offset);
    directory.four(0x07064b50).four(0).eight(offset + size).four(1);
  }
  directory.four(0x06054b50).two(0).two(0).two(count).two(count);
  directory.four(size).four(isWide ? largest : offset).two(0);
}

} // namespace

Status writeStoredZip(const std::string &path, const std::vector<ZipMember> &members, uint64_t most) {
  std::vector<std::string> headers;
  Header directory;
  uint64_t offset = 0;
  bool isWide = false;
  for (const ZipMember &given : members) {
    Member member{.name = given.name, .offset = offset};
    for (const std::string_view chunk : given.chunks) {
      member.sum = crc32Of(std::as_bytes(std::span(chunk)), member.sum);
      member.size += chunk.size();
    }
    member.isWide = member.size >= most || offset >= most;
    addToDirectory(directory, member);
    offset += headers.emplace_back(localHeader(member)).size() + member.size;
    isWide |= member.isWide || offset >= most;
  }
  endDirectory(directory, members.size(), offset, isWide);
  std::vector<std::string_view> parts;
  for (size_t i = 0; i < members.size(); ++i) {
    parts.push_back(headers[i]);
    parts.insert(parts.end(), members[i].chunks.begin(), members[i].chunks.end());
  }
  parts.push_back(directory.bytes);
  return replaceFile(path, parts);
}

} // namespace halftone::detail
