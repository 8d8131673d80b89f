// The interpreter's bounds of the carries that a scan adds up, in any order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/ControlFlow.h"
#include "dialect/InterpreterOps.h"

namespace halftone::dialect {

/// With intervals of code that may change the order of sums: the carries of a scan to which each step only adds (`addedTerms`).
class CarriedSums {
public:
  CarriedSums(ScanOp scan, const InterpreterOptions &options);

  using ValueOf = llvm::function_ref<const TensorData &(mlir::Value)>;
  /// Takes in the terms of a step, of which `valueOf` gives the values.
  void add(ValueOf valueOf);
  /// Replaces the last values of these carries by bounds of any order, which begins with the inits.
  void finish(llvm::MutableArrayRef<std::shared_ptr<const TensorData>> lasts, ValueOf valueOf);

private:
  struct Sum {
    unsigned carry;
    llvm::SmallVector<mlir::Value> terms;
    std::vector<SumBound> bounds; // of each element
  };
  void add(Sum &sum, const TensorData &term);

  ScanOp scan;
  std::vector<Sum> sums;
};

} // namespace halftone::dialect
