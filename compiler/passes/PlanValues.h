// Checks that a plan's steps read and write, in the memory of slots, the values that the module specifies.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/AssignSlots.h"

namespace halftone::compiler {

/// Returns internal_error unless `executable`, the plan of `module`, gives each fetch, variable and written shadow the
/// value that the module returns for it. Both are run on symbols instead of tensors. The result of a launch is a hash
/// of its code, extents and operands; whether a condition holds is drawn from its hash, for several draws. A step that
/// reads memory after another value was written there yields a different hash. Variables are known by name and shadows
/// by variable and function, as the runtime knows their memory. Errors that verify() reports are not looked for. Linear
/// in the number of steps.
Status checkPlanValues(mlir::ModuleOp module, const KernelArguments &arguments, const Executable &executable);

} // namespace halftone::compiler
