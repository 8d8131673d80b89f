// The steps before a kernel's emitter (legalize-storage) and after it (the other four).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Core.h"
#include "compiler/kernels/MathTraits.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace halftone::compiler {

/// Step k2, on the linalg form. Stores f16 and bf16 as i16, f8 and i1 as i8: in the function's types, and in the block
/// arguments and yielded values of its linalg ops. Each arith.extf and arith.truncf from and to these types becomes
/// integer code or the target's instruction, and rounds once to nearest even. Fails with a diagnostic at arithmetic on
/// a narrow type.
mlir::LogicalResult legalizeStorage(mlir::func::FuncOp function, const MathTraits &math);

/// Step k4, after the emitter. Replaces the math ops for which no CPU has instructions (exp, log, tanh, ...) by
/// arithmetic on their type: f32 or f64, scalar or one-dimensional vector. An op with `outlinedAttr` (CodeSize.h)
/// becomes a call of a core, which is added to `cores`; all others are expanded in place. These may remain: math.absf,
/// ceil, copysign, floor, fma, roundeven, sqrt, trunc, ctpop, ctlz, cttz. The tables of MathFunctions.h have the error
/// bounds. Fails with a diagnostic at any other math op and at types narrower than f32.
mlir::LogicalResult expandMath(mlir::ModuleOp module, const MathTraits &math, std::vector<Core> &cores);

/// Marks a loop of emitted code whose body is several independent steps, which interleave-steps interleaves.
inline constexpr llvm::StringLiteral interleavedAttr = "halftone.interleaved";

/// Step k5. In each marked loop, sorts ops by their depth in the dependence graph. Loads come before stores, so no step
/// may load a value that another one stores.
void interleaveSteps(mlir::FunctionOpInterface function);

/// Step k6. Expands arith.truncf from f32 to bf16 unless the target has an instruction for all numbers
/// (MathTraits::convertsBf16): to the instruction that flushes subnormal numbers (MathInstructions::toBf16) and, behind
/// a branch, the call of a core for vectors that have any; for other types, to integer code. Roundings of a block share
/// a branch if possible. Adds the cores to `cores`.
void expandRoundings(mlir::ModuleOp module, const MathTraits &math, std::vector<Core> &cores);

/// Step k7. Checks that every op of emitted code is legal: on every target, or, if `ofTarget` has its full name, on the
/// target of the code. The diagnostic names the first illegal op.
mlir::LogicalResult checkLegalOps(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringLiteral> ofTarget);

} // namespace halftone::compiler
