// A kernel's body as a graph of scalar values: one node per op result and access, without shape ops.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/forms/IterationSpace.h"
#include "compiler/kernels/Numerics.h"
#include "dialect/Dialect.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include <deque>
#include <map>

namespace halftone::compiler {

struct ValueNode;

/// A spatial axis of a window. The index in the image is (position * stride + tap * dilation + start) /
/// baseDilation. `inside`: every tap at every output position lies in the image, and there is no base dilation.
struct WindowAxis {
  Access taps;
  int64_t stride, dilation, baseDilation;
  bool inside;
};

/// One coordinate of an indexed load: a computed index, or the linear index over `dims` plus lookup argument `start`.
/// `extent` is the lookup argument with the axis's extent; `clamped` coordinates are clamped to it. With `window`,
/// `dims` are those of output positions.
struct LookupAxis {
  Access dims = {};
  ValueNode *index = nullptr;
  int extent = -1, start = -1;
  bool clamped = false;
  std::optional<WindowAxis> window = {};
};

/// One scalar value of the kernel as a function of the dims.
struct ValueNode {
  enum Kind : uint8_t {
    provided,  // element of `value`, whose tensor the caller provides
    load,      // element of kernel operand `operand` at `access`, or at the constant index `element` if that is >= 0
    splat,     // a constant
    table,     // constant elements, indexed by the linear index over `access`
    index,     // linear index over `access`, as iota's element type
    random,    // Philox word at the linear index over `access`; inputs: the two words of the key
    compute,   // an elementwise op
    round,     // rounded to `exact` and widened again
    reduce,    // `combiner` over the reduced dims, `access`, of `inputs[0]`; starts from `inputs[1]`, if given
    argReduce, // the index part, by `combiner`; access: the reduced dims in the order of the axis
    contract,  // the accumulator of the kernel's contract
    clamp,     // `inputs[0]` as i64, clamped to [0, lookup argument `argument`) if `argument` >= 0
    lookup,  // element of kernel operand `operand` at `position`; inputs: the indices in it. Outside a window axis: the
             // fill of `op`, a window
    sortKey, // the integer by which the sort `op` orders the element `inputs[0]`
    hit,     // `inputs[1]` where the index `inputs[0]` is the linear index over `access`, else neutral for `combiner`
    concat   // the input in whose range the linear index over `access` lies, in the operand's own dtype
  };
  explicit ValueNode(Kind kind) : kind(kind) {}

  Kind kind;
  mlir::Operation *op = nullptr; // the halftone op, if there is one
  mlir::Value value;             // of provided
  llvm::SmallVector<ValueNode *, 3> inputs;
  Access access;
  int operand = -1, element = -1, argument = -1;
  llvm::SmallVector<LookupAxis, 3> position; // of lookup, row-major
  llvm::SmallVector<int> starts;             // of concat: lookup arguments, the first index of each input but input 0
  std::string combiner;
  mlir::Type type;           // arithmetic type: f32, f64, signless integer, i1
  mlir::Type exact;          // a narrow float type that holds the value exactly, or null
  llvm::SmallBitVector dims; // the dims that the value varies with
  int level = 0;             // number of reductions on the longest path to this node
  double cost = 0;           // of recomputing it, in simple vector ops
  int order = 0;             // creation order: a topological order
};

/// The type of f16, bf16 and f8, unsigned and bool elements in bodies: f32; signless; i1.
mlir::Type arithmeticType(mlir::Type elementType);
/// The element type of a tensor in the linalg form: the stored type, signless.
mlir::Type storedType(mlir::Type elementType);

/// The dims over which a kernel's reductions run.
struct ReductionScope {
  Access kept;                                      // the only legal access of a reduction's result
  Access reduced;                                   // the dims it runs over, in row-major order of the reduced axes
  std::map<std::vector<int64_t>, Access> rows = {}; // of one row with several shapes: reduced dims by operand shape
};

class ValueGraph {
public:
  /// `space` is refined as accesses demand.
  ValueGraph(dialect::KernelOp kernel, IterationSpace &space, Numerics numerics)
      : kernel(kernel), space(space), numerics(numerics) {}

  /// The node of `value` at `access`; null on failure, with `refined` or a diagnostic emitted.
  ValueNode *get(mlir::Value value, llvm::ArrayRef<int> access);
  /// The combiner of a reduction of this kind over elements of this type.
  std::string combinerOf(dialect::ReduceKind kind, mlir::Type elementType) const;

  ReductionScope scope;                 // for reduce and arg_reduce
  Access contractAccess;                // for contract
  llvm::DenseSet<mlir::Value> provided; // values that become nodes of this kind, at any access
  bool failed = false;                  // a diagnostic was emitted
  /// Lookup arguments: extents and starts of axes that are not dims. They are arguments of the kernel's code, so that
  /// kernels that differ only in them share code.
  llvm::SmallVector<int64_t> lookupArguments;

  /// Adds a node that the caller describes.
  ValueNode *make(ValueNode node);
  /// Divides `access` into one part for each of `extents`; null on failure, as of get().
  std::optional<llvm::SmallVector<Access>> cut(mlir::Operation *op, llvm::ArrayRef<int> access,
                                               llvm::ArrayRef<int64_t> extents);
  /// Emits a diagnostic that names the kind of the kernel; returns null.
  ValueNode *fail(mlir::Operation *op, const llvm::Twine &message);

private:
  Access longDims(llvm::ArrayRef<int> access) const; // those of extent > 1
  Access aligned(llvm::ArrayRef<int> access, llvm::ArrayRef<int> first) const;
  ValueNode *load(mlir::BlockArgument argument, llvm::ArrayRef<int> access, int element);
  ValueNode *constant(dialect::ConstantOp op, llvm::ArrayRef<int> access);
  ValueNode *random(dialect::RandomBitsOp op, llvm::ArrayRef<int> access);
  ValueNode *broadcasted(dialect::BroadcastOp op, llvm::ArrayRef<int> access);
  ValueNode *transposed(dialect::TransposeOp op, llvm::ArrayRef<int> access);
  ValueNode *index(dialect::IotaOp op, llvm::ArrayRef<int> access);
  ValueNode *element(mlir::Value value, llvm::ArrayRef<int> access);
  ValueNode *contraction(dialect::ContractOp op, llvm::ArrayRef<int> access);
  ValueNode *reduction(mlir::Operation *op, mlir::Value x, llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int> access);
  ValueNode *elementwise(mlir::Operation *op, llvm::ArrayRef<int> access);
  ValueNode *rounded(ValueNode *node, mlir::Type narrow);

  dialect::KernelOp kernel;
  IterationSpace &space;
  Numerics numerics;
  std::deque<ValueNode> nodes;
  std::map<int, Access> loaded;                                     // operands' first accesses
  std::map<std::pair<void *, std::vector<int>>, ValueNode *> known; // by value and access
};

} // namespace halftone::compiler
