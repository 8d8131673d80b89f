// The interpreter: a slow, exact reference implementation of every op, against which compiled code is compared.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "runtime/base/Status.h"
#include <map>
#include <string>
#include <vector>

namespace halftone::dialect {

/// The elements of one tensor, row-major. Floats are doubles that hold values representable in the type; integers and
/// bools are int64 (ui64 by its bits).
///
/// In interval mode element i of a float tensor lies in [low[i], high[i]]. If both bounds are NaN, the element is NaN;
/// if one is, nothing is known about the element. An integer or bool lies in [integers[i], upper[i]], or is integers[i]
/// if `upper` is empty. Outside interval mode low and high are equal and `upper` is empty.
struct TensorData {
  mlir::RankedTensorType type;
  std::vector<double> low, high;
  std::vector<int64_t> integers, upper;

  bool isFloat() const;
  int64_t size() const { return type.getNumElements(); }
  /// Returns true if element `index` of `actual`, which has the same type and no intervals, lies in the interval of
  /// that element. Zeros of either sign are equal.
  bool contains(const TensorData &actual, int64_t index) const;
  /// Converts from and to raw bytes as the runtime stores them, row-major or as a packed type specifies (bool is one
  /// byte).
  static TensorData fromBytes(mlir::RankedTensorType type, const void *bytes);
  std::string toBytes() const; // the raw bytes of `low` or `integers`
};

struct InterpreterOptions {
  /// Widens each op's result by the maximum effect of its declared rounding and summation order, so that every legal
  /// compiled result lies inside. A narrow float may stay in f32 until a rounding cast or the end of a kernel, a
  /// product may be fused into a sum, transcendentals may err by 4 ulp of f32, and sums may be in any order.
  bool intervals = false;
  /// With intervals: the code was compiled strictly, so each op rounds to its dtype and no product is fused. The errors
  /// of transcendentals and the order of sums remain.
  bool strict = false;
};

/// Values of variables by symbol name.
using VariableValues = std::map<std::string, TensorData>;

/// Runs @main of a module in a stage from graph to kernel: `feeds` are in the order of the feed arguments; fetches are
/// returned in order, and `variables` is updated (by `assign`, or by the results tied to variables). Nothing changes on
/// error. `gradient` is not supported: lower it first.
StatusOr<std::vector<TensorData>> interpret(mlir::ModuleOp module, const std::vector<TensorData> &feeds,
                                            VariableValues &variables, const InterpreterOptions &options = {});

/// Runs one kernel on its operands, as `halftone-run compare` does launch by launch.
StatusOr<std::vector<TensorData>> interpretKernel(KernelOp kernel, const std::vector<TensorData> &operands,
                                                  const InterpreterOptions &options = {});

} // namespace halftone::dialect
