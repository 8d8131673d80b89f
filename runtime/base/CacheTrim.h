// Enforces the size limit of on-disk caches.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace halftone {

/// If the entries of the cache in `base` exceed `limit` bytes together, removes the least recently used ones until
/// seven eighths of the limit are left. Considers only folders whose names are those of builds and, within them, only
/// files whose names are those of entries or of unfinished entries of dead processes. Removes empty folders of builds
/// other than `own`.
void trimCacheFolder(const std::string &base, const std::string &own, int64_t limit);

} // namespace halftone
