// The innermost loop of a matmul: sums of some rows and some vectors of columns, in registers along K.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include "compiler/targets/cpu/matmul/Products.h"
#include <optional>

namespace halftone::compiler {

/// An index of K, within a part of K; the other fields are those of MatmulIndex.
struct MatmulStep {
  Emitted k;
  int64_t inWord = 0;
  std::optional<Emitted> sameLookups{}; // within the part too
};

/// How products are added up.
struct SumRule {
  const ProductRow *product;
  bool fuses;          // products and sums may be one instruction
  bool ordered;        // each sum is made in the order of K
  bool widens = false; // products of widened numbers
};

/// Adds products to rows x vectors of sums.
class MatmulSums {
public:
  using Loop = llvm::function_ref<Values(Emitted begin, Emitted end, Emitted step, llvm::ArrayRef<Emitted> carried,
                                         llvm::function_ref<Values(Emitted, const Values &)> body)>;
  MatmulSums(CodeBuilder &code, const SumRule &rule, mlir::VectorType lanes) : code(code), rule(rule), lanes(lanes) {}

  /// A's rows that are multiplied: the element of row `row` at index `k` of K is at first + row * rowPitch + k * depthPitch.
  struct Rows {
    Emitted first, rowPitch, depthPitch;
  };
  /// The sums `begin`, row by row, and the products of `rows` with `count` indices of B's vectors. `loop` makes the loops.
  Values multiply(const Values &begin, const Rows &rows, Emitted count,
                  const std::function<Values(const MatmulStep &)> &b, Loop loop) const;
  /// `sum` + x * y of packed elements.
  Emitted multiplyAdd(Emitted x, Emitted y, Emitted sum) const;

  int64_t vectors = 1; // of a row
  /// Neighbours along K that `b` reads from one word, and whose places in it are known where the code is written.
  int64_t depthOfWord = 1;
  /// If set: code for whether `b` may look up once for so many indices from one on.
  std::function<Emitted(Emitted k, int64_t count)> haveSameLookups;

private:
  Emitted at(Emitted pointer, Emitted offset) const { return code.address(pointer, lanes.getElementType(), offset); }

  CodeBuilder &code;
  const SumRule rule;
  const mlir::VectorType lanes;
};

/// Two multiply-adds a cycle, each of four cycles: so many sums do not wait for each other.
inline constexpr int64_t sumsInFlight = 8;

} // namespace halftone::compiler
