// The code size of a kernel's bodies, and the choice of functions to outline, which bounds it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/KernelSource.h"

namespace halftone::compiler {

/// The code size up to which copies of a body are interleaved in one loop. LLVM's register allocator and scheduler take
/// superlinear time in the length of straight-line code.
inline constexpr int64_t maxInterleavedCode = 1500;

/// The number of ops in one copy of the body of `generic` at vector type, after expand-math. An outlined function
/// counts as a call.
int64_t codeSizeOf(mlir::linalg::GenericOp generic);

/// How many of `copies` copies of a body of size `codeSize` to interleave: at least 1, and a power of 2 if `copies` is
/// one.
int64_t boundedCopies(int64_t copies, int64_t codeSize);

/// Marks a math op of a body whose expansion is a core, which emitted code calls.
inline constexpr llvm::StringLiteral outlinedAttr = "halftone.outlined";

/// Marks the functions in the bodies of `kernel`, a linalg form, that are outlined: long functions that the kernel uses
/// several times, and all functions of a kernel with a large body. A call costs up to half of a short function's time,
/// and 4 % of the time of a sine used four times.
void outlineFunctions(mlir::func::FuncOp kernel);

} // namespace halftone::compiler
