// Kernel code in memory, found by the key that a plan's launches carry.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include "runtime/plan/Abi.h"
#include <functional>
#include <string>
#include <vector>

namespace halftone {

/// The code of one kernel, as the device that loaded it names it. No other device can read it.
class KernelHandle {
public:
  KernelHandle() = default;
  explicit KernelHandle(void *code) : code_(code) {}
  KernelHandle(CpuKernelFunction function) : code_(reinterpret_cast<void *>(function)) {}
  void *get() const { return code_; }
  /// For devices that run the host's code: the function that the handle was made of.
  CpuKernelFunction function() const { return reinterpret_cast<CpuKernelFunction>(code_); }

private:
  void *code_ = nullptr;
};

/// Handles found here stay valid as long as the library lives: whoever keeps a handle keeps its library.
/// Safe to use from several threads.
class KernelLibrary {
public:
  virtual ~KernelLibrary() = default;
  /// key_error, naming the key, when the library has no such kernel.
  virtual StatusOr<KernelHandle> find(const std::string &key) const = 0;
};

} // namespace halftone
