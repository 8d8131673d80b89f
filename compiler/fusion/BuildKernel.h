// The kernel ops and launches that replace the fusion groups of a block.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/fusion/FusionState.h"

namespace halftone::compiler {

/// Creates the kernel `name` from `body` at `builder`'s insertion point. `inputs` receives the operands of its launch.
dialect::KernelOp buildKernel(mlir::OpBuilder &builder, const KernelBody &body, const KernelShape &shape,
                              llvm::StringRef name, const Blocking &blocking,
                              llvm::SmallVectorImpl<mlir::Value> &inputs);

/// The layer paths, the user's line and the ops of a kernel, for reports: "net/dense (train.cpp:12): contract, add".
std::string siteOf(const KernelBody &body);

/// Replaces each group of the block by the launch of a kernel, which is added to the symbol table. Launches and opaque
/// ops follow their dependencies; otherwise they are sorted by FusionGroup::last.
void buildKernels(FusionState &state);

} // namespace halftone::compiler
