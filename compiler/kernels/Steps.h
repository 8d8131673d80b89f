// The steps before a kernel's emitter (legalize-storage) and after it (expand-math, interleave-steps,
// check-vocabulary). SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/MathTraits.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace halftone::compiler {

/// k2. On the linalg form. Stores f16 and bf16 as i16, f8 and i1 as i8: the function's types, the block arguments of
/// its linalg ops and the values that these yield; each arith.extf and arith.truncf from and to them becomes integer
/// code or the target's instruction, rounding once to nearest even. Fails with a diagnostic where arithmetic has a
/// narrow type.
mlir::LogicalResult legalizeStorage(mlir::func::FuncOp function, const MathTraits &math);

/// k4. After the emitter. Replaces the math ops that no CPU has as instructions (exp, log, tanh, ...) by arithmetic, at
/// whatever type they have: f32 or f64, scalar or one-dimensional vector; and arith.truncf to bf16, which CPUs round with
/// exceptions. An op with `outlinedAttr` (CodeSize.h) becomes a call of a function that the module then holds, one for
/// each function and type; all other ones are expanded in place. These may remain: math.absf, ceil, copysign, floor, fma, roundeven, sqrt, trunc, ctpop,
/// ctlz, cttz. The tables of MathFunctions.h have the error bounds. Fails with a diagnostic at any other math op and at types narrower
/// than f32.
mlir::LogicalResult expandMath(mlir::ModuleOp module, const MathTraits &math);

/// On a loop of emitted code whose body is several independent steps: interleave-steps puts them side by side.
inline constexpr llvm::StringLiteral interleavedAttr = "halftone.interleaved";

/// k5. In each loop that asks for it, sorts ops by how many others they wait for. Loads come before stores, so no step
/// may load a value that another one stores.
void interleaveSteps(mlir::FunctionOpInterface function);

/// k6. Checks that every op of emitted code is known to become instructions: on every target, or, by its full name in
/// `ofTarget`, on the one that the code is for. The diagnostic names the first op that is not.
mlir::LogicalResult checkVocabulary(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringLiteral> ofTarget);

} // namespace halftone::compiler
