// The base of the code of matmul cores that keep rows of sums.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include <string_view>

namespace halftone::compiler {

/// A builder for the function of a core, which inserts into its entry block. Rows of sums are `vectors` vectors of
/// `lanes` lanes of the type `accumulator`; they are `sumsPitch` elements apart, and row 0 is at `firstSums`.
class SumsCode : public CodeBuilder {
protected:
  SumsCode(mlir::ModuleOp module, std::string_view accumulator, int64_t lanes, int64_t vectors);

  /// Creates the function and returns its arguments.
  Values start(const std::string &symbol, mlir::TypeRange arguments, mlir::TypeRange results, bool hasManyPointers);
  Emitted at(Emitted from, Emitted offset) { return address(from, element, offset); }
  Emitted sumsOf(Emitted row) { return at(firstSums, row * sumsPitch); }
  /// The address of a vector of the `line`-th row after the one at `first`.
  Emitted addressOf(Emitted first, int64_t line, int64_t vector) {
    return at(first, sumsPitch * line + vector * lanes.getDimSize(0));
  }
  /// All vectors of `count` rows.
  Values loadRows(int64_t count, Emitted first);
  void storeRows(const Values &all, Emitted first);

  const mlir::Type element;
  const mlir::VectorType lanes;
  const int64_t vectors;
  Emitted firstSums, sumsPitch;
};

} // namespace halftone::compiler
