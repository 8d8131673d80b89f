// Links object files of kernels in memory into callable code.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/KernelLibrary.h"
#include "runtime/plan/Executable.h"
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace halftone {

/// value_error unless this machine can run code of that target, KernelCode::target: "triple|cpu|features", which "|" and the emulated
/// CPU may follow, or "nvptx|...". It must be of this architecture, and of this machine's features that code may use;
/// for AMX the process must be allowed to use tiles.
Status checkRunsHere(std::string_view target);

/// Links each kernel's object by itself. An object sees no symbol of the process, so one with an undefined symbol is
/// refused. Code that the process has loaded already is shared. Loading runs machine code from `kernels`: trust it as
/// you would trust a shared library. value_error naming the kernel for bytes that are no object of this machine, a
/// missing function, undefined symbols (named), or a target with instructions that this machine lacks (named).
StatusOr<std::shared_ptr<const KernelLibrary>> loadObjects(const std::map<std::string, KernelCode> &kernels);

} // namespace halftone
