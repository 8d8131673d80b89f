// The list of kinds of targets.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/Target.h"
#include "compiler/targets/cpu/CpuTarget.h"

namespace halftone::compiler {

StatusOr<std::shared_ptr<const Target>> Target::find(std::string_view name) {
  StatusOr<CpuTarget> cpu = CpuTarget::find(name);
  if (!cpu)
    return cpu.status();
  return std::shared_ptr<const Target>(std::make_shared<CpuTarget>(std::move(*cpu)));
}

} // namespace halftone::compiler
