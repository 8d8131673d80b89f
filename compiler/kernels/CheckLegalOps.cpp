// The closed list of legal ops in emitted code: those that every target supports, and those of one target.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/Steps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

/// The legal ops of all targets.
const llvm::StringSet<> &commonLegalOps() {
  static const auto &ops = *new llvm::StringSet<>{
      "builtin.module",
      // Control flow.
      "scf.for", "scf.if", "scf.while", "scf.condition", "scf.yield", "cf.br", "cf.cond_br",
      // Integers.
      "arith.constant", "arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.divui", "arith.remsi",
      "arith.remui", "arith.andi", "arith.ori", "arith.xori", "arith.shli", "arith.shrsi", "arith.shrui", "arith.cmpi",
      "arith.select", "arith.maxsi", "arith.maxui", "arith.minsi", "arith.minui", "arith.extsi", "arith.extui",
      "arith.trunci", "arith.mului_extended", "arith.index_cast", "arith.index_castui", "math.absi", "math.ctlz",
      "math.ctpop", "math.cttz",
      // Floats; extf and truncf of f16 remain on targets with instructions for them.
      "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.negf", "arith.cmpf", "arith.maximumf",
      "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.extf", "arith.truncf", "arith.sitofp", "arith.uitofp",
      "arith.fptosi", "arith.fptoui", "arith.bitcast", "math.absf", "math.ceil", "math.copysign", "math.floor",
      "math.fma", "math.roundeven", "math.sqrt", "math.trunc",
      // Vectors.
      "vector.broadcast", "vector.extract", "vector.insert", "vector.shuffle", "vector.fma", "vector.reduction",
      "vector.step", "vector.bitcast", "vector.interleave", "vector.deinterleave", "vector.extract_strided_slice",
      "vector.insert_strided_slice", "ub.poison",
      // Memory.
      "llvm.getelementptr", "llvm.load", "llvm.store", "llvm.mlir.zero", "llvm.intr.expect"};
  return ops;
}

} // namespace

LogicalResult compiler::checkLegalOps(ModuleOp module, ArrayRef<StringLiteral> ofTarget) {
  const WalkResult result = module.walk([&](Operation *op) {
    const StringRef name = op->getName().getStringRef();
    if (commonLegalOps().contains(name) || llvm::is_contained(ofTarget, name))
      return WalkResult::advance();
    op->emitError() << "'" << op->getName() << "' is not a legal op in emitted code";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
