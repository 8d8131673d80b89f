// The table of the products with which CPUs multiply factors.
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

/// One way to multiply factors and to accumulate the products. An element of a packed factor is a group: neighbours
/// along K of a row of A or of a column of B, the first in the lowest bits.
struct ProductRow {
  cpu::Product product;
  int64_t group; // indices of K in a group
  /// True if the sums are those of the operation under all numerics. If false, subnormal numbers may count as 0, and
  /// the instruction defines the order of additions.
  bool exact;
  bool takesIntegers; // factors in groups are i8; otherwise they are floats
  /// If false, groups of B are unsigned: half of the range is added to each element of B, and a row's sums start with a
  /// correction that cancels this.
  bool signedOperands;
  /// Returns true if a CPU with these features has the instruction.
  bool (*isAvailable)(const llvm::MCSubtargetInfo &features);
  /// Returns true if a kernel whose numerics allow the product is faster with it than with the products after it.
  bool (*isProfitable)(const CpuTarget &target, const MatmulTraits &traits);
  /// Adds to `sums`, lane by lane, the products of groups of A and of B. Null if whole tiles are multiplied
  /// (AmxTiles.h).
  Emitted (*multiply)(CodeBuilder &code, Emitted sums, Emitted a, Emitted b);
  /// Like `multiply`, with widened members, which keeps subnormal numbers; null if the instruction keeps them.
  Emitted (*multiplyWidened)(CodeBuilder &code, Emitted sums, Emitted a, Emitted b);

  bool usesTiles() const { return !multiply; }
};

/// The products of a CPU in order of preference. The last one is the multiply-add, which all CPUs have.
std::vector<const ProductRow *> productsOf(const llvm::Triple &triple, const llvm::MCSubtargetInfo &features);

/// The table row of a product of any CPU.
const ProductRow &rowOf(cpu::Product product);

/// The first of the target's products that the kernel may use and that pays.
const ProductRow &chooseProduct(const CpuTarget &target, const MatmulTraits &traits);

/// Null if the target has no such product.
const ProductRow *findProduct(const CpuTarget &target, cpu::Product product);
/// The product in the schedule of a matmul, an attention or a recurrence. If the target lacks it, returns the
/// multiply-add; checkProduct() reports the error.
const ProductRow &productOf(const KernelSource &source, const CpuTarget &target);
/// Checks that the target has the product, and that it multiplies the elements of `factors`, which are operands of
/// contractions. Otherwise emits a diagnostic.
mlir::LogicalResult checkProduct(const KernelSource &source, const CpuTarget &target,
                                 llvm::ArrayRef<mlir::OpOperand *> factors);

/// Returns true if packing a window copies one tap of adjacent positions at a time (WindowRead::positions), because the
/// image has few channels. Such packing does not support groups along K.
bool packsAlongPositions(const MatmulTraits &traits);

/// Returns true if a run of `run` elements of K consists of whole vectors of `dtype`. Without runs, `run` is 0 and the
/// result false.
bool holdsWholeVectors(const CpuTarget &target, int64_t run, DType dtype);

/// The first, or second, members of pairs of bf16, as f32.
Emitted firstOfPairs(Emitted pairs);
Emitted secondOfPairs(Emitted pairs);

} // namespace halftone::compiler
