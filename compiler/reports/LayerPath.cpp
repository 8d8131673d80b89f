// The layer path in a location.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reports/LayerPath.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace halftone::compiler {

static constexpr StringLiteral gradientMark = "gradient";

static bool isMarked(FusedLoc fused) {
  auto mark = dyn_cast_or_null<StringAttr>(fused.getMetadata());
  return mark && mark.getValue() == gradientMark;
}

/// Calls `visit` on `loc` and its nested locations, outermost first, until a call returns true.
static bool anyOf(Location loc, llvm::function_ref<bool(Location)> visit) {
  if (visit(loc))
    return true;
  if (auto named = dyn_cast<NameLoc>(loc))
    return anyOf(named.getChildLoc(), visit);
  if (auto fused = dyn_cast<FusedLoc>(loc))
    return llvm::any_of(fused.getLocations(), [&](Location part) { return anyOf(part, visit); });
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return anyOf(call.getCallee(), visit) || anyOf(call.getCaller(), visit);
  return false;
}

StringRef layerPathOf(Location loc) {
  StringRef path;
  anyOf(loc, [&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part))
      path = named.getName().getValue();
    return !path.empty();
  });
  return path;
}

Location withLayerPath(StringRef path, Location loc) {
  if (path.empty() || !layerPathOf(loc).empty())
    return loc;
  return NameLoc::get(StringAttr::get(loc.getContext(), path), loc);
}

Location gradientLocation(Location loc) {
  MLIRContext *context = loc.getContext();
  return isGradientLocation(loc) ? loc : FusedLoc::get({loc}, StringAttr::get(context, gradientMark), context);
}

bool isGradientLocation(Location loc) {
  return anyOf(loc, [](Location part) {
    auto fused = dyn_cast<FusedLoc>(part);
    return fused && isMarked(fused);
  });
}

FileLineColLoc sourceLineOf(Location loc) {
  FileLineColLoc line;
  anyOf(loc, [&](Location part) {
    line = dyn_cast<FileLineColLoc>(part);
    return line != nullptr;
  });
  return line;
}

} // namespace halftone::compiler
