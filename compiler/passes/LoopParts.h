// The one way to change the carries, the slices and the stacks of a loop: it is taken apart and made again.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/ControlFlow.h"
#include "mlir/IR/PatternMatch.h"
#include <deque>

namespace halftone::compiler {

/// A scan or while taken apart. The lists may be changed and grow; `rebuild` then makes a loop of them. Until then the arguments
/// of new entries stand behind the old ones in the regions, so that ops there may read them.
class LoopParts {
public:
  struct Carry {
    mlir::Value init;
    mlir::BlockArgument argument; // of the body
    mlir::BlockArgument decided;  // of the condition; null of a scan
    mlir::Value last;             // the result of the loop; null of a new carry
    unsigned yield = 0;           // the operand of the body's yield that is the next value
    bool isDropped = false;
  };
  struct Slice {
    mlir::Value stack;
    mlir::BlockArgument argument;
    bool isDropped = false;
  };
  struct Y {
    mlir::Value stack;  // the result of the scan; null of a new one
    unsigned yield = 0; // the operand of the body's yield that is the slice
    bool isDropped = false;
  };

  explicit LoopParts(mlir::Operation *loop);

  /// A carry whose first value is `init`. It keeps its value until setNext.
  Carry &addCarry(mlir::Value init);
  /// Slices of `stack`, whose first axis is the scan's.
  mlir::BlockArgument addSlice(mlir::Value stack);
  /// A stack of the values that each step gives.
  Y &addY(mlir::Value slice);

  mlir::Value next(const Carry &carry) const { return yield()->getOperand(carry.yield); }
  mlir::Value slice(const Y &y) const { return yield()->getOperand(y.yield); }
  void setNext(const Carry &carry, mlir::Value value) { yield()->setOperand(carry.yield, value); }
  mlir::Operation *yield() const { return body->getTerminator(); }
  mlir::Block *bodyBlock() const { return body; }

  /// Replaces the loop by one of the lists without the dropped entries, whose arguments and results nobody may use. Results of the
  /// loop before become those of the new one, whose `last` and `stack` are set in all entries that are left.
  mlir::Operation *rebuild(mlir::RewriterBase &rewriter);

  std::deque<Carry> carries; // references to entries stay good
  std::deque<Slice> slices;
  std::deque<Y> ys;

private:
  unsigned addYield(mlir::Value value);
  void setArguments(mlir::Block &block, llvm::ArrayRef<mlir::BlockArgument> kept);
  mlir::Operation *create(mlir::RewriterBase &rewriter);

  mlir::Operation *loop;
  mlir::Block *body, *condition; // the condition's: null of a scan
};

/// Whether a value in the body of `scan` is, but for ops that move or convert elements, a result of a loop there.
bool isOfInnerLoop(mlir::Value value, dialect::ScanOp scan);

/// `value` as the memory of a loop holds it: rounded to its dtype.
mlir::Value roundedInLoop(mlir::OpBuilder &builder, mlir::Value value);

} // namespace halftone::compiler
