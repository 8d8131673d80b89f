// The combining functions of reductions, shared by the linalg form and all emitters.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringRef.h"

namespace halftone::compiler {

/// The combiners by name: sum prod max min umax umin and or, and argmax argmin uargmax uargmin, whose accumulators are
/// pairs (value, i32 index). max and min propagate NaN and return the accumulator for equal values. arg* rank NaN first
/// and return the smallest index for equal values. Emitters that check for NaN themselves use most and least: max and
/// min of floats that ignore NaN, as one instruction.
/// Only scatter has `last`: the update replaces the accumulator.
inline constexpr llvm::StringLiteral lastCombiner = "last";
inline bool isArgCombiner(llvm::StringRef name) { return name.contains("arg"); }

/// The neutral element of type `type` of a plain combiner, or of the value of an arg* pair.
mlir::TypedAttr neutralElement(llvm::StringRef combiner, mlir::Type type);

/// Combines `accumulator` with `value`, both scalars or both vectors. `contract` allows a sum to fuse with a product.
mlir::Value buildCombine(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef combiner,
                         mlir::Value accumulator, mlir::Value value, bool contract = false);

/// Like buildCombine(), for an arg* pair of (value, index).
std::pair<mlir::Value, mlir::Value> buildArgCombine(mlir::OpBuilder &builder, mlir::Location loc,
                                                    llvm::StringRef combiner,
                                                    std::pair<mlir::Value, mlir::Value> accumulator,
                                                    std::pair<mlir::Value, mlir::Value> value);

} // namespace halftone::compiler
