// The layer path in a location: how an op still tells its layer after the layers are gone.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"

namespace halftone::compiler {

/// Module attribute that inline-layers leaves behind: a dictionary from layer path to {class, policy, rule}.
inline constexpr llvm::StringLiteral layersAttr = "halftone.layers";

/// The path in `loc`: the name of its outermost NameLoc, searched through fused and call-site locations; "" when the op
/// is in no layer.
llvm::StringRef layerPathOf(mlir::Location loc);

/// `loc` with a layer path: NameLoc("<path>"(loc)). A location that has a path keeps it: the innermost layer wins.
mlir::Location withLayerPath(llvm::StringRef path, mlir::Location loc);

/// The location of an op of the backward pass of the op at `loc`: the same path and line, marked `fused<"gradient">`.
mlir::Location gradientLocation(mlir::Location loc);
/// Whether `loc` is marked so.
bool isGradientLocation(mlir::Location loc);

/// The user's file and line in `loc`; null when there is none.
mlir::FileLineColLoc sourceLineOf(mlir::Location loc);

} // namespace halftone::compiler
