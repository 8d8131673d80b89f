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
/// How CPU devices load kernels from now on. It links objects with LLVM, which this room does not know: who plays plans
/// gives it.
void setCpuKernelLoader(KernelLoader loader);

/// The model of the machine's CPU and its threads, for people.
std::string cpuDescription();

/// Blocks of a launch go in contiguous ranges to the threads, each first to the one whose place it is. Since blocks are
/// independent, the same bits come out for any number of threads. Launches of one block or little cost run in the calling
/// thread.
class CpuDevice final : public HostDevice {
public:
  /// As setThreads().
  static StatusOr<std::shared_ptr<CpuDevice>> create(int threads);
  ~CpuDevice() override;
  std::string name() const override { return "cpu"; }
  std::string description() const override { return cpuDescription(); }
  /// By the loader of setCpuKernelLoader(); internal_error without one.
  StatusOr<std::shared_ptr<const KernelLibrary>> load(const std::map<std::string, KernelCode> &kernels) override;
  StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) override;
  int threads() const;
  /// How many threads share a launch, the caller counted. value_error unless 1 <= threads <= 1024; device_error when
  /// the system gives no more. Waits for a plan that plays.
  Status setThreads(int threads);

private:
  CpuDevice();
  std::shared_ptr<WorkerPool> pool_;
};

/// HALFTONE_NUM_THREADS, else the cores that this process may use. value_error when the variable is not a number from 1
/// to 1024.
StatusOr<int> defaultThreadCount();

/// The process's one CPU device, made at the first call with defaultThreadCount().
StatusOr<std::shared_ptr<CpuDevice>> sharedCpuDevice();

} // namespace halftone
