// Enforces the size limit of on-disk caches.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace halftone {

/// If the entries of the cache in `base` exceed `limit` bytes together, removes the least recently used ones until at
/// most seven eighths of the limit are used, and then empty folders other than `own`. Considers only folders named
/// after a code id (cmake/CodeId.cmake) and, within them, only files that are named like an entry or an unfinished
/// entry. Unfinished entries less than an hour old are kept.
void trimCacheFolder(const std::string &base, const std::string &own, int64_t limit);

} // namespace halftone
