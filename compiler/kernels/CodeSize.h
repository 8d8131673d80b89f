// How much code a kernel's bodies become, and which of its functions are outlined so that this stays bounded.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/KernelSource.h"

namespace halftone::compiler {

/// The code size up to which copies of a body stand side by side in one loop. LLVM's register allocator and scheduler
/// take more than linear time in the length of a straight line of code.
inline constexpr int64_t mostInterleavedCode = 1500;

/// The number of ops that one copy of the body of `generic` becomes at vector type, after expand-math: an outlined
/// function counts as a call.
int64_t codeSizeOf(mlir::linalg::GenericOp generic);

/// Of `copies` of a body of size `codeSize`, how many stand side by side: at least 1, and a power of 2 if `copies` is one.
int64_t boundedCopies(int64_t copies, int64_t codeSize);

/// On a math op of a body: its expansion is a function of the kernel's module, which emitted code calls.
inline constexpr llvm::StringLiteral outlinedAttr = "halftone.outlined";

/// Marks the functions in the bodies of `kernel`, a linalg form, that are outlined: long ones that the kernel uses several
/// times, and all functions of a kernel one of whose bodies is large. A call costs up to half of a short function's time,
/// and 4 % of that of a sine used four times.
void outlineFunctions(mlir::func::FuncOp kernel);

} // namespace halftone::compiler
