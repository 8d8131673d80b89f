// The table of branches with the options that each of them ignores.
// SPDX-License-Identifier: Apache-2.0
#include "Branches.h"
#include "UsageError.h"
#include "compiler/passes/CompileOptions.h"
#include "tools/shell/OptionRules.h"

namespace halftone::tools {

void checkBranches(const Arguments &arguments, bool isPlan) {
  const bool emits = arguments.command == "emit";
  const std::optional<compiler::Stage> stage = emits ? compiler::stageNamed(arguments.stage) : std::nullopt;
  const bool emitsModule = stage && *stage <= compiler::Stage::linalg;
  const bool emitsCode = emits && (arguments.format == "llvm" || arguments.format == "asm" ||
                                   (arguments.format.empty() && stage == compiler::Stage::target));
  const bool writesModules = emitsModule || !arguments.dumpDirectory.empty();
  const Branch branches[] = {
      {"predict with --device interpreter",
       arguments.command == "predict" && arguments.device == "interpreter",
       {"--threads", "--numerics", "--cache-dir", "--no-cache", "--dump-ir", "--locations", "--max-standalone-casts",
        "--target", "--timing", "--timing-passes"}},
      {"a saved plan, which is already compiled,",
       isPlan,
       {"--numerics", "--cache-dir", "--no-cache", "--dump-ir", "--locations", "--timing", "--timing-passes"}},
      {"a saved plan, which has its target,", isPlan && !emitsCode, {"--target"}},
      {"emit of a saved plan", isPlan && emits, {"--threads"}},
      {"emit of the plan that a saved plan holds", isPlan && emits && !emitsCode, {"--device"}},
      {"emit of a module", emitsModule, {"--max-standalone-casts"}},
      {"a command that writes no module, as --dump-ir and emit do,",
       !writesModules && !arguments.model.ends_with(".keras"),
       {"--locations"}},
      {"compare with a file", arguments.command == "compare" && arguments.against.ends_with(".npy"), {"--by-layer"}},
  };
  if (const std::string fault = unreadOption(branches, arguments.given); !fault.empty())
    throw UsageError(fault);
}

} // namespace halftone::tools
