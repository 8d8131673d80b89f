// The pass pipeline, with the reason for the position of each pass.
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
  auto crosses = [&](Stage boundary) { return from < boundary && boundary <= to; };
  verify(from);

  if (crosses(Stage::cast)) {
    passes.addPass(createInsertCastsPass());  // while layers still tell the reason of each dtype mismatch
    passes.addPass(createInlineLayersPass()); // after the casts of all layers are inserted
    verify(Stage::cast);
  }
  if (crosses(Stage::pure)) {
    passes.addPass(createLiftVariablesPass());     // before anything may reorder reads and writes
    passes.addPass(createDifferentiatePass());     // pure, and each use of a variable still has its own cast
    passes.addPass(createBucketCollectivesPass()); // the order of the gradients is that of the layers, in each process
    passes.addPass(createSimplifyPass());          // CSE is legal from here on
    verify(Stage::pure);
  }
  // Before any pass queries the target. A module that is already in stage kernel may be compiled for another target.
  if (to == Stage::kernel)
    passes.addPass(createAttachTargetPass(
        {options.target, options.numerics ? std::string(options.numerics->name()) : std::string()}));
  if (crosses(Stage::kernel)) {
    passes.addPass(createUpdateRowsPass());    // while the work on a gradient is elementwise, and ops need no shape yet
    passes.addPass(createNormalizePass());     // before any pass queries which kernel may contain an op
    passes.addPass(createChooseLayoutsPass()); // before fusion depends on layouts and blockings
    passes.addPass(createHoistShadowsPass());  // needs the layouts; before casts are cloned into kernels
    passes.addPass(createRoundDecisionsPass()); // all layouts are chosen, and no kernel keeps values wide yet
    passes.addPass(createFormKernelsPass({.target = {}, .strict = false, .explain = options.explainFusion}));
    passes.addPass(createRepeatResultsPass());    // each kernel still has one launch
    passes.addPass(createOutlineKernelsPass());   // merges equal kernels before they are compiled
    passes.addPass(createOrderLaunchesPass());    // needs only launches
    passes.addPass(createMergeLaunchesPass());    // refines that order
    passes.addPass(createPlaceCollectivesPass()); // last: overlaps independent launches with collectives in flight
    verify(Stage::kernel);
  }
}

} // namespace halftone::compiler
