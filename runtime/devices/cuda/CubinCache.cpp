// Keys of cubins.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/CubinCache.h"
#include "runtime/base/Sha256.h"
#include <fmt/format.h>

namespace halftone::cuda {

static std::string folderName(const Driver &driver, const Driver::Gpu &gpu) {
  const std::string kind = fmt::format("{}\n{}\n{}", Driver::release(), gpu.name, gpu.capability);
  return fmt::format("{}-{}", driver.version(), sha256(kind).substr(0, 16));
}

CubinCache::CubinCache(std::string_view directory, const Driver &driver, const Driver::Gpu &gpu)
    : folder_(directory, folderName(driver, gpu), "halftone cubin 1\n", usualCacheLimit) {}

std::optional<std::string> CubinCache::find(std::string_view ptx) const { return folder_.read(sha256(ptx)); }

void CubinCache::insert(std::string_view ptx, std::string_view cubin) { folder_.write(sha256(ptx), cubin); }

} // namespace halftone::cuda
