// The dialect itself.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_DIALECT
#define HALFTONE_DIALECT

include "mlir/IR/OpBase.td"

def Halftone_Dialect : Dialect {
  let name = "halftone";
  let cppNamespace = "::halftone::dialect";
  let summary = "Layer graphs with Keras dtype policies, from the graph a user traced to kernels and launches";
  let description = [{
    Tensors are static and ranked; a scalar has rank 0. Signed integers are signless (`i8`), unsigned ones are `ui8`,
    booleans `i1`. float8 is a storage type: only `cast`, `contract` and shape ops take it.
    Discardable attributes named `halftone.*` are those below; the verifier refuses others, other places and other values.

    | attribute | stands on | holds |
    | --- | --- | --- |
    | `halftone.stage` | module | the stage that the module is in: "graph", "cast", "pure" or "kernel"; the language server checks its contract, and passes that leave the stage drop it |
    | `halftone.target` | module | the name of the target that the module is compiled for; `halftone-attach-target` writes it, later passes read it |
    | `halftone.layers` | module | from stage cast on: layer path -> its class, policy and rule |
    | `halftone.rematerialize` | op | in stage cast, and until differentiate: ops with one number are of one layer, which the backward pass computes again |
    | `halftone.vanishes` | contract | no value: choose-templates found that a loop stacked the right operand, as cotangents that may vanish over the steps |
    | `halftone.extents`, `halftone.grid`, `halftone.scratch` | module of a kernel | of one launch: the launch arguments, the count of blocks, the bytes of scratch of a thread |
    | `halftone.kind`, `halftone.method` | function of a kernel | the kernel's form; how its code computes (for reports) |
    | `halftone.outer`, `halftone.reduced`, `halftone.indices` | function of a kernel | how many dims are outer; how many behind them are reduced or scanned; how many dims the indices of a scatter have |
    | `halftone.lookup_arguments` | function of a kernel | how many lookup arguments the function has |
    | `halftone.roles` | function of a kernel | how many dims are batch, M, N and K of a matmul |
    | `halftone.carries` | function of a kernel | of a recurrence: for each carry the places of its operand and of its result |
    | `halftone.schedule` | function of a kernel | how the target computes the kernel: an attribute of the target's dialect |
    | `halftone.numerics` | module, function of a kernel | what results promise: "fast" (also if absent) or "strict", where every op rounds |
    | `halftone.reverse`, `halftone.causal`, `halftone.short_indices` | function of a kernel | no value: a cumulative sum from the last index on; an attention whose queries see no later key; indices and offsets fit into 31 bits |
    | `halftone.name` | argument and result of @main | the feed's or fetch's name |
    | `halftone.variable`, `halftone.shadow` | argument and result of @main | from stage pure, and from stage kernel: the symbol of the variable or shadow that it stands for |
    | `halftone.panels` | argument and result of a kernel's function | the layout of a packed matrix |
    | `halftone.window` | argument of a kernel's function | the steps of a window: the operand is an image, read as the matrix of the window's elements |
    | `halftone.partial` | result of a kernel's function | the combiner of a side reduction; each block gives a piece of the result |
    | `halftone.combine`, `halftone.dims` | linalg.generic | the combiners of its results; the kernel's dim of each loop |
    | `halftone.dims` | tensor.extract_slice | the kernel's dims of its source |
    | `halftone.interleaved` | scf.for | no value: the loop's steps are interleaved |
    | `halftone.bound` | arith.cmpi, arith.maxsi, arith.minsi in a generic's body | no value: the op keeps the index of a window's tap in the image |
    | `halftone.keeps` | arith.select in a generic's body | whether the true value is an operand's old element, and the operand's place; the other value is new |

    Those of kernels: docs/kernel-form.md. The bytecode records the version of the dialect (Bytecode.cpp).
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Whether a verified module keeps the contract of a stage; emits errors where it does not.
    using StageCheck = ::std::function<::llvm::LogicalResult(::mlir::Operation *module, ::llvm::StringRef stage)>;
    /// From now on the verifier asks `check` about each module that declares its stage (`halftone.stage`). Nobody is
    /// asked otherwise: passes run while a module is between stages.
    void setStageCheck(StageCheck check) { stageCheck = ::std::move(check); }

  private:
    ::llvm::LogicalResult verifyDeclaredStage(::mlir::Operation *module, ::mlir::Attribute stage) const;
    StageCheck stageCheck;

  public:
  }];
}

class Halftone_Op<string mnemonic, list<Trait> traits = []> : Op<Halftone_Dialect, mnemonic, traits>;

#endif // HALFTONE_DIALECT
