// The innermost loop of a matmul, over K, with the sums of a few rows and vectors of columns in registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include "compiler/targets/cpu/matmul/Products.h"
#include <optional>

namespace halftone::compiler {

/// An index of K, relative to the slice of K; the other fields are those of MatmulIndex.
struct MatmulStep {
  Emitted k;
  int64_t inWord = 0;
  std::optional<Emitted> sameLookups{}; // also relative to the slice
};

/// How products are accumulated.
struct SumRule {
  const ProductRow *product;
  bool fuses;          // a product and an addition may be one instruction
  bool ordered;        // each sum is accumulated in the order of K
  bool widens = false; // multiplies widened members of pairs
};

/// Accumulates products into the sums of a few rows and vectors of columns.
class MatmulSums {
public:
  using Loop = llvm::function_ref<Values(Emitted begin, Emitted end, Emitted step, llvm::ArrayRef<Emitted> carried,
                                         llvm::function_ref<Values(Emitted, const Values &)> body)>;
  MatmulSums(CodeBuilder &code, const SumRule &rule, mlir::VectorType lanes) : code(code), rule(rule), lanes(lanes) {}

  /// The rows of A: the element of row `row` at index `k` of K is at offset row * rowPitch + k * depthPitch from
  /// `first`.
  struct Rows {
    Emitted first, rowPitch, depthPitch;
  };
  /// Returns the sums `begin`, row by row, plus the products of `rows` and B's vectors over `count` indices of K.
  /// `loop` emits the loops.
  Values multiply(const Values &begin, const Rows &rows, Emitted count,
                  const std::function<Values(const MatmulStep &)> &b, Loop loop) const;
  /// `sum` + x * y of packed elements.
  Emitted multiplyAdd(Emitted x, Emitted y, Emitted sum) const;

  int64_t vectors = 1; // per row
  /// The number of adjacent indices of K that `b` reads from one word, at positions that are known at compile time.
  int64_t depthOfWord = 1;
  /// If set: emits whether the `count` indices of K from `k` on may share the lookups of the first one.
  std::function<Emitted(Emitted k, int64_t count)> haveSameLookups;

private:
  Emitted at(Emitted pointer, Emitted offset) const { return code.address(pointer, lanes.getElementType(), offset); }

  CodeBuilder &code;
  const SumRule rule;
  const mlir::VectorType lanes;
};

/// The number of independent sums that hides the latency of multiply-adds: two per cycle, four cycles each.
inline constexpr int64_t sumsInFlight = 8;

} // namespace halftone::compiler
