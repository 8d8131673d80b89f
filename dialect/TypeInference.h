// Checked op construction: types are inferred and the op is verified, and an error is a diagnostic, not an abort.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "halftone/DType.h"
#include <optional>

namespace halftone::dialect {

/// The MLIR element type of a dtype (signed integers signless, unsigned ones `ui`, bool i1); null for complex and
/// string.
mlir::Type elementType(mlir::MLIRContext *context, DType dtype);
/// The dtype of an element type; nullopt if it is not one of the dialect's.
std::optional<DType> dtypeOf(mlir::Type elementType);

/// The type in which an element is computed: f64 for f64, f32 for every other float, a signless integer of the same
/// width otherwise.
mlir::Type arithmeticType(mlir::Type elementType);
/// Returns true if integer elements of this type compare, divide, shift and convert as unsigned: `ui` types and bool.
bool isUnsignedElement(mlir::Type elementType);

/// Creates op `name` (without the dialect prefix) and verifies it, but not the ops in its regions. `resultTypes` may be
/// empty for ops whose result types can be inferred from their operands. On failure it emits a diagnostic at `loc`,
/// leaves nothing in the IR, and returns null. Takes ownership of the regions, if any.
mlir::Operation *createChecked(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                               mlir::TypeRange resultTypes, mlir::ValueRange operands,
                               llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                               llvm::MutableArrayRef<std::unique_ptr<mlir::Region>> regions = {});

} // namespace halftone::dialect
