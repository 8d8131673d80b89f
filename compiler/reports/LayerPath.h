// The layer path in a location, which identifies the layer of an op after layers are inlined.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"

namespace halftone::compiler {

/// The module attribute that inline-layers sets: a dictionary from layer path to {class, policy, rule}.
inline constexpr llvm::StringLiteral layersAttr = "halftone.layers";

/// Returns the path in `loc`: the name of its outermost NameLoc, searched through fused and call-site locations; "" if
/// the op is in no layer.
llvm::StringRef layerPathOf(mlir::Location loc);

/// Returns `loc` with a layer path: NameLoc("<path>"(loc)). A location that has a path keeps it: the innermost layer
/// wins.
mlir::Location withLayerPath(llvm::StringRef path, mlir::Location loc);

/// Returns the location for an op of the backward pass of the op at `loc`: the same path and line, marked
/// `fused<"gradient">`.
mlir::Location gradientLocation(mlir::Location loc);
/// Returns true if `loc` is marked as gradient.
bool isGradientLocation(mlir::Location loc);

/// Returns the user's file and line in `loc`; null if there is none.
mlir::FileLineColLoc sourceLineOf(mlir::Location loc);

} // namespace halftone::compiler
