// All passes, in the order of the default pipeline (Pipelines.cpp gives the reasons for the order).
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_PASSES
#define HALFTONE_PASSES

include "mlir/Pass/PassBase.td"

// A pass on modules in the state `input` (PassInput in Passes.h; StagePass checks it).
class Halftone_Pass<string flag, string input> : Pass<"halftone-" # flag, "::mlir::ModuleOp"> {
  let dependentDialects = ["::halftone::dialect::HalftoneDialect"];
  let baseClass = "::halftone::compiler::PassOn<::halftone::compiler::PassInput::" # input # ">";
}

// A pass that leaves the module in another stage, or between stages.
class Halftone_StageTransitionPass<string flag, string input> : Halftone_Pass<flag, input> {
  let baseClass = "::halftone::compiler::PassOn<::halftone::compiler::PassInput::" # input # ", /*leavesStage=*/true>";
}

def InsertCastsPass : Halftone_Pass<"insert-casts", "graph"> {
  let summary = "Inserts a rounding cast for every dtype change that a policy requests";
  let description = [{
    Requires: stage graph.
    Ensures: operands of `layer` have the types of its block arguments; the result of `read` has the variable's type;
    each result of a layer that is a float narrower than 32 bits passes through a rounding self-cast before `yield`.
    Each cast has kind `rounding`, an origin ("layer input", "variable read", "layer output") and the layer's path in
    its location. Casts are not merged: two uses of a variable have two casts.
    Example:
    ```mlir
    %y = halftone.layer "net/dense" policy "mixed_float16" (%x) : (tensor<4xf32>) -> tensor<4xf16> {
    ^bb0(%a: tensor<4xf16>):
      %b = halftone.read @b : tensor<4xf16>
      %0 = halftone.add %a, %b : tensor<4xf16>
      halftone.yield %0 : tensor<4xf16>
    }
    ```
    becomes
    ```mlir
    %c = halftone.cast %x {origin = "layer input"} : tensor<4xf32> to tensor<4xf16>
    %y = halftone.layer "net/dense" policy "mixed_float16" (%c) : (tensor<4xf16>) -> tensor<4xf16> {
    ^bb0(%a: tensor<4xf16>):
      %v = halftone.read @b : tensor<4xf32>
      %b = halftone.cast %v {origin = "variable read"} : tensor<4xf32> to tensor<4xf16>
      %0 = halftone.add %a, %b : tensor<4xf16>
      %1 = halftone.cast %0 {origin = "layer output"} : tensor<4xf16> to tensor<4xf16>
      halftone.yield %1 : tensor<4xf16>
    }
    ```
  }];
}

def InlineLayersPass : Halftone_StageTransitionPass<"inline-layers", "graph"> {
  let summary = "Inlines the regions of layers";
  let description = [{
    Requires: insert-casts; operands of `layer` have the types of its block arguments.
    Ensures: stage cast: there is no `layer`; every op that was in one has the path of the innermost layer in its
    location, as `NameLoc("<path>"(...))`. The module has `halftone.layers`, a dictionary from path to the class, policy
    and rule of the layer, for reports. All ops of a layer with `rematerialize` have the same number in
    `halftone.rematerialize`, which is that of the outermost such layer.
    Example: `halftone.layer "net/relu" ... { ... halftone.maximum ... }` becomes
    ```mlir
    %1 = halftone.maximum %0, %zero : tensor<4xf16> loc("net/relu"("train.cpp":12:3))
    ```
  }];
}

def LiftVariablesPass : Halftone_StageTransitionPass<"lift-variables", "cast"> {
  let summary = "Converts state to arguments and results";
  let description = [{
    Requires: stage cast.
    Ensures: there is no `read` and no `assign`. @main has an argument with `halftone.variable = @v`, after the feeds,
    for each variable whose value on entry is used, in the order of first use, and a result with
    `halftone.variable = @v`, after the fetches, for each variable that is assigned, in the order of first assignment. A
    `read` is replaced by the latest value assigned before it. An `assign` in a region of `when` becomes a
    result of the `when`, for which the other region yields the previous value. A variable that a loop assigns becomes a
    carry of the loop, whose init is the previous value and whose result is the latest value. In a function with a
    `gradient`, a float `read` after an `assign` becomes a `stop_gradient` of the assigned value, with
    `variable = @v`: a leaf, as the argument is.
    `gradient ... of [@v]` differentiates at the leaves of @v on which its scalar depends, and adds their derivatives
    (for `update = overwrite`, takes the maximum). A gradient outside of a branch or loop cannot reach a leaf in its
    region, which is an error. The symbols remain.
    Example:
    ```mlir
    func.func @main(%d: tensor<4xf32> {halftone.name = "d"}) {
      %w = halftone.read @w : tensor<4xf32>
      %0 = halftone.sub %w, %d : tensor<4xf32>
      halftone.assign @w, %0 : tensor<4xf32>
      return
    }
    ```
    becomes
    ```mlir
    func.func @main(%d: tensor<4xf32> {halftone.name = "d"}, %w: tensor<4xf32> {halftone.variable = @w})
        -> (tensor<4xf32> {halftone.variable = @w}) {
      %0 = halftone.sub %w, %d : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

def DifferentiatePass : Halftone_Pass<"differentiate", "lifted"> {
  let summary = "Resolves gradients by reverse accumulation";
  let description = [{
    Requires: lift-variables, before any CSE, so that each use of a variable still has its own cast and contributes to
    the gradient in the variable's dtype.
    Ensures: there is no `gradient` and no `stop_gradient`. Only ops between the values and the scalar are
    differentiated; derivatives with respect to values on which the scalar does not depend are zero. Cotangents of a
    value with several uses are added in its dtype; for a variable with `update = overwrite` the maximum is taken. Ops
    of the backward pass have the location of their forward op, marked `fused<"gradient">`. Higher-order gradients are
    supported. Forward ops with the same number in `halftone.rematerialize` are cloned before the first derivative that
    reads one of their values; their operands are variables, or other values passed through a `hold`. The attribute is
    removed. A scan of at least 64 steps among them that no other loop contains is first split into a scan of scans,
    whose inner scans are recomputed one at a time. An op without a derivative between the values and the scalar is an
    error, which names the op, its layer and the gradient. The derivative of a scan is a scan in the opposite direction.
    Its carries are the cotangents of the carries and, for each capture, the sum of its cotangents from the last step
    executed to the first, in at least f32. Values of the forward body that it reads become additional stacks of the
    forward scan, except slices of the xs and values that at most 4 cheap elementwise ops recompute. The derivative of a
    `when` is a `when` on the same condition: results of contractions, convolutions, attention and loops become
    additional results of the forward `when`, and all other values are recomputed. A gradient in the body of a loop
    differentiates only within the body, from values there or from captures.
    Example:
    ```mlir
    %d = halftone.gradient %s at (%x : tensor<4xf32>) : tensor<f32> -> tensor<4xf32>
    ```
    with `%s = reduce sum (mul %x, %x)` becomes
    ```mlir
    %1 = halftone.constant dense<1.0> : tensor<f32>
    %2 = halftone.broadcast %1 {axes = array<i64>} : tensor<f32> to tensor<4xf32>
    %3 = halftone.mul %2, %x : tensor<4xf32>
    %4 = halftone.mul %2, %x : tensor<4xf32>
    %d = halftone.add %3, %4 : tensor<4xf32>
    ```
  }];
}

def BucketCollectivesPass : Halftone_Pass<"bucket-collectives", "pure"> {
  let summary = "Merges collectives into buckets, in the order in which their operands are ready";
  let description = [{
    Requires: differentiate.
    Ensures: independent collectives of the same kind whose operands are computed one after another are merged, up to
    `bucket-bytes`. Each collective has an `order`, which counts from 0, and depends only on collectives of lower order.
    The result depends only on dtypes, kinds, shapes of the operands and program order. Processes whose batches differ
    in their extents, and whose updates differ after a reduce_scatter, therefore form the same buckets in the same
    order: an all_gather is ordered after all collectives that precede it in the program, and any other collective after
    a reduce_scatter in the program depends on it.
    Example: the gradients of a layer's kernel and of its bias become one `all_reduce`.
  }];
  let options = [Option<"bucketBytes", "bucket-bytes", "int64_t", "1 << 20",
                        "The size in bytes at which a bucket is closed">];
}

def SimplifyPass : Halftone_Pass<"simplify", "pure"> {
  let summary = "Canonicalization, exact rewrites, common subexpressions, dead code";
  let description = [{
    Requires: differentiate.
    Ensures: stage pure; all results are bit-identical. Rounding casts are kept, also to the same dtype; equal casts of
    a value are merged. Rewrites are exact, including signed zeros, infinities and NaNs (ExactRewrites.h). A tensor
    without elements is an argument or a constant, and only return, yield and reduce_all read it. A sum of zero-padded
    slices, such as the gradient of a value that is split into slices, becomes a sum of concats: overlapping slices are
    in different concats, in the order of the sum, or, if there would be many, in one concat of the sums per segment
    (ExactRewrites.h). A scatter_add to consecutive constant indices is treated as such a slice.
    In loops (LoopRewrites.h), invariant ops are hoisted, unused carries, slices and stacks are removed, and a scan of
    at most one step is inlined. Ops that can compute all steps of a scan at once move before or after it
    (LoopLifting.h). A narrow float that no longer passes through the memory of a loop is cast to its own dtype, with
    origin "loop".
    Example: `halftone.mul %x, %one` with `%one = constant dense<1.0>` becomes `%x`; `halftone.add %x, %zero` with
    `dense<0.0>` stays, since -0.0 + 0.0 is 0.0. The sum of `concat %a, %z` and `concat %z, %b` with `%z = constant dense<0.0>` becomes
    ```mlir
    %0 = halftone.concat %a, %b {axis = 0 : i64} : tensor<2xf32>, tensor<2xf32> to tensor<4xf32>
    %1 = halftone.add %0, %zero : tensor<4xf32>
    ```
  }];
}

def AttachTargetPass : Halftone_Pass<"attach-target", "any"> {
  let summary = "Attaches the target and the numerics to a module";
  let description = [{
    Requires: a module in any stage.
    Ensures: `halftone.target` of the module is the name of a target, and `halftone.numerics` is "strict" for strict
    numerics, and absent for fast ones. Later passes read both. Options take precedence over existing attributes; the
    defaults are the CPU of this machine and fast numerics.
    Example: `halftone-opt --halftone-attach-target="target=sm_80 numerics=strict"` gives
    ```mlir
    module attributes {halftone.numerics = "strict", halftone.target = "sm_80"} {
    }
    ```
  }];
  let options = [Option<"target", "target", "std::string", "", "The name of a target (docs/tools.md); default: that of the module, or host">,
                 Option<"numerics", "numerics", "std::string", "", "fast or strict; default: those of the module, or fast">];
}

def UpdateRowsPass : Halftone_Pass<"update-rows", "pure"> {
  let summary = "Restricts updates of large tables to the rows that a batch has looked up";
  let description = [{
    Requires: stage pure, simplified.
    Ensures: there is no `scatter_add` of n indices into at least 8 n rows along axis 0 and 2^20 elements of f32 or f64
    whose result only elementwise ops and `reduce_all`s read. The indices are sorted, and the updates of equal indices
    are added in their order. Values that depend on the sums and on values that all rows share are computed for at most
    n rows, plus one that represents all rows without an index. If the result is subtracted from a table, only these
    rows of the table are updated. Whether the other rows are unchanged depends on values such as a learning rate, so a
    `when` tests that the representative row is +0: if a rate is infinite, all rows are computed. All rows are also
    computed of new values that depend on a table in another way; the sums are then looked up per row. A variable with
    the role slot to which squares are added is assumed to have no negative element and no NaN, as a sum of squares. All
    results are bit-identical, except for the order of `reduce_all sum_of_squares`, for which the `scatter_add` is kept
    in strict numerics.
    Example:
    ```mlir
    %g = halftone.scatter_add %ids, %u {axis = 0 : i64} : (tensor<32xi32>, tensor<32x64xf32>) -> tensor<100000x64xf32>
    %r = halftone.broadcast %rate {axes = array<i64>} : tensor<f32> to tensor<100000x64xf32>
    %s = halftone.mul %g, %r : tensor<100000x64xf32>
    %new = halftone.sub %table, %s : tensor<100000x64xf32>
    ```
    becomes, with 33 rows, of which the last represents the rows without an index,
    ```mlir
    %g = halftone.scatter_add %place, %u {axis = 0 : i64} : (tensor<32xi32>, tensor<32x64xf32>) -> tensor<33x64xf32>
    %r = halftone.broadcast %rate {axes = array<i64>} : tensor<f32> to tensor<33x64xf32>
    %s = halftone.mul %g, %r : tensor<33x64xf32>
    %new = halftone.when %keeps : (tensor<100000x64xf32>) {
      %0 = halftone.gather %table, %rows {axis = 0 : i64} : (tensor<100000x64xf32>, tensor<33xi32>) -> tensor<33x64xf32>
      %1 = halftone.sub %0, %s : tensor<33x64xf32>
      %2 = halftone.scatter set %table, %rows, %1 {axis = 0 : i64} : (tensor<100000x64xf32>, tensor<33xi32>, tensor<33x64xf32>) -> tensor<100000x64xf32>
      halftone.yield %2 : tensor<100000x64xf32>
    } else {
      %0 = halftone.gather %s, %place_of_row {axis = 0 : i64} : (tensor<33x64xf32>, tensor<100000xi32>) -> tensor<100000x64xf32>
      %1 = halftone.sub %table, %0 : tensor<100000x64xf32>
      halftone.yield %1 : tensor<100000x64xf32>
    }
    ```
  }];
  let options = [Option<"strict", "strict", "bool", "false", "Keeps the order of sums of squares; implied by strict numerics of the module">];
}

def NormalizePass : Halftone_Pass<"normalize", "pure"> {
  let summary = "Rewrites ops into the forms that kernels support";
  let description = [{
    Requires: stage pure, simplified.
    Ensures: there is no `reduce_all`. Every `reduce` is over at least one axis, and is over trailing axes or keeps the
    innermost axis; `arg_reduce` is over the last axis. Contractions absorb transposes and broadcast batch axes of their
    operands; if the result is transposed instead (ExactRewrites.h), its elementwise users move above the transpose.
    Reshapes are hoisted above elementwise ops on loaded values and sunk below those on computed values. Every
    `scatter_add` gives f32 or a wider type. A `convolution` becomes a `contract` of a `window`. A `concat` has at most
    8 operands, so that the work of a kernel per element does not grow with the number of operands. `attention` is kept
    if the target has a kernel for it (Blocking::attentionTile); otherwise it becomes two contractions with the softmax
    of the scores between them. A carry to which the steps of a scan only add contractions and sums becomes one
    contraction or sum after the scan (LoopSums.h). Results are bit-identical, except for the order of sums that are
    split, of sums over the steps of scans, and of sums in a convolution's gradient by its kernel.
    Example: `reduce sum %0 {axes = array<i64: 0, 2>} : tensor<8x4x5xf32> -> tensor<4xf32>` becomes
    ```mlir
    %1 = halftone.reduce sum %0 {axes = array<i64: 2>} : tensor<8x4x5xf32> -> tensor<8x4xf32>
    %2 = halftone.reduce sum %1 {axes = array<i64: 0>} : tensor<8x4xf32> -> tensor<4xf32>
    ```
  }];
  let options = [Option<"target", "target", "std::string", "", "The target of the kernels; default: that of the module, or host">,
                 Option<"strict", "strict", "bool", "false", "Keeps the order of sums of convolutions and over steps; implied by strict numerics of the module">];
}

def ChooseLayoutsPass : Halftone_Pass<"choose-layouts", "pure"> {
  let summary = "Chooses tiles of contractions, layouts of weights and the splitting of long sums";
  let description = [{
    Requires: stage pure, after normalize.
    Ensures: every `contract` has a `tile`, the rows and columns of its blocks. The right operand of a contraction is
    packed (`pack`) if it is a weight that @main only reads and the target has a packed layout for it
    (Lowerings::weightPanels). An operand whose contracted axes are not adjacent, in the order of those of the other
    operand, is transposed if the target requests it (Lowerings::joinsDepth). A float contraction with few tiles and
    long sums is split along K: it computes partial sums, one per index of a leading batch axis, which a `reduce` adds
    (Blocking::depthParts). A gradient of attention with few heads of keys and many scores computes partial results of
    its gradients by keys and values, which a `reduce` adds (SplitAttention.h). All other results are bit-identical.
    Example: `contract %x, %w` of 8 x 6 by 6 x 4 gets `tile = array<i64: 8, 64>`. For `sm_80`, `contract %x, %w` of 8 x 1024 by 1024 x 4 becomes
    ```mlir
    %a = halftone.reshape %x : tensor<8x1024xf32> to tensor<8x4x256xf32>
    %b = halftone.reshape %w : tensor<1024x4xf32> to tensor<4x256x4xf32>
    %p = halftone.contract %a, %b {lhs_batch = array<i64: 1>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>,
        tile = array<i64: 32, 32>} : (tensor<8x4x256xf32>, tensor<4x256x4xf32>) -> tensor<4x8x4xf32>
    %0 = halftone.reduce sum %p {axes = array<i64: 0>} : tensor<4x8x4xf32> -> tensor<8x4xf32>
    ```
  }];
  let options = [Option<"target", "target", "std::string", "", "The target for which weights are packed and sums are split; default: that of the module, or Target::reference">,
                 Option<"strict", "strict", "bool", "false", "Packs no weights and splits no sums; implied by strict numerics of the module">];
}

def HoistShadowsPass : Halftone_StageTransitionPass<"hoist-shadows", "pure"> {
  let summary = "Hoists casts and packs of weights from their readers to the writers of the weights";
  let description = [{
    Requires: stage pure, after choose-layouts.
    Ensures: every cast of a weight to a narrower dtype (also through transposes and reshapes) and every pack of a
    weight that has other users is hoisted into a `shadow`. Its users read an argument of @main with `halftone.shadow`
    instead, through a reshape if they need another shape. Functions that differ only in the `origin` or `kind` of a
    cast share a shadow. If @main assigns the weight, the shadow of the new value is computed next to it, under the same
    conditions, and becomes a result with `halftone.shadow`; if the new value is the old value of another weight, that
    weight's shadow is used. All results are bit-identical.
    Example:
    ```mlir
    %c = halftone.cast %w {origin = "variable read"} : tensor<4xf32> to tensor<4xf16>
    ```
    with `%w` an argument for the variable @w becomes an argument `%c {halftone.shadow = @w_float16}` and
    ```mlir
    halftone.shadow @w_float16 of @w {
    ^bb0(%w: tensor<4xf32>):
      %0 = halftone.cast %w {origin = "variable read"} : tensor<4xf32> to tensor<4xf16>
      halftone.yield %0 : tensor<4xf16>
    }
    ```
  }];
}

def RoundDecisionsPass : Halftone_Pass<"round-decisions", "pure"> {
  let summary = "Rounds each narrow float on which a decision depends at its definition";
  let description = [{
    Requires: stage pure, after choose-layouts.
    Ensures: a decision sees the same value as the other users of its operand. Kernels keep narrow floats in f32 and
    store them narrow, so without this pass `is_finite` could report a gradient as finite that its update reads as inf.
    Each value that `valuesToRound` (dialect/Decisions.h) finds passes through a rounding self-cast with the origin
    "decision", and all its users read the cast. A module with strict numerics is not changed, since every op rounds.
    Example:
    ```mlir
    %f = halftone.is_finite %g : tensor<4xf16>
    ```
    with `%g` the result of a `contract` becomes
    ```mlir
    %0 = halftone.cast %g {origin = "decision"} : tensor<4xf16> to tensor<4xf16>
    %f = halftone.is_finite %0 : tensor<4xf16>
    ```
  }];
}

def FormKernelsPass : Halftone_StageTransitionPass<"form-kernels", "pure"> {
  let summary = "Kernel formation: fuses ops into kernels and launches";
  let description = [{
    Requires: stage pure, after choose-layouts.
    Ensures: the bodies of @main, branches and loops consist of `launch`, `when`, `scan`, `while`, `reshape`, `constant`
    and collectives; there is no `hold`. The kind of each kernel follows from its ops (docs/kernels.md, "The ops of a
    kernel"). Cheap chains of elementwise ops on values in memory are cloned into every kernel that reads them (at most
    2 loads and 2 transcendentals). Elementwise ops are fused into the kernels of their producers. A reduction over
    leading or all axes of a kernel's result is split into a `partial_reduce` in that kernel and a `reduce` that
    completes it. Kernels whose results are all scalars are merged. Finally, kernels recompute values of other kernels
    if that takes less memory. At most 256 ops, clones excluded, are in one kernel. Only constants, broadcasts and
    widening rounding casts move into or out of branches and loops. In strict numerics each compute op is a kernel.
    Example: `contract`, `add` of a broadcast bias and `maximum` with zero become one kernel of kind `matmul`.
  }];
  let options = [Option<"target", "target", "std::string", "", "The target for which kernels are partitioned into blocks; default: that of the module, or host">,
                 Option<"strict", "strict", "bool", "false", "One kernel per op: only constants, iota and broadcasts are cloned into it; implied by strict numerics of the module">,
                 Option<"explain", "explain", "bool", "false", "Record in the locations of launches which rules formed their kernels (compiler/reports/FusionReport.h)">];
}

def RepeatResultsPass : Halftone_Pass<"repeat-results", "kernel"> {
  let summary = "Stores a small result that several results of @main name directly in each of them";
  let description = [{
    Requires: form-kernels.
    Ensures: a value of at most 4096 elements that a kernel of kind loop, row, finish or reduction_loop computes in
    @main, and that several results of @main name, is a separate result of the launch for each of them. If the value is
    the new value of a variable whose old value is read later, and may overwrite it in place, the launch also returns
    the old value, which the later readers use. assign-slots therefore needs no copies, each of which costs a launch on
    a GPU. A kernel with several launches is cloned for a launch with more results.
    Example: the total of a metric, which is also fetched, becomes two results of the kernel that updates it: one is
    stored in the variable, one in the fetch.
  }];
}

def OutlineKernelsPass : Halftone_Pass<"outline-kernels", "kernel"> {
  let summary = "Deduplicates kernels and names them by a hash of their text";
  let description = [{
    Requires: form-kernels.
    Ensures: stage kernel: each kernel is named `<kind>_<16 hex digits of the hash of its text without name and
    locations>`; no two kernels have the same text; kernels without a launch are removed. Kernels precede @main in the
    order of their first launch.
    Example: `@loop_0` and `@loop_1`, both `neg` of tensor<8xf32>, become one `@loop_<hash>`.
  }];
}

def OrderLaunchesPass : Halftone_Pass<"order-launches", "kernel"> {
  let summary = "Schedules the launches of each region to reuse memory";
  let description = [{
    Requires: stage kernel.
    Ensures: the order respects all dependencies. Where dependencies allow, readers of a variable's old value are
    ordered before the launch that writes the new value, so that the write can be in place. A launch that is the last
    reader of large values, and whose results are smaller, is ordered as early as possible, together with small launches
    on which it depends. Otherwise program order is kept.
    Example: a launch that reads %w after the launch whose result is returned for `halftone.variable = @w` moves before it.
  }];
}

def MergeLaunchesPass : Halftone_Pass<"merge-launches", "kernel"> {
  let summary = "Orders launches of the same code next to each other";
  let description = [{
    Requires: order-launches.
    Ensures: independent launches whose kernels differ only in extents are adjacent, if that does not increase the size
    of the values that are live at once. The constraints of order-launches are kept. assign-slots merges adjacent
    launches of the same code into one.
    Example: the updates of all parameters become adjacent in the `when` around them.
  }];
}

def PlaceCollectivesPass : Halftone_Pass<"place-collectives", "kernel"> {
  let summary = "Overlaps independent launches with collectives in flight";
  let description = [{
    Requires: merge-launches; each collective has an `order`.
    Ensures: in @main, each collective is as early as its operands and the collectives of lower order allow. Ops that
    depend on the collective of order i, and on none of a higher order, follow all ops that depend only on lower orders.
    Otherwise the order is kept. A module without collectives is not changed.
    Example: the update of the last layer's weights, which depends on the sum of their gradients, moves after the
    backward pass of the first layer.
  }];
}

def VerifyStagePass : Halftone_Pass<"verify-stage", "any"> {
  let summary = "Checks that a module satisfies the contract of a stage";
  let description = [{
    Requires: a module that MLIR's verifier accepts.
    Ensures: the module is not changed; each violation of the contract is an error. docs/architecture.md has the table
    of stages.
    Example: `halftone-opt --halftone-verify-stage=stage=pure` on a module with a `read` reports
    `'halftone.read' op is not legal in stage pure: ...`.
  }];
  let options = [
    Option<"stage", "stage", "::halftone::compiler::Stage", "::halftone::compiler::Stage::graph",
           "The stage to check: graph, cast, pure or kernel",
           [{::llvm::cl::values(
               clEnumValN(::halftone::compiler::Stage::graph, "graph", "layers, state, gradients"),
               clEnumValN(::halftone::compiler::Stage::cast, "cast", "no layers, all casts explicit"),
               clEnumValN(::halftone::compiler::Stage::pure, "pure", "state as values, gradients resolved"),
               clEnumValN(::halftone::compiler::Stage::kernel, "kernel", "launches of kernels"))}]>
  ];
}

def LowerToLinalgPass : Halftone_StageTransitionPass<"lower-to-linalg", "kernel"> {
  let summary = "Replaces each kernel by its linalg form; for tests and tools, not part of the pipeline";
  let description = [{
    Requires: stage kernel.
    Ensures: each `halftone.kernel` is replaced by a module of the same name with its linalg form (docs/kernel-form.md).
    The values of the launch are attributes: `halftone.extents`, `halftone.grid`, `halftone.scratch`. All other ops are
    erased.
    Example:
    ```mlir
    module @loop_0 attributes {halftone.extents = array<i64: 8, 1, 8>, halftone.grid = 1 : i64, halftone.scratch = 0 : i64} {
      func.func @kernel(%arg0: index, %arg1: index, %arg2: index, %arg3: tensor<?xf32>) -> tensor<?xf32> ...
    }
    ```
  }];
  let options = [
    Option<"strict", "strict", "bool", "false", "Every op rounds to its dtype; implied by strict numerics of the module">,
    Option<"target", "target", "std::string", "", "The target of the launch; default: that of the module, or Target::reference">
  ];
}

#endif // HALFTONE_PASSES
