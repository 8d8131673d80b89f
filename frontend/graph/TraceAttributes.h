// Attributes and shapes of the ops that a trace records.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "mlir/IR/Builders.h"

namespace halftone::detail {

inline llvm::SmallVector<mlir::NamedAttribute> attributesOf(mlir::Builder builder, const Trace::ControlFlow &op) {
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  if (!op.segments.empty())
    attributes.push_back(builder.getNamedAttr("operandSegmentSizes", builder.getDenseI32ArrayAttr(op.segments)));
  if (op.length)
    attributes.push_back(builder.getNamedAttr("length", builder.getI64IntegerAttr(*op.length)));
  if (op.maximum)
    attributes.push_back(builder.getNamedAttr("maximum", builder.getI64IntegerAttr(*op.maximum)));
  if (op.reverse)
    attributes.push_back(builder.getNamedAttr("reverse", builder.getUnitAttr()));
  return attributes;
}

inline llvm::SmallVector<mlir::NamedAttribute> attributesOf(mlir::Builder builder, const Trace::WindowSteps &steps) {
  const auto named = [&](llvm::StringRef name, const std::vector<int64_t> &values) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
  };
  return {named("stride", steps.stride), named("dilation", steps.dilation), named("low", steps.paddingLow),
          named("hole", steps.baseDilation)};
}

/// The extents of the axes that are not listed.
inline Shape without(const Shape &shape, const std::vector<int64_t> &axes) {
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < shape.rank(); ++i)
    if (!llvm::is_contained(axes, i))
      dims.push_back(shape[i]);
  return Shape(dims);
}

} // namespace halftone::detail
