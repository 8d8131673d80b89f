// Kernel code on a GPU: compiled PTX, shared by all users of the same text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/KernelLibrary.h"
#include "runtime/base/WriteFile.h"
#include "runtime/devices/cuda/Gpu.h"
#include "runtime/plan/Executable.h"
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace halftone::cuda {

/// One kernel on one GPU, unloaded with its last owner.
struct LoadedKernel {
  std::shared_ptr<Gpu> gpu;
  Module module = nullptr;
  Function function = nullptr;
  LaunchShape shape;
  std::weak_ptr<struct ModuleCache> cache; // contains the entry `text` once the cache has it
  std::string text;
  ~LoadedKernel();
};

/// The modules of one GPU. Safe to use from several threads.
class Modules {
public:
  /// io_error if the file named by HALFTONE_CUDA_KERNELS cannot be opened. Each loaded kernel adds a line to that file:
  /// its registers, its bytes of local memory, its symbol, its kind and its method, separated by tabs.
  static StatusOr<std::shared_ptr<Modules>> open(std::shared_ptr<Gpu> gpu);
  /// Loads these kernels; KernelHandle::get() points to a const LoadedKernel. The driver compiles several at a time,
  /// each as a whole program: its linker would compile relocatable code, in which a shuffle is a call. value_error
  /// naming the kernel if the GPU does not support its target, if the driver does not compile the code (with the
  /// driver's log), if the entry is missing, or if a block of the launch shape does not fit the GPU. device_error as
  /// for allocations.
  StatusOr<std::shared_ptr<const KernelLibrary>> load(const std::map<std::string, KernelCode> &kernels);
  /// The kernel of BuiltinPtx.h, loaded at the first call. The caller holds a GpuLock.
  StatusOr<const LoadedKernel *> copyKernel();

private:
  Modules(std::shared_ptr<Gpu> gpu, std::optional<GrowingFile> records);
  /// Call it under the cache's lock.
  std::shared_ptr<LoadedKernel> known(const std::string &text) const;
  std::shared_ptr<Gpu> gpu_;
  std::optional<GrowingFile> records_; // under the cache's lock
  std::shared_ptr<ModuleCache> cache_;
  std::shared_ptr<const KernelLibrary> copying_;
};

} // namespace halftone::cuda
