// The interpreter: the meaning of every op as a slow, exact program. Compiled code is compared with it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "runtime/base/Status.h"
#include <map>
#include <string>
#include <vector>

namespace halftone::dialect {

/// Elements of one tensor, row-major. Floats are doubles holding exactly representable values of the type, integers and
/// bools int64 (ui64 by its bits).
///
/// In interval mode element i of a float tensor lies in [low[i], high[i]]. Both bounds NaN: the element is NaN. One
/// bound NaN: nothing is known about the element. An integer or bool lies in [integers[i], upper[i]], or is integers[i]
/// when `upper` is empty. Outside interval mode low and high are equal and `upper` is empty.
struct TensorData {
  mlir::RankedTensorType type;
  std::vector<double> low, high;
  std::vector<int64_t> integers, upper;

  bool isFloat() const;
  int64_t size() const { return type.getNumElements(); }
  /// Whether element `index` of `actual`, which has the same type and no intervals, lies in the interval of that
  /// element. Zeros of both signs are equal.
  bool contains(const TensorData &actual, int64_t index) const;
  /// Raw bytes as the runtime stores them, row-major or as a packed type says (bool one byte), and back.
  static TensorData fromBytes(mlir::RankedTensorType type, const void *bytes);
  std::string toBytes() const; // of `low`, of `integers`
};

struct InterpreterOptions {
  /// Each op's result is widened by the most that its declared rounding and summation order may change, so that every
  /// legal compiled result lies inside: a narrow float may stay in f32 until a rounding cast or the end of a kernel, a
  /// product may be fused into a sum, transcendentals err by 4 ulp of f32, sums come in any order.
  bool intervals = false;
  /// With intervals: the result was compiled strictly, so that each op rounds to its dtype and no product is fused. The
  /// errors of transcendentals and the order of sums remain.
  bool strict = false;
};

/// Values of variables by symbol name.
using VariableValues = std::map<std::string, TensorData>;

/// Runs @main of a module in a stage from graph to kernel: `feeds` in the order of the feed arguments; fetches come
/// back in order, and `variables` is updated (by `assign`, or by the results tied to variables). Nothing changes on
/// error. `gradient` is not run: lower it first.
StatusOr<std::vector<TensorData>> interpret(mlir::ModuleOp module, const std::vector<TensorData> &feeds,
                                            VariableValues &variables, const InterpreterOptions &options = {});

/// Runs one kernel on its operands, as `halftone-run compare` does launch by launch.
StatusOr<std::vector<TensorData>> interpretKernel(KernelOp kernel, const std::vector<TensorData> &operands,
                                                  const InterpreterOptions &options = {});

} // namespace halftone::dialect
