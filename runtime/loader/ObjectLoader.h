// Links in-memory kernel object files into callable code.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/KernelLibrary.h"
#include "runtime/plan/Executable.h"
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace halftone {

/// value_error unless this machine can run code for that target (KernelCode::target: "triple|cpu|features", optionally
/// followed by "|" and the emulated CPU, or "nvptx|..."). The target must have this architecture and only features that
/// this machine has and code may use; for AMX, the process must have permission to use tiles.
Status checkRunsHere(std::string_view target);

/// Links each kernel's object separately, after the cores that it uses. The symbols of its cores are the only external
/// symbols that an object may refer to: an object with another undefined symbol is rejected. The library finds kernels
/// only, not cores. Code that the process has already loaded is shared. Loading runs machine code from `kernels`: trust
/// it as you would trust a shared library. value_error naming the kernel for bytes that are not an object of this
/// machine, a missing function, undefined symbols (named), cores that violate checkCores(), or a target with
/// instructions that this machine lacks (named).
StatusOr<std::shared_ptr<const KernelLibrary>> loadObjects(const std::map<std::string, KernelCode> &kernels);

} // namespace halftone
