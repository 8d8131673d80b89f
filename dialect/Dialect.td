// The halftone dialect.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_DIALECT
#define HALFTONE_DIALECT

include "mlir/IR/OpBase.td"

def Halftone_Dialect : Dialect {
  let name = "halftone";
  let cppNamespace = "::halftone::dialect";
  let summary = "Layer graphs with Keras dtype policies, from the traced graph to kernels and launches";
  let description = [{
    Tensors are ranked and have static shapes; a scalar has rank 0. Signed integers are signless (`i8`), unsigned
    integers are `ui8`, booleans `i1`. float8 is a storage type: only `cast`, `contract` and shape ops take it.
    The table lists all discardable attributes named `halftone.*`. The verifier rejects any other name, op or value.

    | attribute | attached to | value |
    | --- | --- | --- |
    | `halftone.stage` | module | the stage of the module: "graph", "cast", "pure" or "kernel"; the language server checks its contract, and passes that leave the stage drop the attribute |
    | `halftone.target` | module | the name of the target; `halftone-attach-target` sets it, later passes read it |
    | `halftone.layers` | module | from stage cast on: layer path -> class, policy and rule of the layer |
    | `halftone.rematerialize` | op | from stage cast until differentiate: ops with the same number belong to one layer, which the backward pass recomputes |
    | `halftone.vanishes` | contract | unit: a loop stacked the right operand, whose elements may become subnormal over the steps, as cotangents do; choose-layouts sets it |
    | `halftone.extents`, `halftone.grid`, `halftone.scratch` | module of a kernel | of a launch: the launch arguments, the number of blocks, the bytes of scratch per thread |
    | `halftone.kind`, `halftone.method` | function of a kernel | the form of the kernel; the method of its code (for reports) |
    | `halftone.outer`, `halftone.reduced`, `halftone.indices` | function of a kernel | the number of outer dims; of reduced or scanned dims after them; of dims of the indices of a scatter |
    | `halftone.lookup_arguments` | function of a kernel | the number of lookup arguments |
    | `halftone.roles` | function of a kernel | the numbers of batch, M, N and K dims of a matmul |
    | `halftone.carries` | function of a kernel | of a recurrence: for each carry the positions of its operand and of its result |
    | `halftone.schedule` | function of a kernel | how the target computes the kernel, an attribute of the target's dialect |
    | `halftone.numerics` | module, function of a kernel | the guarantee for results: "fast" (the default) or "strict", where every op rounds |
    | `halftone.reverse`, `halftone.causal`, `halftone.short_indices` | function of a kernel | unit: a cumulative sum from the last index; causal attention; indices and offsets fit into 31 bits |
    | `halftone.name` | argument and result of @main | the name of the feed or fetch |
    | `halftone.variable`, `halftone.shadow` | argument and result of @main | the symbol of the variable (from stage pure on) or of the shadow (from stage kernel on) that it represents |
    | `halftone.panels` | argument and result of a kernel's function | the layout of a packed matrix |
    | `halftone.window` | argument of a kernel's function | the steps of a window: the operand is an image, read as its im2col matrix |
    | `halftone.partial` | result of a kernel's function | the combiner of a partial reduction; each block computes a partial result |
    | `halftone.combine`, `halftone.dims` | linalg.generic | the combiners of its results; the dim of the kernel for each loop |
    | `halftone.dims` | tensor.extract_slice | the dims of the kernel for its source |
    | `halftone.interleaved` | scf.for | unit: the iterations of the loop are interleaved |
    | `halftone.bound` | arith.cmpi, arith.maxsi, arith.minsi in a generic's body | unit: the op keeps the index of a window tap inside the image |
    | `halftone.keeps` | arith.select in a generic's body | the side of the select that keeps an operand's old element, and the position of the operand; the other side is new |

    docs/kernel-form.md describes the attributes of kernels. The bytecode records the version of the dialect
    (Bytecode.cpp).
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Checks that a verified module satisfies the contract of a stage; emits an error for each violation.
    using StageCheck = ::std::function<::llvm::LogicalResult(::mlir::Operation *module, ::llvm::StringRef stage)>;
    /// Sets the check that the verifier runs on each module with a `halftone.stage` attribute. Other modules are not
    /// checked, since passes leave a module between stages.
    void setStageCheck(StageCheck check) { stageCheck = ::std::move(check); }

  private:
    ::llvm::LogicalResult verifyDeclaredStage(::mlir::Operation *module, ::mlir::Attribute stage) const;
    StageCheck stageCheck;

  public:
  }];
}

class Halftone_Op<string mnemonic, list<Trait> traits = []> : Op<Halftone_Dialect, mnemonic, traits>;

#endif // HALFTONE_DIALECT
