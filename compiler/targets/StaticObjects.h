// The static objects that LLVM makes at first use.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/MachineCode.h"

namespace halftone::compiler {

/// The static objects that LLVM's optimizer and code generator make at first use. exit() destroys static objects in the
/// reverse order of their making, so those that the compilation of a kernel made would be destroyed before exit() waits for
/// its end (CompilerGate.h).
class StaticObjects {
public:
  /// Makes them before the first kernel of the machine's architecture, some by name and some by generating the code of a
  /// small kernel. A runtime_error if exit() has begun, which may have destroyed one of them before it was used.
  static Status make(const MachineName &name);

private:
  static void makeOfArchitecture(MachineName name);
};

} // namespace halftone::compiler
