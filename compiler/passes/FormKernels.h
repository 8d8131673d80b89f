// Shared by the parts of form-kernels: how the ops of a cluster become a kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/Forms.h"
#include "llvm/ADT/SetVector.h"

namespace halftone::compiler {

/// Writes `body` as a kernel `name` at `builder`'s place. `inputs` receives the values to launch it on.
dialect::KernelOp buildKernel(mlir::OpBuilder &builder, const KernelBody &body, const KernelShape &shape,
                              llvm::StringRef name, const Blocking &blocking,
                              llvm::SmallVectorImpl<mlir::Value> &inputs);

/// Layer paths, the user's line and the ops of a kernel, for reports: "net/dense (train.cpp:12): contract, add".
std::string siteOf(const KernelBody &body);

} // namespace halftone::compiler
