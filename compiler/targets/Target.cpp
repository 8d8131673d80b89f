// The list of kinds of targets.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/Target.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "compiler/targets/nvptx/NvptxTarget.h"
#include <fmt/format.h>

namespace halftone::compiler {

/// Returns a target of one kind, such as a CPU, as a Target, or its error.
template <class Kind> static StatusOr<std::shared_ptr<const Target>> findKind(std::string_view name) {
  StatusOr<Kind> found = Kind::find(name);
  if (!found)
    return found.status();
  return std::shared_ptr<const Target>(std::make_shared<Kind>(std::move(*found)));
}

StatusOr<std::shared_ptr<const Target>> Target::find(std::string_view name) {
  return name.starts_with("sm_") ? findKind<NvptxTarget>(name) : findKind<CpuTarget>(name);
}

void Target::registerDialects(mlir::DialectRegistry &registry) {
  CpuTarget::registerDialects(registry);
  NvptxTarget::registerDialects(registry);
}

StatusOr<std::shared_ptr<const Target>> Target::of(mlir::ModuleOp module, std::string_view otherwise) {
  const mlir::Attribute value = module->getDiscardableAttr(attribute);
  if (!value)
    return find(otherwise);
  std::string text;
  llvm::raw_string_ostream(text) << value;
  const auto named = mlir::dyn_cast<mlir::StringAttr>(value);
  if (!named)
    return Status(ErrorKind::value_error,
                  fmt::format("attribute '{}' must be a string, but got {}", std::string_view(attribute), text));
  auto found = find(named.getValue());
  if (!found)
    return Status(found.status().kind(),
                  fmt::format("attribute '{}': {}", std::string_view(attribute), found.status().message()));
  return found;
}

} // namespace halftone::compiler
