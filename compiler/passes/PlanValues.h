// Checks that a plan's steps find, in the memory of slots, the values that the module names.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/AssignSlots.h"

namespace halftone::compiler {

/// internal_error unless `executable`, the plan of `module`, gives each fetch, variable and written shadow the value that
/// the module returns for it. Both are run on symbols in the place of tensors: the result of a launch is a hash of its code,
/// extents and operands, and whether a condition holds is drawn from its hash, for several draws. A step that reads
/// memory after another value has been written there gives another hash. Variables are known by name and shadows by
/// variable and function, as the runtime knows their memory. What verify() refuses is not looked for. Time: linear in the
/// steps.
Status checkPlanValues(mlir::ModuleOp module, const KernelArguments &arguments, const Executable &executable);

} // namespace halftone::compiler
