// The CUDA driver of this machine: found at run time, with its functions, its GPUs and the texts of its errors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/ForkGate.h"
#include "runtime/base/Status.h"
#include "runtime/devices/cuda/DriverTypes.h"
#include <memory>
#include <string>

namespace halftone::cuda {

/// The compute capability from which on Halftone uses a GPU: major and minor digit together.
inline constexpr int leastCapability = 80;

/// An open driver. The library is never closed: code of the driver runs until the process ends.
class Driver {
public:
  /// The process's driver: $HALFTONE_CUDA_DRIVER, or libcuda.so.1. The first call that succeeds opens it for good.
  /// device_error with the reason when there is none, or it is too old, or it is a stub, or it finds no GPU.
  static StatusOr<std::shared_ptr<const Driver>> shared();
  /// A driver of its own, from the file of that name. Errors as shared().
  static StatusOr<std::shared_ptr<const Driver>> open(const std::string &file);

  const Functions &calls() const { return calls_; }
  /// How many GPUs the driver knows, usable or not.
  int count() const { return count_; }
  /// What a GPU is.
  struct Gpu {
    int device = 0; // the driver's CUdevice
    std::string name;
    int capability = 0;          // 86 for 8.6
    int64_t bytes = 0;           // of its memory
    int64_t mostSharedBytes = 0; // of a block, static and dynamic together
  };
  /// device_error with the reason when `index` is out of range, when the GPU is older than leastCapability or has no
  /// memory pools, or when this process is a child, made by fork() after the driver was opened: the driver does not work
  /// there.
  StatusOr<Gpu> gpu(int index) const;
  /// "550.54.14": the version of the part in the system's kernel, "" where the system does not show it.
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
