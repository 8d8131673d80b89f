// The interpreter's ops, one function per family: each evaluates one op on the values of its operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Interpreter.h"
#include "dialect/Interval.h"
#include "dialect/TypeInference.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace halftone::dialect {

/// The range and the wrapping behavior of an integer or bool element type.
struct IntFormat {
  explicit IntFormat(mlir::Type elementType);
  Int wrap(Int value) const;
  bool holds(Int value) const { return low <= value && value <= high; }
  unsigned width;
  bool isUnsigned;
  Int low, high;
};

/// Writes a tensor element by element.
class TensorWriter {
public:
  explicit TensorWriter(mlir::Type type);
  void real(int64_t index, Interval value);
  void real(int64_t index, double value) { real(index, Interval::point(value)); }
  void whole(int64_t index, IntInterval value);
  void whole(int64_t index, Int value) { whole(index, IntInterval{value, value}); }
  /// copy() sets the element to element `from` of a tensor of the same dtype; widen() widens its interval to include
  /// that value.
  void copy(int64_t index, const TensorData &x, int64_t from);
  void widen(int64_t index, const TensorData &x, int64_t from);
  TensorData take() { return std::move(data); }

private:
  TensorData data;
};

Interval realAt(const TensorData &tensor, int64_t index);
IntInterval wholeAt(const TensorData &tensor, int64_t index, const IntFormat &format);

/// The elements rounded to `type`'s float dtype, as by a store (integers and bools unchanged).
TensorData storeAs(mlir::RankedTensorType type, const TensorData &tensor);
/// The elementwise hull of both intervals.
TensorData hullOf(const TensorData &a, const TensorData &b);

using Operands = llvm::ArrayRef<const TensorData *>;

/// The value of an op with one result and without regions or state; nullopt if the interpreter has no case for the op.
std::optional<TensorData> evaluate(mlir::Operation *op, Operands operands, const InterpreterOptions &options);
/// One function per family. Each returns nullopt for ops of other families, and if there is no case for the operand
/// dtype.
std::optional<TensorData> evaluateElementwise(mlir::Operation *op, Operands operands,
                                              const InterpreterOptions &options);
std::optional<TensorData> evaluateReduction(mlir::Operation *op, Operands operands, const InterpreterOptions &options);
std::optional<TensorData> evaluateConvolution(mlir::Operation *op, Operands operands,
                                              const InterpreterOptions &options);
/// The values of both results.
std::vector<TensorData> evaluateAttention(AttentionOp op, Operands operands, const InterpreterOptions &options);
std::vector<TensorData> evaluateAttentionGrad(AttentionGradOp op, Operands operands, const InterpreterOptions &options);
/// The values and their indices.
std::vector<TensorData> evaluateSort(SortOp op, const TensorData &x);
/// Ops that move elements, and ops that create them without operands.
std::optional<TensorData> evaluateShape(mlir::Operation *op, Operands operands, const InterpreterOptions &options);
std::optional<TensorData> evaluateIndexing(mlir::Operation *op, Operands operands, const InterpreterOptions &options);
/// Elementwise functions of floats, one table row each.
std::optional<TensorData> evaluateReals(mlir::Operation *op, Operands operands, const InterpreterOptions &options);

/// The stride of each axis, in row-major elements.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape);
/// Calls `visit(linear indices)` for each point of `shape` in row-major order, one linear index per set of strides.
void forEachPoint(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<llvm::SmallVector<int64_t>> strides,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

} // namespace halftone::dialect
