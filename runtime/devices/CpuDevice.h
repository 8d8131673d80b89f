// The CPU device: kernels run in the calling thread and a pool of workers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/HostDevice.h"
#include <memory>

namespace halftone {

class WorkerPool;

/// Makes kernels' code callable.
using KernelLoader =
    StatusOr<std::shared_ptr<const KernelLibrary>> (*)(const std::map<std::string, KernelCode> &kernels);
/// Sets the function with which CPU devices load kernels from now on. It links objects with LLVM, which this library
/// may not include, so the library that creates players injects it.
void setCpuKernelLoader(KernelLoader loader);

/// A human-readable description of the machine's CPU model and its threads.
std::string cpuDescription();

/// Distributes the blocks of a launch over the threads in contiguous ranges; each thread begins with its own share.
/// Since blocks are independent, the result has the same bits for any number of threads. A launch of one block or of
/// little cost runs in the calling thread.
class CpuDevice final : public HostDevice {
public:
  /// Errors as setThreads().
  static StatusOr<std::shared_ptr<CpuDevice>> create(int threads);
  ~CpuDevice() override;
  std::string name() const override { return "cpu"; }
  std::string description() const override { return cpuDescription(); }
  /// Loads kernels with the function set by setCpuKernelLoader(); internal_error if there is none.
  StatusOr<std::shared_ptr<const KernelLibrary>> load(const std::map<std::string, KernelCode> &kernels) override;
  StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) override;
  int threads() const;
  /// Sets the number of threads that share a launch, including the caller. If the system starts fewer threads, the
  /// device uses those. value_error unless 1 <= threads <= 1024; device_error if there is no memory for the threads.
  /// Waits while a plan plays.
  Status setThreads(int threads);

private:
  CpuDevice();
  std::shared_ptr<WorkerPool> pool_;
};

/// HALFTONE_NUM_THREADS or, if it is not set, the number of cores that this process may use. value_error if the
/// variable is not an integer from 1 to 1024.
StatusOr<int> defaultThreadCount();

/// The process's CPU device, created at the first call with defaultThreadCount().
StatusOr<std::shared_ptr<CpuDevice>> sharedCpuDevice();

} // namespace halftone
