// In which order a matmul's block goes through K, its columns and its rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulEpilogue.h"
#include "compiler/targets/cpu/matmul/MatmulMicroKernel.h"
#include "compiler/targets/cpu/matmul/MatmulPack.h"
#include <memory>

namespace halftone::compiler {

/// What all kernels have: blocks one after another, in each the parts of K, whose operands are packed and multiplied, and last the
/// epilogue. A class for each Multiply makes the sums.
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
  // Around all blocks, and at the beginning of each.
  virtual void begin() {}
  virtual void end() {}
  virtual void beginBlock() {}
  /// How many packed elements along K are multiplied at a time, of `all`, which would make `parts` parts of the largest size.
  virtual Emitted partOfDepth(Emitted all, Emitted parts);
  /// The sums of the whole tile of the block. A is packed, and B where the plan packs all of it.
  virtual void multiply(const MatmulDepth &depth) = 0;

  /// Code for both outcomes of `saw`, whether a factor has a subnormal number: `multiply` by widened products, or by the plan's.
  void multiplyEither(Emitted saw, llvm::function_ref<void()> multiply);
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
