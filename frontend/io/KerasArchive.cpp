// Reads the members of .keras archives by libzip.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/KerasArchive.h"
#include "halftone/Error.h"
#include "runtime/base/Crc32.h"
#include <filesystem>
#include <fmt/format.h>
#include <vector>
#include <zip.h>

namespace halftone::detail {

namespace {
struct CloseMember {
  void operator()(zip_file_t *file) const { (void)zip_fclose(file); }
};
} // namespace

void KerasArchive::Close::operator()(struct zip *archive) const { zip_discard(archive); }

void KerasArchive::fail(const std::string &member, const std::string &found) const {
  throw Error(ErrorKind::io_error,
              fmt::format("{}: expected a .keras archive, a zip with {}; found: {}", path_, member, found));
}

KerasArchive::KerasArchive(const std::string &path) : path_(path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    fail("config.json", "a directory");
  int code = 0;
  archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (archive_)
    return;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (code == ZIP_ER_NOENT || code == ZIP_ER_OPEN)
    throw Error(ErrorKind::io_error, fmt::format("cannot read {}: {}", path, reason));
  fail("config.json", reason);
}

bool KerasArchive::contains(const std::string &member) const {
  return zip_name_locate(archive_.get(), member.c_str(), 0) >= 0;
}

void KerasArchive::read(const std::string &member, const std::function<void(std::string_view)> &take) const {
  const zip_int64_t index = zip_name_locate(archive_.get(), member.c_str(), 0);
  zip_stat_t facts{};
  if (index < 0 || zip_stat_index(archive_.get(), static_cast<zip_uint64_t>(index), 0, &facts) != 0)
    fail(member, zip_strerror(archive_.get()));
  // libzip checks the checksum of a packed member. A stored member is read raw, and its checksum is checked here: faster.
  constexpr zip_uint64_t needed = ZIP_STAT_CRC | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  const bool isStored =
      (facts.valid & needed) == needed && facts.comp_method == ZIP_CM_STORE && facts.encryption_method == ZIP_EM_NONE;
  const std::unique_ptr<zip_file_t, CloseMember> file(
      zip_fopen_index(archive_.get(), static_cast<zip_uint64_t>(index), isStored ? ZIP_FL_COMPRESSED : 0));
  if (!file)
    fail(member, fmt::format("{} that cannot be opened: {}", member, zip_strerror(archive_.get())));
  std::vector<char> buffer(1 << 20);
  zip_int64_t count = 0;
  uint32_t sum = 0;
  // The size in the directory may be wrong. Reading to the end of packed data makes libzip also compare the checksum.
  while ((count = zip_fread(file.get(), buffer.data(), buffer.size())) > 0) {
    const std::string_view piece(buffer.data(), static_cast<size_t>(count));
    if (isStored)
      sum = crc32Of(std::as_bytes(std::span(piece)), sum);
    take(piece);
  }
  if (count < 0)
    fail(member, fmt::format("damaged data in {}: {}", member, zip_file_strerror(file.get())));
  if (isStored && sum != facts.crc)
    fail(member, fmt::format("damaged data in {}: CRC error", member));
}

Config KerasArchive::json(const std::string &member) const {
  std::string text;
  read(member, [&](std::string_view piece) {
    text += piece;
    if (static_cast<int64_t>(text.size()) > mostJsonBytes)
      fail(member, fmt::format("{} of more than {} MiB", member, mostJsonBytes >> 20));
  });
  try {
    return Config::parse(text);
  } catch (const Error &error) {
    throw Error(error.kind(), fmt::format("{}: {}: {}", path_, member, error.message()));
  }
}

Descriptor KerasArchive::copy(const std::string &member, int64_t mostBytes) const {
  Descriptor file = Descriptor::memory(path_);
  int64_t size = 0;
  read(member, [&](std::string_view piece) {
    file.writeAt(size, std::as_bytes(std::span(piece)), path_);
    size += std::ssize(piece);
    if (size > mostBytes)
      fail(member, fmt::format("{} of more than {} MiB, too many for the model", member, mostBytes >> 20));
  });
  return file;
}

} // namespace halftone::detail
