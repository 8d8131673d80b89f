// The rules that form fusion groups.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/fusion/FusionState.h"
#include "dialect/ControlFlow.h"

namespace halftone::compiler {

/// The result of applying a rule to an op.
class RuleResult {
public:
  enum Outcome : uint8_t {
    declined, // the next rule is tried; the rule may have stored operands of the op
    applied,  // the op is in a group, or stays a cloned producer
    failed    // a diagnostic is emitted
  };
  RuleResult(Outcome outcome) : outcome(outcome) {}
  /// Declines although the rule handles such ops. The reason completes "declined: ".
  static RuleResult because(llvm::StringLiteral reason) {
    RuleResult result = declined;
    result.reason = reason;
    return result;
  }

  Outcome outcome;
  llvm::StringRef reason; // empty if the rule does not handle such ops, or did not decline
};

/// A rule for one op. All ops that the op reads have been visited.
struct OpRule {
  llvm::StringLiteral name;
  bool inStrict; // applies also if each op is a separate kernel (Numerics::formsAlone)
  RuleResult (*apply)(FusionState &state, mlir::Operation *op);
};

/// A rule that merges groups, or moves ops between them, after all ops have been visited. Not applied in strict
/// numerics.
struct GroupRule {
  llvm::StringLiteral name;
  void (*apply)(FusionState &state);
};

/// Visits the ops of the block in program order: the first rule that applies to an op decides. Then applies the group
/// rules, in order. The block has no dead ops. Emits a diagnostic on failure.
mlir::LogicalResult applyRules(FusionState &state);
/// Applies the first rule that applies to `op`.
mlir::LogicalResult applyOpRules(FusionState &state, mlir::Operation *op);
/// Lets the owner of `operand` read a stored copy of it (ClonedProducers::materialize) if it is the result of a cloned
/// producer. The rules visit a copy that is newly created. The reason completes "stored: ".
mlir::LogicalResult storeOperand(FusionState &state, mlir::OpOperand &operand, llvm::StringLiteral reason);
/// Starts a group with `op` alone. Cloned producers that no kernel may contain along with `op` are stored first.
RuleResult startGroup(FusionState &state, mlir::Operation *op);

// Op rules.
RuleResult readWindowInPlace(FusionState &state, mlir::Operation *op);
RuleResult startRecurrence(FusionState &state, mlir::Operation *op);
RuleResult keepOpaque(FusionState &state, mlir::Operation *op);
RuleResult cloneAlways(FusionState &state, mlir::Operation *op);
RuleResult storeRandomKey(FusionState &state, mlir::Operation *op);
RuleResult cloneUnpacking(FusionState &state, mlir::Operation *op);
RuleResult cloneCheapChain(FusionState &state, mlir::Operation *op);
RuleResult cloneWidening(FusionState &state, mlir::Operation *op);
RuleResult startAttention(FusionState &state, mlir::Operation *op);
RuleResult startContraction(FusionState &state, mlir::Operation *op);
RuleResult joinProducers(FusionState &state, mlir::Operation *op);
RuleResult splitReduction(FusionState &state, mlir::Operation *op);
RuleResult recomputeInReaders(FusionState &state, mlir::Operation *op);

// Group rules.
void moveReductionsToReaders(FusionState &state);
void mergeSiblings(FusionState &state);
void mergeScalars(FusionState &state);
void recomputeResults(FusionState &state);

// Preparation, before the first op is visited.
void storeEscapingConstants(FusionState &state);
void markUnpacking(FusionState &state);

/// Returns true if `op` is a loop all of whose steps run in one kernel. `op` may be null.
bool isRecurrence(mlir::Operation *op, const Blocking &blocking, Numerics numerics);

} // namespace halftone::compiler
