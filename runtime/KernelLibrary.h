// Loaded kernel code, looked up by the key that a plan's launches carry.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include "runtime/plan/Abi.h"
#include <functional>
#include <string>
#include <vector>

namespace halftone {

/// The code of one kernel in the representation of the device that loaded it. Opaque to other devices.
class KernelHandle {
public:
  KernelHandle() = default;
  explicit KernelHandle(void *code) : code_(code) {}
  KernelHandle(CpuKernelFunction function) : code_(reinterpret_cast<void *>(function)) {}
  void *get() const { return code_; }
  /// For devices that run host code: the handle's function.
  CpuKernelFunction function() const { return reinterpret_cast<CpuKernelFunction>(code_); }

private:
  void *code_ = nullptr;
};

/// A handle is valid while its library lives, so an owner of a handle must keep the library alive. Safe to use from
/// several threads.
class KernelLibrary {
public:
  virtual ~KernelLibrary() = default;
  /// key_error, naming the key, if the library has no such kernel.
  virtual StatusOr<KernelHandle> find(const std::string &key) const = 0;
};

} // namespace halftone
