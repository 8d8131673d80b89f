// attach-target: records in the module what it is compiled for.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/ModuleAttributes.h"
#include "compiler/passes/Passes.h"

using namespace mlir;

namespace halftone::compiler {
#define GEN_PASS_DEF_ATTACHTARGETPASS
#include "compiler/passes/Passes.h.inc"

namespace {

class AttachTarget : public impl::AttachTargetPassBase<AttachTarget> {
public:
  using AttachTargetPassBase::AttachTargetPassBase;

private:
  void runOnModule() override {
    const std::optional<Numerics> given = Numerics::named(numerics.getValue());
    if (!given && !numerics.empty()) {
      getOperation().emitError() << getArgument() << ": expected numerics to be fast or strict, but got \"" << numerics
                                 << "\"";
      return signalPassFailure();
    }
    const FailureOr<CompiledFor> compiled = compiledFor(getOperation(), target, given);
    if (failed(compiled))
      return signalPassFailure();
    Builder builder(&getContext());
    getOperation()->setAttr(Target::attribute, builder.getStringAttr(compiled->target->name));
    if (compiled->numerics == Numerics())
      getOperation()->removeAttr(numericsAttribute);
    else
      getOperation()->setAttr(numericsAttribute, builder.getStringAttr(compiled->numerics.name()));
  }
};

} // namespace
} // namespace halftone::compiler
