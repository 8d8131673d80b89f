// Kernel code in memory, found by the key that a plan's launches carry.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include "runtime/plan/Abi.h"
#include <functional>
#include <string>
#include <vector>

namespace halftone {

/// The code of one kernel, in the form of the device that loaded it. No other device can read it.
class KernelHandle {
public:
  KernelHandle() = default;
  explicit KernelHandle(void *code) : code_(code) {}
  KernelHandle(CpuKernelFunction function) : code_(reinterpret_cast<void *>(function)) {}
  void *get() const { return code_; }
  /// For devices that run the host's code: the function that the handle stands for.
  CpuKernelFunction function() const { return reinterpret_cast<CpuKernelFunction>(code_); }

private:
  void *code_ = nullptr;
};

/// A handle is valid as long as its library lives, so an owner of a handle keeps the library too. Safe to use from
/// several threads.
class KernelLibrary {
public:
  virtual ~KernelLibrary() = default;
  /// key_error, naming the key, when the library has no such kernel.
  virtual StatusOr<KernelHandle> find(const std::string &key) const = 0;
};

} // namespace halftone
