// Kernel code in memory, found by the key that a plan's launches carry.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include "runtime/plan/Abi.h"
#include <functional>
#include <string>
#include <vector>

namespace halftone {

/// Functions found here stay callable as long as the library lives: whoever keeps a function keeps its library.
/// Safe to use from several threads.
class KernelLibrary {
public:
  virtual ~KernelLibrary() = default;
  /// key_error, naming the key, when the library has no such kernel.
  virtual StatusOr<CpuKernelFunction> find(const std::string &key) const = 0;
};

} // namespace halftone
