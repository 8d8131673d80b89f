// The passes of Passes.td: one create function and one registration each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/passes/CompileOptions.h"
#include "dialect/Dialect.h"
#include "mlir/Pass/Pass.h"

namespace halftone::compiler {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/passes/Passes.h.inc"

} // namespace halftone::compiler
