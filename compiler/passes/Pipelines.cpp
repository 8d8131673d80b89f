// The table of contents of the compiler's module side: one line a pass, with the reason for its place.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/Pipelines.h"
#include "compiler/passes/Passes.h"

using namespace mlir;

namespace halftone::compiler {

void buildPipeline(OpPassManager &passes, Stage from, Stage to, const CompileOptions &options) {
  auto verify = [&](Stage stage) {
    if (options.verifyStages || HALFTONE_VERIFY_STAGES)
      passes.addPass(createVerifyStagePass({stage}));
  };
  auto crosses = [&](Stage border) { return from < border && border <= to; };
  verify(from);

  if (crosses(Stage::cast)) {
    passes.addPass(createInsertCastsPass());  // while layers still explain each mismatch
    passes.addPass(createInlineLayersPass()); // once every layer's casts stand
    verify(Stage::cast);
  }
  if (crosses(Stage::pure)) {
    passes.addPass(createLiftVariablesPass());     // before anything may reorder reads and writes
    passes.addPass(createDifferentiatePass());     // pure, and each use of a variable still has its own cast
    passes.addPass(createBucketCollectivesPass()); // the order of the gradients is that of the layers, in each process
    passes.addPass(createSimplifyPass());          // the first merging of equal values that is legal
    verify(Stage::pure);
  }
  // Before anything asks what the module is compiled for; a module in stage kernel already may be compiled for another target.
  if (to == Stage::kernel)
    passes.addPass(createAttachTargetPass(
        {options.target, options.numerics ? std::string(options.numerics->name()) : std::string()}));
  if (crosses(Stage::kernel)) {
    passes.addPass(createUpdateRowsPass());    // while the work on a gradient is elementwise, and ops need no shape yet
    passes.addPass(createNormalizePass());     // before anything asks which kernel an op may stand in
    passes.addPass(createChooseLayoutsPass()); // before fusion depends on layouts and blockings
    passes.addPass(createHoistShadowsPass());  // sees the layouts; before casts are copied into kernels
    passes.addPass(createRoundDecisionsPass()); // stores are settled, and no kernel keeps values wide yet
    passes.addPass(createFormKernelsPass({.target = {}, .strict = false, .explain = options.explainFusion}));
    passes.addPass(createRepeatResultsPass());    // each kernel still has one launch
    passes.addPass(createOutlineKernelsPass());   // equal kernels are one before anything is compiled
    passes.addPass(createOrderLaunchesPass());    // needs launches only
    passes.addPass(createMergeLaunchesPass());    // changes that order where it may
    passes.addPass(createPlaceCollectivesPass()); // last: launches that need no sum fill the time in which one travels
    verify(Stage::kernel);
  }
}

} // namespace halftone::compiler
