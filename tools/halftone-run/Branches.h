// The options that each branch of a command of halftone-run reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"

namespace halftone::tools {

/// Throws UsageError for an option that the command has, but not where it runs a saved plan or a module, prints this stage, or
/// asks the interpreter. Options of the compiler (--numerics, --target, the cache) are read wherever a module is
/// compiled to any stage.
void checkBranches(const Arguments &arguments, bool isPlan);

} // namespace halftone::tools
