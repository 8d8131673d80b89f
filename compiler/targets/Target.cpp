// The list of kinds of targets.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/Target.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "compiler/targets/nvptx/NvptxTarget.h"

namespace halftone::compiler {

/// Hands out a target of one kind, such as a CPU, as a Target; or passes its error on.
template <class Kind> static StatusOr<std::shared_ptr<const Target>> findKind(std::string_view name) {
  StatusOr<Kind> found = Kind::find(name);
  if (!found)
    return found.status();
  return std::shared_ptr<const Target>(std::make_shared<Kind>(std::move(*found)));
}

StatusOr<std::shared_ptr<const Target>> Target::find(std::string_view name) {
  return name.starts_with("sm_") ? findKind<NvptxTarget>(name) : findKind<CpuTarget>(name);
}

void Target::registerDialects(mlir::DialectRegistry &registry) { NvptxTarget::registerDialects(registry); }

} // namespace halftone::compiler
