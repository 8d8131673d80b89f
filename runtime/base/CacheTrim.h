// How much the caches on disk hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace halftone {

/// When the entries of the cache in `base` have more than `limit` bytes together, removes the least recently used ones
/// until seven eighths of the limit are left. Looks only into folders that are named like builds, and there only at
/// files that are named like entries or like unfinished entries of dead processes. Removes empty folders of builds
/// other than `own`.
void trimCacheFolder(const std::string &base, const std::string &own, int64_t limit);

} // namespace halftone
