// Enumerations and other attributes used by the ops.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_ATTRS
#define HALFTONE_ATTRS

include "Dialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"

class Halftone_Enum<string name, string summary, list<I32EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::halftone::dialect";
}
class Halftone_EnumAttr<I32Enum e, string mnemonic> : EnumAttr<Halftone_Dialect, e, mnemonic>;

def Halftone_CastKind : Halftone_Enum<"CastKind", "why a cast stands", [
  I32EnumCase<"rounding", 0>, // part of the program's meaning: never removed
  I32EnumCase<"storage", 1>   // put in by the compiler to store a value narrower than it was computed
]>;
def Halftone_CastKindAttr : Halftone_EnumAttr<Halftone_CastKind, "cast_kind">;

def Halftone_ComparePredicate : Halftone_Enum<"ComparePredicate", "ordered comparison; ne is true on NaN", [
  I32EnumCase<"eq", 0>, I32EnumCase<"ne", 1>, I32EnumCase<"lt", 2>,
  I32EnumCase<"le", 3>, I32EnumCase<"gt", 4>, I32EnumCase<"ge", 5>
]>;
def Halftone_ComparePredicateAttr : Halftone_EnumAttr<Halftone_ComparePredicate, "predicate">;

def Halftone_ReduceKind : Halftone_Enum<"ReduceKind", "the combining function of a reduction", [
  I32EnumCase<"sum", 0>, I32EnumCase<"max", 1>, I32EnumCase<"min", 2>,
  I32EnumCase<"prod", 3>, I32EnumCase<"and_", 4, "and">, I32EnumCase<"or_", 5, "or">
]>;
def Halftone_ReduceKindAttr : Halftone_EnumAttr<Halftone_ReduceKind, "reduce_kind">;

def Halftone_ScatterKind : Halftone_Enum<"ScatterKind", "how a scatter combines an element with an update", [
  I32EnumCase<"set", 0>, // the update
  I32EnumCase<"sum", 1>, I32EnumCase<"max", 2>, I32EnumCase<"min", 3>, I32EnumCase<"prod", 4>
]>;
def Halftone_ScatterKindAttr : Halftone_EnumAttr<Halftone_ScatterKind, "scatter_kind">;

def Halftone_ReduceAllKind : Halftone_Enum<"ReduceAllKind", "what is asked of all elements of all operands", [
  I32EnumCase<"all_finite", 0>, I32EnumCase<"sum_of_squares", 1>, I32EnumCase<"max_abs", 2>
]>;
def Halftone_ReduceAllKindAttr : Halftone_EnumAttr<Halftone_ReduceAllKind, "reduce_all_kind">;

def Halftone_CollectiveKind : Halftone_Enum<"CollectiveKind", "how processes combine their values", [
  I32EnumCase<"sum", 0>, I32EnumCase<"max", 1>
]>;
def Halftone_CollectiveKindAttr : Halftone_EnumAttr<Halftone_CollectiveKind, "collective_kind">;

def Halftone_UpdateKind : Halftone_Enum<"UpdateKind", "who may write a variable", [
  I32EnumCase<"gradient", 0>,  // an optimizer, from a gradient
  I32EnumCase<"assign", 1>,    // the forward pass or the host
  I32EnumCase<"overwrite", 2>  // takes its gradient as its new value
]>;
def Halftone_UpdateKindAttr : Halftone_EnumAttr<Halftone_UpdateKind, "update">;

def Halftone_VariableRole : Halftone_Enum<"VariableRole", "what a variable is for", [
  I32EnumCase<"weight", 0>, I32EnumCase<"state", 1>, I32EnumCase<"seed", 2>, I32EnumCase<"slot", 3>,
  I32EnumCase<"iteration", 4>, I32EnumCase<"learning_rate", 5>, I32EnumCase<"loss_scale", 6>,
  I32EnumCase<"metric", 7>, I32EnumCase<"constant", 8>
]>;
def Halftone_VariableRoleAttr : Halftone_EnumAttr<Halftone_VariableRole, "role">;

def Halftone_KernelKind : Halftone_Enum<"KernelKind", "the form of a kernel", [
  I32EnumCase<"loop", 0>,           // chunks of an index space
  I32EnumCase<"reduction_loop", 1>, // chunks of the axes that a reduction keeps, of which the last is innermost
  I32EnumCase<"row", 2>,            // rows: the trailing axes whole
  I32EnumCase<"finish", 3>,         // values of several shapes, each reduced to a scalar, by one block
  I32EnumCase<"matmul", 4>,         // output tiles
  I32EnumCase<"scatter", 5>,        // ranges of the rows that indices name
  I32EnumCase<"cumulative", 6>,     // rows along an axis, whose elements add up
  I32EnumCase<"attention", 7>,      // runs of queries of a head
  I32EnumCase<"attention_grad", 8>, // heads of keys, with all queries or a part of them
  I32EnumCase<"sort", 9>,           // rows along an axis, whose elements are ordered
  I32EnumCase<"recurrence", 10>     // runs of rows of a batch, with all steps of a loop
]>;
def Halftone_KernelKindAttr : Halftone_EnumAttr<Halftone_KernelKind, "kernel_kind">;

def Halftone_PanelsAttr : AttrDef<Halftone_Dialect, "Panels",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let mnemonic = "panels";
  let summary = "How a packed matrix lies in memory: as a matmul reads its right operand";
  let description = [{
    The encoding of a matrix's type that `pack` gives; values and indices are those of the plain matrix. Axis `depth` is the one
    that a contraction sums over; call an index along it k, one along the other axis n, and their extents K and N, which are
    multiples of `group` and of `columns`, both at most 1024. The element lies at place
    `((n / columns) * (K / group) + k / group) * columns * group + (n % columns) * group + k % group`:
    panels of `columns` columns, one after the other, and in each `group` neighbours along K of a column in a row.
    With `bits = 4` each element, an i8 from -8 to 7, takes half a byte: the first half of a group's members has the low halves
    of the group's bytes, the second half has the high halves.
    Example: `tensor<784x512xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>`
  }];
  let parameters = (ins "int64_t":$depth, "int64_t":$columns, "int64_t":$group,
                        OptionalParameter<"int64_t">:$bits); // 0: whole elements
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t largest = 1024;
    /// The layout of a matrix, or null.
    static PanelsAttr of(::mlir::Type type);
    /// Where the element at (row, column) of a matrix of this shape lies, in elements or in halves of bytes, low halves first.
    int64_t offsetOf(::llvm::ArrayRef<int64_t> shape, int64_t row, int64_t column) const;
  }];
}

def Halftone_BlocksAttr : AttrDef<Halftone_Dialect, "Blocks"> {
  let mnemonic = "blocks";
  let summary = "How a kernel is cut into blocks, where that matters to meaning";
  let description = [{
    Either `rows`, of loop and row kernels with side reductions: each block has so many indices of the first axis of the
    kernel's shape whose extent is above 1, and the other axes whole. Or `tile`, of matmul kernels: each block has so many
    rows and columns of the result. Sizes are positive; a tile has at most 1024 of either.
    Examples: `#halftone.blocks<rows = 3>`, `#halftone.blocks<tile = [96, 128]>`
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$tileRows, "int64_t":$tileColumns); // 0 where not given
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static BlocksAttr ofRows(::mlir::MLIRContext *context, int64_t rows);
    static BlocksAttr ofTile(::mlir::MLIRContext *context, int64_t rows, int64_t columns);
    bool isTile() const { return getRows() == 0; }
    static constexpr int64_t largestTile = 1024;
  }];
}

#endif // HALFTONE_ATTRS
