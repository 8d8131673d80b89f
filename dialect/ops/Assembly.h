// Custom assembly used by several op families.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"

namespace halftone::dialect {

/// An enum attribute as its bare keyword: `compare lt`, `reduce sum`, `kernel loop`.
template <class EnumAttr> mlir::ParseResult parseBareEnum(mlir::OpAsmParser &parser, EnumAttr &attr) {
  auto value = mlir::FieldParser<decltype(attr.getValue()), decltype(attr.getValue())>::parse(parser);
  if (mlir::failed(value))
    return mlir::failure();
  attr = EnumAttr::get(parser.getContext(), *value);
  return mlir::success();
}
template <class EnumAttr> void printBareEnum(mlir::OpAsmPrinter &printer, mlir::Operation *, EnumAttr attr) {
  printer << attr.getValue();
}

/// Parses the types of `select`: the condition's type is inferred from the result's.
mlir::ParseResult parseSelectType(mlir::OpAsmParser &parser, mlir::Type &condition, mlir::Type &result);
void printSelectType(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type condition, mlir::Type result);

/// A parenthesized, possibly empty type list: `(tensor<8xf32>, tensor<i1>)`.
mlir::ParseResult parseTypesInParens(mlir::OpAsmParser &parser, llvm::SmallVectorImpl<mlir::Type> &types);
void printTypesInParens(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::TypeRange types);

/// A kernel's type: `(tensor<8xf32>) -> tensor<8xf32>`.
mlir::ParseResult parseKernelType(mlir::OpAsmParser &parser, mlir::TypeAttr &type);
void printKernelType(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::TypeAttr type);

} // namespace halftone::dialect
