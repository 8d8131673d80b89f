// A kernel's body as a graph of scalar values: each op result at each way it is accessed, shape ops gone.
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

/// A spatial axis of a window: the index is (places * stride + taps * dilation + start) / hole. `inside`: no tap of any
/// place leaves the image, and there are no holes.
struct WindowAxis {
  Access taps;
  int64_t stride, dilation, hole;
  bool inside;
};

/// One axis of a place in an operand: an index, or the linear index over `dims` plus number `start`; and the axis's
/// extent, a number too. `clamped`: into that extent. With `window` the dims are those of places.
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
    atHand,    // element of `value`, whose tensor the caller has
    load,      // element of kernel operand `operand` at `access`, or at the constant `element` when that is >= 0
    splat,     // a constant
    table,     // constant elements, by the linear index over `access`
    index,     // linear index over `access`, as iota's element type
    random,    // Philox word at the linear index over `access`; operands: the key's two words
    compute,   // an elementwise op
    round,     // rounded to `exact` and widened again
    reduce,    // `inputs[0]` combined over the reduced dims, `access`; `combiner`; after `inputs[1]`, if there is one
    argReduce, // index part; `combiner`; access: the reduced dims in order of the axis
    contract,  // the accumulator of the kernel's contract
    clamp,     // `inputs[0]` as i64, in [0, number `number`) if that is >= 0
    lookup, // element of kernel operand `operand` at `position`; inputs: the indices in it. Outside of a window axis: the
            // fill of `op`, a window
    sortKey, // the integer by which the sort `op` orders the element `inputs[0]`
    hit,     // `inputs[1]` where the index `inputs[0]` is the linear index over `access`, else neutral to `combiner`
    piece    // of `inputs`, in the operand's own dtype, that one in whose range the linear index over `access` lies
  };
  explicit ValueNode(Kind kind) : kind(kind) {}

  Kind kind;
  mlir::Operation *op = nullptr; // the halftone op, when there is one
  mlir::Value value;             // of atHand
  llvm::SmallVector<ValueNode *, 3> inputs;
  Access access;
  int operand = -1, element = -1, number = -1;
  llvm::SmallVector<LookupAxis, 3> position; // of lookup, row-major
  llvm::SmallVector<int> starts;             // of piece: number of the first index of each input but the first
  std::string combiner;
  mlir::Type type;           // arithmetic type: f32, f64, signless integer, i1
  mlir::Type exact;          // a narrow float type that holds the value exactly, or null
  llvm::SmallBitVector dims; // the dims that the value varies with
  int level = 0;             // reductions on the longest way here
  double cost = 0;           // of computing it again, in simple vector ops
  int order = 0;             // creation order: a topological order
};

/// How f16, bf16 and f8 values, unsigned and bool appear in bodies: f32; signless; i1.
mlir::Type arithmeticType(mlir::Type elementType);
/// The element type of a tensor of the linalg form: as stored, signless.
mlir::Type storedType(mlir::Type elementType);

/// Where a kernel's reductions take the dims they run over.
struct ReductionScope {
  Access kept;                                      // the only legal access of a reduction's result
  Access reduced;                                   // the dims it runs over, in row-major order of the reduced axes
  std::map<std::vector<int64_t>, Access> rows = {}; // of one row of several shapes: those dims by the operand's shape
};

class ValueGraph {
public:
  /// `space` is refined as accesses demand.
  ValueGraph(dialect::KernelOp kernel, IterationSpace &space, Numerics numerics)
      : kernel(kernel), space(space), numerics(numerics) {}

  /// The node of `value` at `access`; null on failure, with `refined` or a diagnostic emitted.
  ValueNode *get(mlir::Value value, llvm::ArrayRef<int> access);
  /// The node of a reduction of one value: the value that partial_reduce combines.
  std::string combinerOf(dialect::ReduceKind kind, mlir::Type elementType) const;

  ReductionScope scope;               // for reduce and arg_reduce
  Access contractAccess;              // for contract
  llvm::DenseSet<mlir::Value> atHand; // values that are nodes of this kind, at any access
  bool failed = false;                // a diagnostic was emitted
  /// Extents and starts of axes that are no dims: arguments of the kernel's code, so that equal kernels stay equal.
  llvm::SmallVector<int64_t> numbers;

  /// A node of the caller's making.
  ValueNode *make(ValueNode node);
  /// `access` in one piece for each of `extents`; null on failure, as of get().
  std::optional<llvm::SmallVector<Access>> cut(mlir::Operation *op, llvm::ArrayRef<int> access,
                                               llvm::ArrayRef<int64_t> extents);
  /// Emits a diagnostic that names the kind of the kernel; null.
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
