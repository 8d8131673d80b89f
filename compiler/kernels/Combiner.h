// The combining functions of reductions: one definition for the linalg form and for every emitter.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringRef.h"

namespace halftone::compiler {

/// A combiner by name: sum prod max min umax umin and or, and the pairs argmax argmin uargmax uargmin whose
/// accumulators are (value, i32 index). max and min keep NaN and, between equals, the accumulator; arg* take NaN before
/// all, and among equals the smallest index. Emitters that look out for NaN themselves have most and least: max and min
/// of floats, one instruction, that leave NaN out.
/// Of a scatter alone there is `last`: the accumulator is replaced by the update.
inline constexpr llvm::StringLiteral lastCombiner = "last";
inline bool isArgCombiner(llvm::StringRef name) { return name.contains("arg"); }

/// The neutral element for element type `type` of a plain combiner or of the value of an arg* pair.
mlir::TypedAttr neutralElement(llvm::StringRef combiner, mlir::Type type);

/// `accumulator` combined with `value`; scalars or vectors alike. `contract` allows a sum to fuse with a product.
mlir::Value buildCombine(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef combiner,
                         mlir::Value accumulator, mlir::Value value, bool contract = false);

/// The same for an arg* pair: (value, index) each.
std::pair<mlir::Value, mlir::Value> buildArgCombine(mlir::OpBuilder &builder, mlir::Location loc,
                                                    llvm::StringRef combiner,
                                                    std::pair<mlir::Value, mlir::Value> accumulator,
                                                    std::pair<mlir::Value, mlir::Value> value);

} // namespace halftone::compiler
