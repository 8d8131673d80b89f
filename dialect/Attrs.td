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

def Halftone_CastKind : Halftone_Enum<"CastKind", "the reason for a cast", [
  I32EnumCase<"rounding", 0>, // part of the program's meaning: never removed
  I32EnumCase<"storage", 1>   // inserted by the compiler to store a value in a narrower type than it was computed in
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

def Halftone_ReduceAllKind : Halftone_Enum<"ReduceAllKind", "a reduction over all elements of all operands", [
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
  I32EnumCase<"overwrite", 2>  // the gradient is the new value
]>;
def Halftone_UpdateKindAttr : Halftone_EnumAttr<Halftone_UpdateKind, "update">;

def Halftone_VariableRole : Halftone_Enum<"VariableRole", "the role of a variable", [
  I32EnumCase<"weight", 0>, I32EnumCase<"state", 1>, I32EnumCase<"seed", 2>, I32EnumCase<"slot", 3>,
  I32EnumCase<"iteration", 4>, I32EnumCase<"learning_rate", 5>, I32EnumCase<"loss_scale", 6>,
  I32EnumCase<"metric", 7>, I32EnumCase<"constant", 8>
]>;
def Halftone_VariableRoleAttr : Halftone_EnumAttr<Halftone_VariableRole, "role">;

def Halftone_KernelKind : Halftone_Enum<"KernelKind", "the form of a kernel", [
  I32EnumCase<"loop", 0>,           // blocks of an index space
  I32EnumCase<"reduction_loop", 1>, // blocks of the kept axes of a reduction, of which the last is innermost
  I32EnumCase<"row", 2>,            // rows, with whole trailing axes
  I32EnumCase<"finish", 3>,         // values of several shapes, each reduced to a scalar, by one block
  I32EnumCase<"matmul", 4>,         // output tiles
  I32EnumCase<"scatter", 5>,        // ranges of indexed rows
  I32EnumCase<"cumulative", 6>,     // cumulative sums along an axis
  I32EnumCase<"attention", 7>,      // ranges of the queries of a head
  I32EnumCase<"attention_grad", 8>, // heads of keys, with all or some of the queries
  I32EnumCase<"sort", 9>,           // rows along an axis, whose elements are sorted
  I32EnumCase<"recurrence", 10>     // ranges of rows of a batch, with all steps of a loop
]>;
def Halftone_KernelKindAttr : Halftone_EnumAttr<Halftone_KernelKind, "kernel_kind">;

def Halftone_PanelsAttr : AttrDef<Halftone_Dialect, "Panels",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let mnemonic = "panels";
  let summary = "The layout of a packed matrix, the right operand of a matmul";
  let description = [{
    The encoding of the result type of `pack`; values and indices are those of the plain matrix. `depth` is the axis
    that a contraction sums over. Let k be an index along it, n an index along the other axis, and K and N their
    extents, which are multiples of `group` and of `columns`, both at most 1024. The element is at offset
    `((n / columns) * (K / group) + k / group) * columns * group + (n % columns) * group + k % group`:
    consecutive panels of `columns` columns, in which `group` consecutive elements of a column along K are adjacent.
    With `bits = 4` two elements, i8 from -8 to 7, are packed into each byte: the first half of a group takes the low
    nibbles of its bytes, the second half the high nibbles.
    Example: `tensor<784x512xbf16, #halftone.panels<depth = 0, columns = 16, group = 2>>`
  }];
  let parameters = (ins "int64_t":$depth, "int64_t":$columns, "int64_t":$group,
                        OptionalParameter<"int64_t">:$bits); // 0: not packed into bits
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t largest = 1024;
    /// The layout of a matrix, or null.
    static PanelsAttr of(::mlir::Type type);
    /// The offset of the element at (row, column) of a matrix of this shape, in elements, or in nibbles, low nibble
    /// first.
    int64_t offsetOf(::llvm::ArrayRef<int64_t> shape, int64_t row, int64_t column) const;
  }];
}

def Halftone_BlocksAttr : AttrDef<Halftone_Dialect, "Blocks"> {
  let mnemonic = "blocks";
  let summary = "The partition of a kernel into blocks, if its results depend on it";
  let description = [{
    Either `rows`, for loop and row kernels with partial reductions: the number of indices per block along the first
    axis of the kernel's shape with an extent above 1; other axes are not partitioned. Or `tile`, for matmul kernels:
    the numbers of rows and columns of the result per block. Sizes are positive; those of a tile are at most 1024.
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
