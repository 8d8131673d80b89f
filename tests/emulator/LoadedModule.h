// A module whose variables have memory, so that its kernels can run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Memory.h"
#include "tests/emulator/Ptx.h"

namespace halftone::emulator {

class LoadedModule {
public:
  /// The maximum static shared memory of a kernel.
  static constexpr uint32_t mostStaticBytes = 48 * 1024;

  /// Parses `ptx` and lays out its variables in `memory`, which must outlive the module. Throws PtxError, also for a
  /// target newer than `capability` (80 for 8.0) and for a kernel with more static shared memory than a device has.
  /// Throws PtxVersionError for a `.version` above `newestVersion` (80 for 8.0).
  LoadedModule(std::string_view ptx, DeviceMemory &memory, uint32_t capability = 80, uint32_t newestVersion = 80);
  ~LoadedModule();
  LoadedModule(const LoadedModule &) = delete;
  LoadedModule &operator=(const LoadedModule &) = delete;

  /// The kernel with this name, or null.
  const Kernel *find(std::string_view name) const;

private:
  void release();
  void placeVariables();
  void resolve(Kernel &kernel);

  Module module_;
  DeviceMemory &memory_;
  std::vector<uint64_t> addresses_; ///< addresses of module_.variables
};

} // namespace halftone::emulator
