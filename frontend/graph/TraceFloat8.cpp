// Emits casts around ops on float8 values.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/TraceFloat8.h"
#include "dialect/Dialect.h"
#include <fmt/format.h>

using namespace mlir;

namespace halftone::detail {

static Type elementOf(Type type) { return cast<RankedTensorType>(type).getElementType(); }
static bool isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(elementOf(type)); }
static Type ofElement(Type type, Type element) {
  return RankedTensorType::get(cast<RankedTensorType>(type).getShape(), element);
}
static Type wideType(Type type) { return isFloat8(type) ? ofElement(type, Float32Type::get(type.getContext())) : type; }

mlir::Value converted(EmitOp emit, mlir::Value value, Type type) {
  if (value.getType() == type)
    return value;
  const NamedAttribute origin(StringAttr::get(type.getContext(), "origin"),
                              StringAttr::get(type.getContext(), "float8"));
  return emit("cast", {type}, {value}, {origin})->getResult(0);
}

mlir::Value widened(EmitOp emit, mlir::Value value) { return converted(emit, value, wideType(value.getType())); }

mlir::Value emitWithFloat8(EmitOp emit, llvm::StringRef name, TypeRange types, ValueRange operands,
                           llvm::ArrayRef<NamedAttribute> attributes) {
  const auto narrow = llvm::find_if(operands, [](mlir::Value each) { return isFloat8(each.getType()); });
  if (narrow == operands.end() || name == "cast" ||
      (name == "gather" && isa_and_present<dialect::ReadOp>(operands.front().getDefiningOp())))
    return emit(name, types, operands, attributes)->getResult(0);
  const auto wideTypes = llvm::map_to_vector(types, wideType);
  const auto wide = llvm::map_to_vector(operands, [&](mlir::Value each) { return widened(emit, each); });
  const mlir::Value result = emit(name, wideTypes, wide, attributes)->getResult(0);
  if (!types.empty())
    return converted(emit, result, types.front());
  const bool isRounded = elementOf(result.getType()).isF32() && name != "reduce_all";
  return isRounded ? converted(emit, result, ofElement(result.getType(), elementOf((*narrow).getType()))) : result;
}

void requireTrainableDtype(const VariableImpl &variable) {
  if (is_float(variable.dtype) && itemsize(variable.dtype) == 1)
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("'{}' has the dtype {}, which cannot be trained: steps smaller than its rounding error "
                            "change nothing. To train in float8, use the policy 'float8_from_float32'",
                            variable.path, name(variable.dtype)));
}

} // namespace halftone::detail
