// Reads the members of .keras archives with libzip.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/KerasArchive.h"
#include "halftone/Error.h"
#include "runtime/base/Crc32.h"
#include "runtime/base/FileLimits.h"
#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace halftone::detail {

void KerasArchive::Close::operator()(zip_t *archive) const { zip_discard(archive); }
/// Ignores errors: all data was read and checked before.
void KerasArchive::CloseMember::operator()(zip_file_t *file) const { (void)zip_fclose(file); }

void KerasArchive::fail(const std::string &member, const std::string &found) const {
  throw Error(ErrorKind::io_error,
              fmt::format("{}: expected {}, a zip with {}; found: {}", path_, kind_, member, found));
}

/// libzip's text for an error.
static std::string reasonOf(zip_error_t error) {
  std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  return reason;
}

KerasArchive::KerasArchive(const std::string &path, const char *kind, const char *first)
    : path_(path), kind_(kind), file_(Descriptor::reading(path)) {
  mapped_ = file_.mapped(path);
  if (mapped_->bytes().empty())
    fail(first, "an empty file");
  source_ = std::make_unique<MappedZipSource>(mapped_->bytes());
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *const source = source_->make(&error);
  archive_.reset(source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr);
  if (!archive_) {
    zip_source_free(source);
    fail(first, reasonOf(error));
  }
  zip_error_fini(&error);
}

bool KerasArchive::contains(const std::string &member) const {
  return zip_name_locate(archive_.get(), member.c_str(), 0) >= 0;
}

uint64_t KerasArchive::indexOf(const std::string &member) const {
  const zip_int64_t index = zip_name_locate(archive_.get(), member.c_str(), 0);
  if (index < 0)
    fail(member, zip_strerror(archive_.get()));
  for (zip_int64_t other = index + 1; other < zip_get_num_entries(archive_.get(), 0); ++other)
    if (const char *name = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(other), 0); name && member == name)
      fail(member, fmt::format("{} twice", member)); // libzip finds the first, Python the last
  return static_cast<uint64_t>(index);
}

std::unique_ptr<zip_file_t, KerasArchive::CloseMember> KerasArchive::open(const std::string &member, uint64_t index,
                                                                          bool isRaw) const {
  std::unique_ptr<zip_file_t, CloseMember> file(zip_fopen_index(archive_.get(), index, isRaw ? ZIP_FL_COMPRESSED : 0));
  if (!file)
    fail(member, fmt::format("{} that cannot be opened: {}", member, zip_strerror(archive_.get())));
  return file;
}

std::optional<std::span<const std::byte>> KerasArchive::stored(const std::string &member) const {
  constexpr zip_uint64_t needed = ZIP_STAT_CRC | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  const uint64_t index = indexOf(member);
  zip_stat_t facts{};
  if (zip_stat_index(archive_.get(), index, 0, &facts) != 0 || (facts.valid & needed) != needed ||
      facts.comp_method != ZIP_CM_STORE || facts.encryption_method != ZIP_EM_NONE)
    return std::nullopt;
  char first = 0;
  if (facts.comp_size > 0 && zip_fread(open(member, index, true).get(), &first, 1) != 1)
    fail(member, fmt::format("damaged data in {}: the file ends within it", member));
  // The position at which libzip read that byte. If it were wrong, the checksum would not match.
  const std::span<const std::byte> rest = std::span(mapped_->bytes()).subspan(source_->lastRead());
  const std::span<const std::byte> bytes = rest.first(std::min<size_t>(facts.comp_size, rest.size()));
  if (crc32Of(bytes) != facts.crc)
    fail(member, fmt::format("damaged data in {}: CRC error", member));
  return bytes;
}

void KerasArchive::read(const std::string &member, const std::function<void(std::span<const std::byte>)> &take) const {
  if (const auto bytes = stored(member))
    return take(*bytes);
  const auto file = open(member, indexOf(member), false);
  std::vector<std::byte> buffer(1 << 20);
  zip_int64_t count = 0;
  // The size in the directory may be wrong. Reading to the end of the data also makes libzip verify the checksum.
  while ((count = zip_fread(file.get(), buffer.data(), buffer.size())) > 0)
    take(std::span(buffer).first(static_cast<size_t>(count)));
  if (count < 0)
    fail(member, fmt::format("damaged data in {}: {}", member, zip_file_strerror(file.get())));
}

std::string KerasArchive::text(const std::string &member) const {
  std::string text;
  read(member, [&](std::span<const std::byte> chunk) {
    if (std::ssize(text) + std::ssize(chunk) > maxJsonBytes)
      fail(member, fmt::format("{} of more than {} MiB", member, maxJsonBytes >> 20));
    text.append(reinterpret_cast<const char *>(chunk.data()), chunk.size());
  });
  return text;
}

Config KerasArchive::json(const std::string &member) const {
  const std::string text = this->text(member);
  try {
    return Config::parse(text);
  } catch (const Error &error) {
    throw Error(error.kind(), fmt::format("{}: {}: {}", path_, member, error.message()));
  }
}

FileRange KerasArchive::data(const std::string &member, int64_t maxBytes) const {
  const auto check = [&](int64_t bytes) {
    if (bytes > maxBytes)
      fail(member, fmt::format("{} of more than {} MiB, too large for the model", member, maxBytes >> 20));
  };
  if (const auto bytes = stored(member)) {
    check(std::ssize(*bytes));
    return {file_.copy(path_), bytes->data() - mapped_->bytes().data(), std::ssize(*bytes)};
  }
  FileRange unpacked{Descriptor::memory(path_)};
  read(member, [&](std::span<const std::byte> chunk) {
    unpacked.file.writeAt(unpacked.bytes, chunk, fmt::format("the uncompressed {} of {}", member, path_));
    unpacked.bytes += std::ssize(chunk);
    check(unpacked.bytes);
  });
  return unpacked;
}

} // namespace halftone::detail
