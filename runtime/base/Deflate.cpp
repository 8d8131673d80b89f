// Zlib compression with libdeflate.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Deflate.h"
#include <libdeflate.h>
#include <memory>

namespace halftone {

StatusOr<std::string> zlibStream(std::string_view bytes) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(6), libdeflate_free_compressor);
  if (!compressor)
    return Status(ErrorKind::io_error, "no memory to compress data");
  std::string result(libdeflate_zlib_compress_bound(compressor.get(), bytes.size()), '\0');
  result.resize(libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(), result.data(), result.size()));
  return result;
}

} // namespace halftone
