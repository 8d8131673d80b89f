// The catalogue of passes, in the order of the stock pipeline (Pipelines.cpp has the reasons for that order).
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_PASSES
#define HALFTONE_PASSES

include "mlir/Pass/PassBase.td"

class Halftone_Pass<string flag> : Pass<"halftone-" # flag, "::mlir::ModuleOp"> {
  let dependentDialects = ["::halftone::dialect::HalftoneDialect"];
}

def InsertCastsPass : Halftone_Pass<"insert-casts"> {
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

def InlineLayersPass : Halftone_Pass<"inline-layers"> {
  let summary = "Splices the regions of layers into what surrounds them";
  let description = [{
    Requires: insert-casts; operands of `layer` have the types of its block arguments.
    Ensures: stage cast: no `layer`; every op that stood in one has the layer's path in its location, as
    `NameLoc("<path>"(...))`, the innermost layer's where they nest. The module has `halftone.layers`, a dictionary from
    path to the class, policy and rule of the layer, for reports.
    Example: `halftone.layer "net/relu" ... { ... halftone.maximum ... }` becomes
    ```mlir
    %1 = halftone.maximum %0, %zero : tensor<4xf16> loc("net/relu"("train.cpp":12:3))
    ```
  }];
}

def VerifyStagePass : Halftone_Pass<"verify-stage"> {
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

#endif // HALFTONE_PASSES
