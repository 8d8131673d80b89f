// Machine code that the driver has made of PTX, kept on disk between processes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/CacheFolder.h"
#include "runtime/devices/cuda/Driver.h"
#include <optional>
#include <string>
#include <string_view>

namespace halftone::cuda {

/// Of one kind of GPU under one driver: its CacheFolder is named by both, beside those of compiled kernels. Safe for
/// threads and processes.
class CubinCache {
public:
  /// `directory` as CacheFolder's.
  CubinCache(std::string_view directory, const Driver &driver, const Driver::Gpu &gpu);
  std::optional<std::string> find(std::string_view ptx) const;
  void insert(std::string_view ptx, std::string_view cubin);

private:
  CacheFolder folder_;
};

} // namespace halftone::cuda
