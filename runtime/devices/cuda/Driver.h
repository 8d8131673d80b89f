// The CUDA driver of this machine, loaded at run time: its functions, its GPUs and its error texts.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/ForkGate.h"
#include "runtime/base/Status.h"
#include "runtime/devices/cuda/DriverTypes.h"
#include <memory>
#include <string>

namespace halftone::cuda {

/// The minimum compute capability of a usable GPU: major and minor digit together.
inline constexpr int minCapability = 80;

/// A loaded driver. The library is never closed, since driver code runs until the process ends.
class Driver {
public:
  /// The process's driver: $HALFTONE_CUDA_DRIVER, or libcuda.so.1. The first successful call opens it for good.
  /// device_error with the reason if there is none, if it is too old, if it is a stub, or if it finds no GPU.
  static StatusOr<std::shared_ptr<const Driver>> shared();
  /// Opens a separate driver from the file of that name. Errors as shared().
  static StatusOr<std::shared_ptr<const Driver>> open(const std::string &file);

  const Functions &calls() const { return calls_; }
  /// The number of GPUs that the driver reports, usable or not.
  int count() const { return count_; }
  /// Properties of a GPU.
  struct Gpu {
    int device = 0; // the driver's CUdevice
    std::string name;
    int capability = 0;         // 86 for 8.6
    int64_t bytes = 0;          // size of its memory
    int64_t maxSharedBytes = 0; // per block, static and dynamic together
  };
  /// device_error with the reason if `index` is out of range, if the GPU is older than minCapability or has no memory
  /// pools, or if this process was created by fork() after the driver was opened: the driver does not work there.
  StatusOr<Gpu> gpu(int index) const;
  /// "550.54.14": the version of the kernel module, or "" if the system does not expose it.
  static std::string release();
  /// "12.4": the CUDA version of the driver.
  std::string version() const;
  /// "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)", and the advice of DriverErrors.h.
  std::string text(Result result) const;

private:
  Driver() = default;
  Status findFunctions(void *library, const std::string &file);
  Functions calls_{};
  int version_ = 0, count_ = 0;
  const int64_t forks_ = forkCount(); // when the driver was opened
};

} // namespace halftone::cuda
