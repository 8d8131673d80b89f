// The only way to change the carries, slices and stacks of a loop: the loop is taken apart and rebuilt.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/ControlFlow.h"
#include "mlir/IR/PatternMatch.h"
#include <deque>

namespace halftone::compiler {

/// A scan or while that is taken apart. The lists may be edited and extended; `rebuild` then builds a loop from them.
/// Until then the arguments of new entries follow the old ones in the regions, so that ops there may read them.
class LoopParts {
public:
  struct Carry {
    mlir::Value init;
    mlir::BlockArgument argument; // of the body
    mlir::BlockArgument decided;  // of the condition; null for a scan
    mlir::Value last;             // the result of the loop; null for a new carry
    unsigned yield = 0;           // the operand of the body's yield that is the next value
    bool isDropped = false;
  };
  struct Slice {
    mlir::Value stack;
    mlir::BlockArgument argument;
    bool isDropped = false;
  };
  struct Y {
    mlir::Value stack;  // the result of the scan; null for a new stack
    unsigned yield = 0; // the operand of the body's yield that is the slice
    bool isDropped = false;
  };

  explicit LoopParts(mlir::Operation *loop);

  /// Adds a carry with the initial value `init`. It keeps its value until setNext.
  Carry &addCarry(mlir::Value init);
  /// Adds slices of `stack`, whose first axis is that of the scan's steps.
  mlir::BlockArgument addSlice(mlir::Value stack);
  /// Adds a stack of the values `slice` of all steps.
  Y &addY(mlir::Value slice);

  mlir::Value next(const Carry &carry) const { return yield()->getOperand(carry.yield); }
  mlir::Value slice(const Y &y) const { return yield()->getOperand(y.yield); }
  void setNext(const Carry &carry, mlir::Value value) { yield()->setOperand(carry.yield, value); }
  mlir::Operation *yield() const { return body->getTerminator(); }
  mlir::Block *bodyBlock() const { return body; }

  /// Replaces the loop by one built from the lists without the dropped entries, whose arguments and results must have
  /// no users. The results of the old loop are replaced by those of the new one; `last` and `stack` are updated in all
  /// remaining entries.
  mlir::Operation *rebuild(mlir::RewriterBase &rewriter);

  std::deque<Carry> carries; // references to entries stay valid
  std::deque<Slice> slices;
  std::deque<Y> ys;

private:
  unsigned addYield(mlir::Value value);
  void setArguments(mlir::Block &block, llvm::ArrayRef<mlir::BlockArgument> kept);
  mlir::Operation *create(mlir::RewriterBase &rewriter);

  mlir::Operation *loop;
  mlir::Block *body, *condition; // the condition's is null for a scan
};

/// Returns true if a value in the body of `scan` is a result of a loop there, possibly moved or converted.
bool isOfInnerLoop(mlir::Value value, dialect::ScanOp scan);

/// Returns `value` as a loop stores it: rounded to its dtype.
mlir::Value roundedInLoop(mlir::OpBuilder &builder, mlir::Value value);

} // namespace halftone::compiler
