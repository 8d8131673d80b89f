// The interpreter's ops, a family a function: one op on the values of its operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Interpreter.h"
#include "dialect/Interval.h"
#include "dialect/TypeInference.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace halftone::dialect {

/// The range and the wrapping of an integer or bool element type.
struct IntFormat {
  explicit IntFormat(mlir::Type elementType);
  Int wrap(Int value) const;
  bool holds(Int value) const { return low <= value && value <= high; }
  unsigned width;
  bool isUnsigned;
  Int low, high;
};

/// A tensor being written, element by element.
class TensorWriter {
public:
  explicit TensorWriter(mlir::Type type);
  void real(int64_t index, Interval value);
  void real(int64_t index, double value) { real(index, Interval::point(value)); }
  void whole(int64_t index, IntInterval value);
  void whole(int64_t index, Int value) { whole(index, IntInterval{value, value}); }
  /// copy: gives the element the value of element `from` of a tensor of the same dtype. widen: widens its interval to
  /// hold that value too.
  void copy(int64_t index, const TensorData &x, int64_t from);
  void widen(int64_t index, const TensorData &x, int64_t from);
  TensorData take() { return std::move(data); }

private:
  TensorData data;
};

Interval realAt(const TensorData &tensor, int64_t index);
IntInterval wholeAt(const TensorData &tensor, int64_t index, const IntFormat &format);

/// The elements rounded to `type`'s float dtype (integers and bools as they are), as a store does.
TensorData storeAs(mlir::RankedTensorType type, const TensorData &tensor);
/// Element by element the smallest interval that holds both.
TensorData hullOf(const TensorData &a, const TensorData &b);

using Operands = llvm::ArrayRef<const TensorData *>;

/// The value of an op of one result without regions or state; nothing if the interpreter has no case for the op.
std::optional<TensorData> evaluate(mlir::Operation *op, Operands operands, const InterpreterOptions &options);
/// Each family: nothing for ops of others, and if there is no case for the dtype of the operands.
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
/// Ops that move elements, and those that make them from nothing.
std::optional<TensorData> evaluateShape(mlir::Operation *op, Operands operands, const InterpreterOptions &options);
std::optional<TensorData> evaluateIndexing(mlir::Operation *op, Operands operands, const InterpreterOptions &options);
/// Elementwise functions of floats, a row each of a table.
std::optional<TensorData> evaluateReals(mlir::Operation *op, Operands operands, const InterpreterOptions &options);

/// The stride of each axis, in row-major elements.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape);
/// Calls `visit(linear indices)` for each point of `shape` in row-major order, one linear index per set of strides.
void forEachPoint(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<llvm::SmallVector<int64_t>> strides,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

} // namespace halftone::dialect
