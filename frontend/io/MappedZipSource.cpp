// Implements libzip's source commands on a mapped file.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/MappedZipSource.h"
#include <algorithm>
#include <cstring>

namespace halftone::detail {

zip_source_t *MappedZipSource::make(zip_error_t *error) {
  return zip_source_function_create(
      [](void *self, void *data, zip_uint64_t size, zip_source_cmd_t command) -> zip_int64_t {
        return static_cast<MappedZipSource *>(self)->answer(command, data, size);
      },
      this, error);
}

int64_t MappedZipSource::answer(int command, void *data, uint64_t size) {
  switch (command) {
  case ZIP_SOURCE_OPEN:
    position_ = 0;
    return 0;
  case ZIP_SOURCE_READ:
    return read(data, size);
  case ZIP_SOURCE_SEEK: {
    const zip_int64_t position = zip_source_seek_compute_offset(position_, bytes_.size(), data, size, nullptr);
    position_ = position < 0 ? position_ : static_cast<size_t>(position);
    return position < 0 ? -1 : 0;
  }
  case ZIP_SOURCE_TELL:
    return static_cast<int64_t>(position_);
  case ZIP_SOURCE_STAT: {
    auto *const facts = static_cast<zip_stat_t *>(data);
    zip_stat_init(facts);
    facts->valid = ZIP_STAT_SIZE;
    facts->size = bytes_.size();
    return sizeof *facts;
  }
  case ZIP_SOURCE_ERROR: { // seeking out of bounds, the only error
    int codes[2] = {ZIP_ER_SEEK, 0};
    std::memcpy(data, codes, sizeof codes);
    return sizeof codes;
  }
  case ZIP_SOURCE_SUPPORTS:
    return ZIP_SOURCE_SUPPORTS_SEEKABLE;
  default: // CLOSE and FREE: the object owns the bytes
    return command == ZIP_SOURCE_CLOSE || command == ZIP_SOURCE_FREE ? 0 : -1;
  }
}

int64_t MappedZipSource::read(void *to, uint64_t size) {
  lastRead_ = position_;
  const size_t count = std::min<size_t>(size, bytes_.size() - std::min(position_, bytes_.size()));
  if (count > 0)
    std::memcpy(to, bytes_.data() + position_, count);
  position_ += count;
  return static_cast<int64_t>(count);
}

} // namespace halftone::detail
