// Kernels' code on a GPU: PTX that the driver has compiled, shared by all that load the same text.
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

/// One kernel on one GPU, unloaded when its last owner goes.
struct LoadedKernel {
  std::shared_ptr<Gpu> gpu;
  Module module = nullptr;
  Function function = nullptr;
  LaunchShape shape;
  std::weak_ptr<struct ModuleCache> cache; // with the entry `text`, once the cache has it
  std::string text;
  ~LoadedKernel();
};

/// Of one GPU. Safe to use from several threads.
class Modules {
public:
  /// io_error when the file that HALFTONE_CUDA_KERNELS names does not open. Each kernel that is loaded adds a line to
  /// that file: its registers, its bytes of local memory, its symbol, its kind and its method, between tabs.
  static StatusOr<std::shared_ptr<Modules>> open(std::shared_ptr<Gpu> gpu);
  /// The code of these kernels; KernelHandle::get() of one is a const LoadedKernel. The driver compiles several at a
  /// time, each as a whole program: its linker would compile relocatable code, where a shuffle is a call. value_error
  /// naming the kernel when its target is none of this GPU, when the driver does not compile the code (with the driver's
  /// log), when the entry is missing, or when a block of the launch shape does not fit the GPU. device_error as for
  /// allocations.
  StatusOr<std::shared_ptr<const KernelLibrary>> load(const std::map<std::string, KernelCode> &kernels);
  /// The kernel of BuiltinPtx.h, loaded at the first call. Call it in the GPU's turn.
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
