// Reads what a module is compiled for: the options of a pass first, then the module's attributes.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/ModuleAttributes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace halftone::compiler {

StatusOr<Numerics> numericsOf(Operation *op) {
  for (; op; op = op->getParentOp())
    if (Attribute attribute = op->getDiscardableAttr(numericsAttribute)) {
      auto name = dyn_cast<StringAttr>(attribute);
      if (const std::optional<Numerics> found = name ? Numerics::named(name.getValue()) : std::nullopt)
        return *found;
      std::string text;
      llvm::raw_string_ostream(text) << attribute;
      return Status(ErrorKind::value_error,
                    "attribute '" + numericsAttribute.str() + "' must be \"fast\" or \"strict\", but got " + text);
    }
  return Numerics::fast();
}

FailureOr<CompiledFor> compiledFor(ModuleOp module, StringRef target, std::optional<Numerics> numerics,
                                   StringRef otherwise) {
  auto found = target.empty() ? Target::of(module, otherwise) : Target::find(target);
  if (!found)
    return module.emitError() << found.status().message();
  const StatusOr<Numerics> own = numerics ? StatusOr<Numerics>(*numerics) : numericsOf(module);
  if (!own)
    return module.emitError() << own.status().message();
  return CompiledFor{*std::move(found), *own};
}

} // namespace halftone::compiler
