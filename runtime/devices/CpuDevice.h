// The CPU: kernels run in the calling thread and a pool of workers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/HostDevice.h"
#include <memory>

namespace halftone {

class WorkerPool;

/// Makes kernels' code callable.
using KernelLoader =
    StatusOr<std::shared_ptr<const KernelLibrary>> (*)(const std::map<std::string, KernelCode> &kernels);
/// Sets the function by which CPU devices load kernels from now on. It links objects with LLVM, which this room may not
/// include, so the room that makes players passes it in.
void setCpuKernelLoader(KernelLoader loader);

/// The model of the machine's CPU and its threads, for people.
std::string cpuDescription();

/// Hands the blocks of a launch to the threads in contiguous ranges; each thread begins with its own share. Since
/// blocks are independent, the result has the same bits for any count of threads. A launch of one block or of little
/// cost runs in the calling thread.
class CpuDevice final : public HostDevice {
public:
  /// Errors as setThreads().
  static StatusOr<std::shared_ptr<CpuDevice>> create(int threads);
  ~CpuDevice() override;
  std::string name() const override { return "cpu"; }
  std::string description() const override { return cpuDescription(); }
  /// Loads with the function of setCpuKernelLoader(); internal_error if there is none.
  StatusOr<std::shared_ptr<const KernelLibrary>> load(const std::map<std::string, KernelCode> &kernels) override;
  StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) override;
  int threads() const;
  /// How many threads share a launch, the caller included. value_error unless 1 <= threads <= 1024; device_error if the
  /// system gives no more threads. Waits while a plan plays.
  Status setThreads(int threads);

private:
  CpuDevice();
  std::shared_ptr<WorkerPool> pool_;
};

/// HALFTONE_NUM_THREADS, or without it the count of cores that this process may use. value_error when the variable is
/// not an integer from 1 to 1024.
StatusOr<int> defaultThreadCount();

/// The process's one CPU device, made at the first call with defaultThreadCount().
StatusOr<std::shared_ptr<CpuDevice>> sharedCpuDevice();

} // namespace halftone
