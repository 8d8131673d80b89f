// Object files of kernels to callable code, linked in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/KernelLibrary.h"
#include "runtime/plan/Executable.h"
#include <map>
#include <memory>
#include <string>

namespace halftone {

/// Links each kernel's object by itself; nothing of the process is visible to it, so an object with an undefined symbol
/// is refused. Code that is already loaded in the process is shared. Loading runs machine code from `kernels`: trust it
/// as you would a shared library. value_error naming the kernel for bytes that are no object of this machine, a missing
/// function, undefined symbols (named), or a target with instructions that this machine lacks (named).
StatusOr<std::shared_ptr<const KernelLibrary>> loadObjects(const std::map<std::string, KernelCode> &kernels);

} // namespace halftone
