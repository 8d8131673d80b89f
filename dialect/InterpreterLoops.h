// Bounds on carries that a scan sums in any order, for the interpreter.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/ControlFlow.h"
#include "dialect/InterpreterOps.h"

namespace halftone::dialect {

/// The carries of a scan to which each step only adds (`addedTerms`), in interval mode and if code may reorder sums.
class CarriedSums {
public:
  CarriedSums(ScanOp scan, const InterpreterOptions &options);

  using ValueOf = llvm::function_ref<const TensorData &(mlir::Value)>;
  /// Adds the terms of a step; `valueOf` gives their values.
  void add(ValueOf valueOf);
  /// Replaces the final values of these carries with bounds over all orders, including the inits.
  void finish(llvm::MutableArrayRef<std::shared_ptr<const TensorData>> lasts, ValueOf valueOf);

private:
  struct Sum {
    unsigned carry;
    llvm::SmallVector<mlir::Value> terms;
    std::vector<SumBound> bounds; // one per element of the carry
  };
  void add(Sum &sum, const TensorData &term);

  ScanOp scan;
  std::vector<Sum> sums;
};

} // namespace halftone::dialect
