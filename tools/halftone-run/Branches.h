// The options that each branch of a halftone-run command reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"

namespace halftone::tools {

/// Throws UsageError for an option that the command has but the current branch ignores: a saved plan, a module, the
/// printed stage, or the interpreter. Compiler options (--numerics, --target, the cache) are read wherever a module is
/// compiled to any stage.
void checkBranches(const Arguments &arguments, bool isPlan);

} // namespace halftone::tools
