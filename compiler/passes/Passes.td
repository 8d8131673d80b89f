// The catalogue of passes, in the order of the stock pipeline (Pipelines.cpp has the reasons for that order).
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_PASSES
#define HALFTONE_PASSES

include "mlir/Pass/PassBase.td"

// A pass on modules that stand where `input` says (PassInput in Passes.h, whose StagePass checks it).
class Halftone_Pass<string flag, string input> : Pass<"halftone-" # flag, "::mlir::ModuleOp"> {
  let dependentDialects = ["::halftone::dialect::HalftoneDialect"];
  let baseClass = "::halftone::compiler::PassOn<::halftone::compiler::PassInput::" # input # ">";
}

// A pass after which the module is in another stage, or in none.
class Halftone_BorderPass<string flag, string input> : Halftone_Pass<flag, input> {
  let baseClass = "::halftone::compiler::PassOn<::halftone::compiler::PassInput::" # input # ", /*leavesStage=*/true>";
}

def InsertCastsPass : Halftone_Pass<"insert-casts", "graph"> {
  let summary = "Makes every dtype change that a policy asks for a rounding cast";
  let description = [{
    Requires: stage graph.
    Ensures: operands of `layer` have the types of its block arguments; `read` gives the variable's type; each result
    of a layer that is a float narrower than 32 bits goes through a rounding self-cast before `yield`. Each cast has
    kind `rounding`, an origin ("layer input", "variable read", "layer output") and the layer's path in its location.
    Nothing is merged: two uses of a variable have two casts.
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

def InlineLayersPass : Halftone_BorderPass<"inline-layers", "graph"> {
  let summary = "Splices the regions of layers into what surrounds them";
  let description = [{
    Requires: insert-casts; operands of `layer` have the types of its block arguments.
    Ensures: stage cast: no `layer`; every op that stood in one has the layer's path in its location, as
    `NameLoc("<path>"(...))`, the innermost layer's where they nest. The module has `halftone.layers`, a dictionary from
    path to the class, policy and rule of the layer, for reports. All ops of a layer with `rematerialize` have one number in
    `halftone.rematerialize`, the outermost layer's where they nest.
    Example: `halftone.layer "net/relu" ... { ... halftone.maximum ... }` becomes
    ```mlir
    %1 = halftone.maximum %0, %zero : tensor<4xf16> loc("net/relu"("train.cpp":12:3))
    ```
  }];
}

def LiftVariablesPass : Halftone_BorderPass<"lift-variables", "cast"> {
  let summary = "Turns state into arguments and results";
  let description = [{
    Requires: stage cast.
    Ensures: no `read` and no `assign`. After the feeds, @main has an argument with `halftone.variable = @v` for each
    variable whose value on entry is used, in the order of first use; after the fetches, a result with
    `halftone.variable = @v` for each variable that is assigned, in the order of first assignment. A `read` gives the
    latest value assigned before it; an `assign` in a region of `when` is a result of the `when`, for which the other
    region yields the value from before. A variable that a loop assigns is a carry of the loop: its init is the value from before, and its
    result the latest value. In a function with a `gradient`, a float that a `read` gives behind an `assign` is a `stop_gradient` of the assigned value, with
    `variable = @v`: a leaf, as the argument is. `gradient ... of [@v]` differentiates at the leaves of @v that its scalar depends
    on, and adds their derivatives up (for `update = overwrite`, takes the largest); a leaf in a region of a branch or loop is out of
    reach of a gradient outside of it, which is an error. The symbols stay.
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
    Requires: lift-variables; no common subexpressions merged yet, so that each use of a variable still has its own cast
    and contributes to the gradient in the variable's dtype.
    Ensures: no `gradient` and no `stop_gradient`. Only ops between the values and the scalar are differentiated; what
    does not depend on a value has zeros. Cotangents of a value used several times are added in its dtype; for a
    variable with `update = overwrite` the largest is taken. Ops of the backward pass have the location of their forward
    op, marked `fused<"gradient">`. Gradients of gradients work. Forward ops with one number of `halftone.rematerialize` are written again
    before the first derivative that reads one of their values: from variables as they are, from all else behind `hold`; the attribute is gone. A scan of 64 steps or more among them, which no
    loop is around, is cut into pieces first, a scan of scans, of which each is written again by itself. An op on the way that has no derivative is an error that
    names it, its layer and the gradient.
    The derivative of a scan is a scan in the other direction. Its carries are the cotangents of the carries, and for each capture the sum
    of its cotangents from the step that ran last to the first, in f32 at least. The values of the forward body that it reads are further
    stacks of the forward scan, but for slices of the xs and what at most 4 cheap elementwise ops make again. The derivative of a `when`
    is a `when` on the same condition; results of contractions, convolutions, attention and loops become further results of the forward one, and
    all else is computed again. A gradient in the body of a loop has its way in the body: from values there, or from captures.
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
  let summary = "Joins the collectives of many values into few, in the order in which the values are ready";
  let description = [{
    Requires: differentiate.
    Ensures: collectives of one kind whose operands are made one after another, of which none waits for another, are one, up
    to `bucket-bytes`. Each collective has an `order`; it counts from 0, and a collective waits only for those of a lower
    order. The result depends on dtypes, kinds, shapes of the operands and the order of the program alone, so that processes
    whose batches differ in their extents, and whose updates differ behind a reduce_scatter, make the same buckets in the
    same order: an all_gather stands behind all collectives before it in the program, and any other collective that comes
    behind a reduce_scatter in the program waits for it.
    Example: the gradients of a layer's kernel and of its bias become one `all_reduce`.
  }];
  let options = [Option<"bucketBytes", "bucket-bytes", "int64_t", "1 << 20",
                        "A bucket takes no further value once it has so many bytes">];
}

def SimplifyPass : Halftone_Pass<"simplify", "pure"> {
  let summary = "Canonicalization, exact rewrites, common subexpressions, dead code";
  let description = [{
    Requires: differentiate.
    Ensures: stage pure; not a bit of any result changes. Rounding casts are kept, also those to the same dtype; equal
    casts of one value become one. Rewrites are exact, signed zeros, infinities and NaNs included (ExactRewrites.h). A
    tensor without elements is an argument or a constant, and only return, yield and reduce_all read it. A sum of slices that are padded
    with zeros, as the gradient of a value that is cut into slices, is a sum of concats: slices that overlap stand in different concats, in
    the order of the sum, or, if that makes many, one concat of the sums of each segment (ExactRewrites.h). A scatter_add to neighbouring places that are constants is such a slice.
    Of loops (LoopRewrites.h), invariant ops move in front; carries, slices and stacks that nobody needs go; a scan of at most one step
    dissolves. Ops that can compute all steps of a scan at once move in front of it or behind it (LoopLifting.h). A narrow float that no
    longer passes through a loop's memory is cast to its own dtype, with origin "loop".
    Example: `halftone.mul %x, %one` with `%one = constant dense<1.0>` becomes `%x`; `halftone.add %x, %zero` with
    `dense<0.0>` stays, since -0.0 + 0.0 is 0.0. The sum of `concat %a, %z` and `concat %z, %b` with `%z = constant dense<0.0>` becomes
    ```mlir
    %0 = halftone.concat %a, %b {axis = 0 : i64} : tensor<2xf32>, tensor<2xf32> to tensor<4xf32>
    %1 = halftone.add %0, %zero : tensor<4xf32>
    ```
  }];
}

def AttachTargetPass : Halftone_Pass<"attach-target", "any"> {
  let summary = "Writes into a module what it is compiled for";
  let description = [{
    Requires: a module in any stage.
    Ensures: `halftone.target` of the module is the name of a target, and `halftone.numerics` is "strict" if the numerics are strict,
    and absent if they are fast. Later passes read both. Options come first, then the attributes that the module has; without either it is
    compiled for this machine's CPU, in fast numerics.
    Example: `halftone-opt --halftone-attach-target="target=sm_80 numerics=strict"` gives
    ```mlir
    module attributes {halftone.numerics = "strict", halftone.target = "sm_80"} {
    }
    ```
  }];
  let options = [Option<"target", "target", "std::string", "", "A name of docs/tools.md; default: the module's target, or host">,
                 Option<"numerics", "numerics", "std::string", "", "fast or strict; default: the module's, or fast">];
}

def UpdateRowsPass : Halftone_Pass<"update-rows", "pure"> {
  let summary = "Updates the rows of a large table that a batch has looked up, and no others";
  let description = [{
    Requires: stage pure, simplified.
    Ensures: a `scatter_add` of n indices into at least 8 n rows along axis 0, and 2^20 elements of f32 or f64, which only elementwise work
    and `reduce_all`s read, is gone. The indices are sorted, and the updates of equal ones added up, in their order. Values that depend on the sums
    and on values that all rows have in common are computed for at most n rows, and for one that stands for all rows without an index. A
    table from which it is subtracted gets new rows, and the others stay as they are. That they do depends on values such as a learning
    rate, so a `when` asks whether the row that stands for them has +0: if a rate is infinite, all rows are computed. So are new values
    that depend on a table in another way, with the sums looked up at their places. A variable in the role of a slot to which squares are added is
    taken to have no negative element and no NaN, as a sum of squares. All bits are kept, but for the order of `reduce_all sum_of_squares`;
    in strict numerics the `scatter_add` stays for it.
    Example:
    ```mlir
    %g = halftone.scatter_add %ids, %u {axis = 0 : i64} : (tensor<32xi32>, tensor<32x64xf32>) -> tensor<100000x64xf32>
    %r = halftone.broadcast %rate {axes = array<i64>} : tensor<f32> to tensor<100000x64xf32>
    %s = halftone.mul %g, %r : tensor<100000x64xf32>
    %new = halftone.sub %table, %s : tensor<100000x64xf32>
    ```
    becomes, with 33 rows, of which the last has no index,
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
  let options = [Option<"strict", "strict", "bool", "false", "Sums of squares keep their order; also if the module is strict">];
}

def NormalizePass : Halftone_Pass<"normalize", "pure"> {
  let summary = "Brings ops into the shapes that kernels can hold";
  let description = [{
    Requires: stage pure, simplified.
    Ensures: no `reduce_all`; every `reduce` is over trailing axes or keeps the innermost one, and is over at least one; `arg_reduce` is over
    the last axis; contractions read transposed operands and operands with broadcast batch axes themselves, and where their result is transposed
    instead (ExactRewrites.h), elementwise work on it stands before the transpose; reshapes stand before elementwise work on values in
    memory, after that on computed ones; every `scatter_add` gives f32 or a wider type; a `convolution` is a `contract` of a `window`; a `concat`
    has at most 8 operands, so that a kernel's work for an element does not grow with the length of a list;
    `attention` is left where the target has a kernel for it (Blocking::attentionTile), else two contractions with the softmax of its scores
    between them.
    Carries to which the steps of a scan only add contractions and sums are one contraction or sum behind it (LoopSums.h).
    Meaning is kept to the bit, but for the order of sums that are split, of those over the steps of scans, and of those of a convolution's
    gradient by its kernel.
    Example: `reduce sum %0 {axes = array<i64: 0, 2>} : tensor<8x4x5xf32> -> tensor<4xf32>` becomes
    ```mlir
    %1 = halftone.reduce sum %0 {axes = array<i64: 2>} : tensor<8x4x5xf32> -> tensor<8x4xf32>
    %2 = halftone.reduce sum %1 {axes = array<i64: 0>} : tensor<8x4xf32> -> tensor<4xf32>
    ```
  }];
  let options = [Option<"target", "target", "std::string", "", "The target whose kernels ops become; default: the module's, or host">,
                 Option<"strict", "strict", "bool", "false", "Every sum of a convolution or over steps keeps its order; also if the module is strict">];
}

def ChooseTemplatesPass : Halftone_Pass<"choose-templates", "pure"> {
  let summary = "Settles blockings of contractions, layouts of weights and long sums in parts";
  let description = [{
    Requires: stage pure, after normalize.
    Ensures: every `contract` has a `tile`, the rows and columns of its blocks; a right operand of a contraction that is a weight
    which @main only reads is packed (`pack`) where the target's matmul reads it so (Lowerings::weightPanels). An operand whose
    contracted axes are not neighbours in the order of the other operand's is transposed where the target asks for it (Lowerings::joinsDepth).
    If a product of floats has few tiles
    and long sums, its contraction makes parts of the sums, one for each index of a leading batch axis, and a `reduce` adds the parts up
    (Blocking::depthParts). A gradient of attention with few heads of keys and many scores gives pieces of its gradients by keys and values,
    which a `reduce` adds up (SplitAttention.h). All else keeps its bits.
    Example: `contract %x, %w` of 8 x 6 by 6 x 4 gets `tile = array<i64: 8, 64>`. For `sm_80`, `contract %x, %w` of 8 x 1024 by 1024 x 4 becomes
    ```mlir
    %a = halftone.reshape %x : tensor<8x1024xf32> to tensor<8x4x256xf32>
    %b = halftone.reshape %w : tensor<1024x4xf32> to tensor<4x256x4xf32>
    %p = halftone.contract %a, %b {lhs_batch = array<i64: 1>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>,
        tile = array<i64: 32, 32>} : (tensor<8x4x256xf32>, tensor<4x256x4xf32>) -> tensor<4x8x4xf32>
    %0 = halftone.reduce sum %p {axes = array<i64: 0>} : tensor<4x8x4xf32> -> tensor<8x4xf32>
    ```
  }];
  let options = [Option<"target", "target", "std::string", "", "The target that weights are packed and sums are cut for; default: the module's, or Target::reference">,
                 Option<"strict", "strict", "bool", "false", "Nothing is packed, and all sums stay whole; also if the module is strict">];
}

def HoistShadowsPass : Halftone_BorderPass<"hoist-shadows", "pure"> {
  let summary = "Moves functions of one variable from the variable's readers to its writers";
  let description = [{
    Requires: stage pure, after choose-templates.
    Ensures: what casts a weight to a narrower dtype (through transposes and reshapes too) or packs it, and is read by other ops is a `shadow`; its
    readers read an argument of @main with `halftone.shadow`, through a reshape of their own if they want another shape. Functions that differ in the `origin` or `kind` of a
    cast alone are one. Where the weight has a new value, the function of that is made
    beside it, under the same conditions, as a result with `halftone.shadow`; where the new value is another weight's old one, it is that weight's shadow. Not a bit changes.
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
  let summary = "Rounds each narrow float on which a decision depends where it is made";
  let description = [{
    Requires: stage pure, after choose-templates.
    Ensures: a module of strict numerics stays as it is, since every op rounds. In others a value that decides is the value that its other readers see. Kernels keep narrow floats in f32 and store them narrow, so without
    this pass `is_finite` could call a gradient finite that its update reads as inf. Each value that `valuesToRound` (dialect/Decisions.h) finds goes
    through a rounding self-cast with the origin "decision", and all its readers read that.
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

def FormKernelsPass : Halftone_BorderPass<"form-kernels", "pure"> {
  let summary = "Gathers loose ops into kernels and launches";
  let description = [{
    Requires: stage pure, after choose-templates.
    Ensures: the bodies of @main and of `when` are `launch`, `when`, `reshape` and `constant`, and no `hold`; each kernel is of the kind that its op
    says (docs/kernels.md, "What a kernel may hold"). Cheap chains of values in memory are copied into every kernel that reads them (at most 2 loads
    and 2 transcendentals); elementwise work joins the kernels of its producers; reductions over leading or all axes of a
    kernel's result are split into a `partial_reduce` there and a `reduce` that finishes it; kernels that give scalars alone become
    few. At last kernels make values of others again where that takes less memory. At most 1024 ops are home ops of one kernel. Nothing moves into or
    out of `when` but constants, broadcasts and rounding casts that widen. In strict numerics each compute op is a kernel.
    Example: `contract`, `add` of a broadcast bias and `maximum` with zero become one kernel of kind `matmul`.
  }];
  let options = [Option<"target", "target", "std::string", "", "Blocks are cut for this target; default: the module's, or host">,
                 Option<"strict", "strict", "bool", "false", "One op, one kernel: only constants, iota and broadcasts are copied into it; also if the module is strict">];
}

def RepeatResultsPass : Halftone_Pass<"repeat-results", "kernel"> {
  let summary = "Lets a kernel store a small result in each place that keeps it";
  let description = [{
    Requires: form-kernels.
    Ensures: a value of at most 4096 elements that a loop, row, finish or reduction loop makes in @main, and that several results of @main name, is
    a result of the launch for each of them. If the value is the new one of a variable whose old value is read later, and may
    lie in its place, the launch gives the old value too, and the later readers read that. So assign-slots copies neither: on a GPU each copy
    costs a launch. A kernel that several launches share is copied for one that gives more.
    Example: a metric's total, which is fetched, is two results of the kernel that adds to it: one lies in the variable, one in the fetch.
  }];
}

def OutlineKernelsPass : Halftone_Pass<"outline-kernels", "kernel"> {
  let summary = "Names kernels by their text, once each";
  let description = [{
    Requires: form-kernels.
    Ensures: stage kernel: each kernel is called `<kind>_<16 hex digits of the hash of its text without name and locations>`; no two kernels have the same
    text; kernels without a launch are gone. They stand before @main in the order of their first launch.
    Example: `@loop_0` and `@loop_1`, both `neg` of tensor<8xf32>, become one `@loop_<hash>`.
  }];
}

def OrderLaunchesPass : Halftone_Pass<"order-launches", "kernel"> {
  let summary = "Puts the launches of each region into their final order";
  let description = [{
    Requires: stage kernel.
    Ensures: the order keeps all dependencies; what reads the old value of a variable stands before what makes
    its new value, wherever the dependencies allow it, so that the new value can take the old one's place; a launch that is the last
    to read large values, and makes less, comes as soon as it can, with small launches that it waits for; otherwise
    the order of the program is kept.
    Example: a launch that reads %w after the launch whose result is returned for `halftone.variable = @w` moves before it.
  }];
}

def MergeLaunchesPass : Halftone_Pass<"merge-launches", "kernel"> {
  let summary = "Puts launches of the same code next to each other";
  let description = [{
    Requires: order-launches.
    Ensures: launches whose kernels differ in extents alone, and that do not wait for one another, stand together where
    that makes the values alive at once no larger; the order keeps all that order-launches asked for. assign-slots
    makes neighbours of one code one launch.
    Example: the updates of all parameters stand together in the `when` around them.
  }];
}

def PlaceCollectivesPass : Halftone_Pass<"place-collectives", "kernel"> {
  let summary = "Lets values travel between processes while launches that do not need them run";
  let description = [{
    Requires: merge-launches; each collective has an `order`.
    Ensures: in @main, each collective stands as early as its operands and the collectives of lower order allow. Ops that
    wait for the collective of order i, and for none of a higher order, stand behind all ops that wait only for lower
    ones. Otherwise the order is kept. Without collectives nothing changes.
    Example: the update of the last layer's weights, which waits for the sum of their gradients, moves behind the backward
    pass of the first layer.
  }];
}

def VerifyStagePass : Halftone_Pass<"verify-stage", "any"> {
  let summary = "Checks that a module keeps the contract of a stage";
  let description = [{
    Requires: a module that MLIR's verifier accepts.
    Ensures: nothing changes; where the module holds what its stage forbids, or lacks what it promises, each finding is an
    error. docs/architecture.md has the table of stages.
    Example: `halftone-opt --halftone-verify-stage=stage=pure` on a module with a `read` says
    `'halftone.read' op is not legal in stage pure: ...`.
  }];
  let options = [
    Option<"stage", "stage", "::halftone::compiler::Stage", "::halftone::compiler::Stage::graph",
           "The stage whose contract is checked: graph, cast, pure or kernel",
           [{::llvm::cl::values(
               clEnumValN(::halftone::compiler::Stage::graph, "graph", "layers, state, gradients"),
               clEnumValN(::halftone::compiler::Stage::cast, "cast", "no layers, all casts explicit"),
               clEnumValN(::halftone::compiler::Stage::pure, "pure", "state is values, gradients resolved"),
               clEnumValN(::halftone::compiler::Stage::kernel, "kernel", "launches of kernels"))}]>
  ];
}

def LowerToLinalgPass : Halftone_BorderPass<"lower-to-linalg", "kernel"> {
  let summary = "Shows the linalg form of each kernel: for tests and tools, not part of the pipeline of a module";
  let description = [{
    Requires: stage kernel.
    Ensures: each `halftone.kernel` is replaced by a module of its name that holds its linalg form (docs/kernel-form.md), with what
    belongs to the launch as attributes: `halftone.extents`, `halftone.grid`, `halftone.scratch`. Everything else is erased.
    Example:
    ```mlir
    module @loop_0 attributes {halftone.extents = array<i64: 8, 1, 8>, halftone.grid = 1 : i64, halftone.scratch = 0 : i64} {
      func.func @kernel(%arg0: index, %arg1: index, %arg2: index, %arg3: tensor<?xf32>) -> tensor<?xf32> ...
    }
    ```
  }];
  let options = [
    Option<"strict", "strict", "bool", "false", "Every op rounds to its dtype; also if the module is strict">,
    Option<"target", "target", "std::string", "", "The target that the launch is for; default: the module's, or Target::reference">
  ];
}

#endif // HALFTONE_PASSES
