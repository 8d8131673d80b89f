// Building ops without the aborting builders: types are inferred, then verified, and a mistake is a diagnostic.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "halftone/DType.h"
#include <optional>

namespace halftone::dialect {

/// The MLIR element type of a dtype (signed integers signless, unsigned ones `ui`, bool i1); null for complex and
/// string.
mlir::Type elementType(mlir::MLIRContext *context, DType dtype);
/// The dtype of an element type; nullopt when it is not one of the dialect's.
std::optional<DType> dtypeOf(mlir::Type elementType);

/// The type in which an element is computed: f64 for f64, f32 for every other float, a signless integer of the same
/// width otherwise.
mlir::Type arithmeticType(mlir::Type elementType);
/// Whether an integer element compares, divides, shifts and converts as unsigned: `ui` types and bool.
bool isUnsignedElement(mlir::Type elementType);

/// Creates op `name` (without the dialect's prefix) and verifies it, but not the ops in its regions. `resultTypes` may be empty for ops whose result
/// types follow from their operands: then they are inferred. On failure a diagnostic is emitted at `loc`, nothing is
/// left in the IR, and null is returned. Regions, if any, are taken.
mlir::Operation *createChecked(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                               mlir::TypeRange resultTypes, mlir::ValueRange operands,
                               llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                               llvm::MutableArrayRef<std::unique_ptr<mlir::Region>> regions = {});

} // namespace halftone::dialect
