// Early creation of LLVM's static objects.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/MachineCode.h"

namespace halftone::compiler {

/// The static objects that LLVM's optimizer and code generator create at first use. exit() destroys static objects in
/// reverse order of creation, so it would destroy those that a compilation created before it waits for the end of that
/// compilation (CompilerGate.h).
class StaticObjects {
public:
  /// Creates them before the first kernel of the machine's architecture: some by name, the others by compiling a small
  /// kernel. A runtime_error if exit() has begun and may have destroyed some of them.
  static Status make(const MachineName &name);

private:
  static void makeOfArchitecture(MachineName name);
};

} // namespace halftone::compiler
