// Expansion of roundings to bf16 for targets whose instruction flushes subnormal numbers, or that have none.
// SPDX-License-Identifier: Apache-2.0
//
//   %y = arith.truncf %x : vector<16xf32> to vector<16xbf16>
// becomes
//   %y = scf.if "an element of %x is subnormal" { func.call @halftone_core_rounds_... } else { the instruction }
//
// Roundings between which no result of theirs is used, except by a bitcast, share one branch: those of several results,
// and those of interleaved steps.
#include "compiler/kernels/MathCores.h"
#include "compiler/kernels/MathInstructions.h"
#include "compiler/kernels/NarrowFloat.h"
#include "compiler/kernels/Steps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

class RoundingExpansion {
public:
  RoundingExpansion(const MathInstructions *instructions, std::vector<Core> &cores)
      : instructions(instructions && instructions->roundsToBf16() ? instructions : nullptr), cores(cores) {}

  void expand(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      const bool reads = readsGroup(op);
      if (reads && isa<arith::BitcastOp>(op)) {
        casts.push_back(&op);
        continue;
      }
      if (reads || op.getNumRegions() > 0)
        expandGroup();
      if (!isRoundingToBf16(&op))
        continue;
      if (!takes(op)) {
        expandInIntegers(op);
        continue;
      }
      group.push_back(&op);
      if (group.size() == maxGroup)
        expandGroup();
    }
    expandGroup();
  }

private:
  /// The number of vectors that a function returns in registers on CPUs with such an instruction.
  static constexpr size_t maxGroup = 4;

  bool takes(Operation &rounding) {
    ImplicitLocOpBuilder builder(rounding.getLoc(), &rounding);
    return instructions && instructions->take(Emitted(builder, rounding.getOperand(0)));
  }

  bool readsGroup(Operation &op) {
    return llvm::any_of(op.getOperands(), [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return llvm::is_contained(group, producer) || llvm::is_contained(casts, producer);
    });
  }

  static void replace(Operation *rounding, Emitted bits) {
    rounding->getResult(0).replaceAllUsesWith(bits.bitsAs(bits.builder().getBF16Type()));
    rounding->erase();
  }

  static void expandInIntegers(Operation &rounding) {
    ImplicitLocOpBuilder builder(rounding.getLoc(), &rounding);
    replace(&rounding, bitsOfBf16(Emitted(builder, rounding.getOperand(0))));
  }

  /// Replaces the roundings of the group, before its last one.
  void expandGroup() {
    if (group.empty())
      return;
    ImplicitLocOpBuilder builder(group.back()->getLoc(), group.back());
    SmallVector<Emitted> values;
    for (Operation *rounding : group)
      values.emplace_back(builder, rounding->getOperand(0));
    for (Operation *cast : llvm::reverse(casts))
      cast->moveAfter(group.back());
    for (const auto &[rounding, bits] : llvm::zip_equal(group, branch(builder, values)))
      replace(rounding, Emitted(builder, bits));
    group.clear();
    casts.clear();
  }

  SmallVector<Value> branch(ImplicitLocOpBuilder &builder, ArrayRef<Emitted> values) {
    Emitted subnormal = instructions->isSubnormal(values[0]);
    for (const Emitted &value : values.drop_front())
      subnormal = subnormal | instructions->isSubnormal(value);
    const Value any = vector::ReductionOp::create(builder, vector::CombiningKind::OR, subnormal.value());
    const Value never = arith::ConstantOp::create(builder, builder.getBoolAttr(false));
    const SmallVector<Type> types(values.size(), values[0].typeOf(builder.getI16Type()));
    auto choice =
        scf::IfOp::create(builder, types, LLVM::ExpectOp::create(builder, any, never), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.thenBlock());
    const auto operands = llvm::map_to_vector(values, [](const Emitted &value) { return value.value(); });
    const int64_t lanes = cast<VectorType>(values[0].type()).getNumElements();
    scf::YieldOp::create(builder, callCore(builder, roundingCore(lanes, int64_t(values.size())), operands, types,
                                           choice->getParentOfType<func::FuncOp>(), cores));
    builder.setInsertionPointToStart(choice.elseBlock());
    SmallVector<Value> rounded;
    for (const Emitted &value : values)
      rounded.push_back(instructions->toBf16(value).bits());
    scf::YieldOp::create(builder, rounded);
    return llvm::to_vector_of<Value>(choice.getResults());
  }

  const MathInstructions *instructions; // null if they have none for roundings
  std::vector<Core> &cores;
  SmallVector<Operation *> group; // roundings that share the next branch
  SmallVector<Operation *> casts; // of their results, which the branch may precede
};

} // namespace

void compiler::expandRoundings(ModuleOp module, const MathTraits &math, std::vector<Core> &cores) {
  if (math.convertsBf16)
    return;
  SmallVector<Block *> blocks;
  module.walk([&](Block *block) { blocks.push_back(block); });
  RoundingExpansion expansion(math.instructions, cores);
  for (Block *block : blocks)
    expansion.expand(*block);
}
