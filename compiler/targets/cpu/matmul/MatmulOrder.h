// The order in which a matmul block iterates over K, its columns and its rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulEpilogue.h"
#include "compiler/targets/cpu/matmul/MatmulMicroKernel.h"
#include "compiler/targets/cpu/matmul/MatmulPack.h"
#include <memory>

namespace halftone::compiler {

/// The common loop structure: over blocks; within each over slices of K, whose operands are packed and multiplied; then
/// the epilogue. One derived class per Multiply computes the sums.
class MatmulOrder {
public:
  static std::unique_ptr<MatmulOrder> of(const MatmulPlan &plan, KernelFrame &frame);
  MatmulOrder(const MatmulPlan &plan, KernelFrame &frame)
      : plan(plan), frame(frame), block(plan, frame), access(block), operands(block, access),
        groups(block, access, operands), watch(frame, block.sizes.lanes, plan.product->multiplyWidened != nullptr),
        packing(block, access, operands, groups, watch), factors(block, access, operands, groups, watch),
        microKernel(block, access, watch), epilogue(block, access) {}
  virtual ~MatmulOrder() = default;
  MatmulOrder(const MatmulOrder &) = delete; // the parts refer to each other
  MatmulOrder &operator=(const MatmulOrder &) = delete;

  void emit();

protected:
  // Called before and after all blocks, and at the beginning of each block.
  virtual void begin() {}
  virtual void end() {}
  virtual void beginBlock() {}
  /// The number of packed elements in a slice of K. K has `all` packed elements, which are `parts` slices of the
  /// largest size.
  virtual Emitted partOfDepth(Emitted all, Emitted parts);
  /// Computes the sums of the block's whole tile. A is packed, and so is B if the plan packs the whole tile.
  virtual void multiply(const MatmulDepth &depth) = 0;

  /// Emits code for both values of `foundSubnormal`, whether a factor contains a subnormal number: `multiply` with
  /// widened products if it is true, and with the plan's products otherwise.
  void multiplyEither(Emitted foundSubnormal, llvm::function_ref<void()> multiply);
  Emitted constant(int64_t value) { return frame.constant(value); }

  const MatmulPlan &plan;
  KernelFrame &frame;
  MatmulBlock block;
  MatmulAccess access;
  MatmulOperands operands;
  MatmulGroups groups;
  SubnormalWatch watch;
  MatmulPacking packing;
  MatmulFactors factors;
  MatmulMicroKernel microKernel;

private:
  void emitBlock(Emitted number);
  void packRows(const MatmulDepth &depth);

  MatmulEpilogue epilogue;
};

} // namespace halftone::compiler
