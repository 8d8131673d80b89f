// How much the disk cache holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace halftone::compiler {

/// Removes entries of the cache in `base`, those that were not used for longest first, when all together have more than
/// `limit` bytes: until seven eighths of it are left. Looks into folders that are named as builds are, at files that
/// are named as entries are and at what died processes left of them, and at nothing else. Folders of other builds than
/// `own` go when they are empty.
void trimCacheFolder(const std::string &base, const std::string &own, int64_t limit);

} // namespace halftone::compiler
