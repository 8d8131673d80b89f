// The products that CPUs multiply factors by: a row of a table for each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include "compiler/kernels/KernelSource.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "compiler/targets/cpu/Schedules.h"

namespace llvm {
class MCSubtargetInfo;
class Triple;
} // namespace llvm

namespace halftone::compiler {

/// One way to multiply factors and to add up the products. An element of a packed factor is a group: neighbours along K of a row of
/// A or of a column of B, the first in the lowest bits.
struct ProductRow {
  cpu::Product product;
  int64_t group; // indices of K in a group
  /// Sums are those of the operation in all numerics. If not, subnormal numbers may count as 0, and the order of a sum is the
  /// instruction's.
  bool exact;
  bool takesIntegers; // factors of groups are i8; else they are floats
  /// If not, groups of B are of unsigned numbers: each of its elements is multiplied as one larger by half of its range, and a row's
  /// sums begin with less by what that adds.
  bool signedOperands;
  /// Whether a CPU with these features has the instruction.
  bool (*isThere)(const llvm::MCSubtargetInfo &features);
  /// Whether a kernel, in numerics that allow it, is faster by it than by the products after it.
  bool (*pays)(const CpuTarget &target, const MatmulTraits &traits);
  /// `sums` and, lane by lane, the products of groups of A and of B. Null if whole tiles are multiplied (AmxTiles.h).
  Emitted (*multiply)(CodeBuilder &code, Emitted sums, Emitted a, Emitted b);
  /// The same by products of widened members, which keep subnormal numbers; null if the instruction keeps them.
  Emitted (*multiplyWidened)(CodeBuilder &code, Emitted sums, Emitted a, Emitted b);

  bool usesTiles() const { return !multiply; }
};

/// The products of a CPU in the order of preference. The last one is the multiply-add, which all CPUs have.
std::vector<const ProductRow *> productsOf(const llvm::Triple &triple, const llvm::MCSubtargetInfo &features);

/// The row of a product of any CPU.
const ProductRow &rowOf(cpu::Product product);

/// The first of the target's products that a kernel may have and that pays.
const ProductRow &chooseProduct(const CpuTarget &target, const MatmulTraits &traits);

/// Null if the target has no such product.
const ProductRow *findProduct(const CpuTarget &target, cpu::Product product);
/// The product that the schedule of a matmul or an attention names. If the target lacks it, checkProduct() says so in a diagnostic, and this is the multiply-add.
const ProductRow &productOf(const KernelSource &source, const CpuTarget &target);
/// Whether the target has that product, and whether it multiplies the elements of `factors`, which are operands of contractions.
/// If not, a diagnostic says so.
mlir::LogicalResult checkProduct(const KernelSource &source, const CpuTarget &target,
                                 llvm::ArrayRef<mlir::OpOperand *> factors);

/// Whether packing a window copies one tap of neighbouring positions at a time (WindowRead::positions), because its image has few
/// channels. No groups along K are made so.
bool packsAlongPositions(const MatmulTraits &traits);

/// Whether a run of `run` elements of K consists of whole vectors of `dtype`. If there are no runs, `run` is 0 and the answer is no.
bool holdsWholeVectors(const CpuTarget &target, int64_t run, DType dtype);

/// Each first, or second, member of pairs of bf16, in f32.
Emitted firstOfPairs(Emitted pairs);
Emitted secondOfPairs(Emitted pairs);

} // namespace halftone::compiler
