// Reading of the linalg form of a matmul kernel.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/MatmulSource.h"
#include "compiler/kernels/ScalarBody.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

/// Checks that inputs are in memory or are `local`.
LogicalResult checkInputs(linalg::GenericOp generic, ArrayRef<Value> local, bool mayLookUp = false) {
  for (Value input : generic.getInputs())
    if (!isa<BlockArgument>(input) && !llvm::is_contained(local, input))
      return generic.emitError(
          "an input is neither an operand of the kernel nor the result of a generic that this one may read");
  if (!mayLookUp && !generic.getBody()->getOps<tensor::ExtractOp>().empty())
    return generic.emitError("expected no tensor.extract in this generic of a matmul kernel");
  return success();
}

/// Returns true if `value` is computed from `element` and constants only, by elementwise ops.
bool isComputedFrom(Value value, BlockArgument element) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return value == element;
  return op->getNumResults() == 1 && (isa<arith::ConstantOp>(op) || op->hasTrait<OpTrait::Elementwise>()) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isComputedFrom(operand, element); });
}

/// Clones `value`, an expression whose leaves `known` maps, at vector type.
Value cloneExpression(CodeBuilder &builder, Value value, IRMapping &known, int64_t lanes) {
  if (Value done = known.lookupOrNull(value))
    return done;
  Operation *op = value.getDefiningOp();
  const Type type = atLanes(value.getType(), lanes);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return builder.constant(lanes > 0 ? DenseElementsAttr::get(cast<ShapedType>(type), Attribute(constant.getValue()))
                                      : constant.getValue());
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(cloneExpression(builder, operand, known, lanes));
  OperationState state(op->getLoc(), op->getName(), operands, type, op->getAttrs());
  known.map(value, builder.create(state)->getResult(0));
  return known.lookup(value);
}

} // namespace

linalg::GenericOp MatmulSource::contractionOf(const KernelSource &source) {
  // Identified by its loops, since a prologue lacks M or N, and an epilogue K.
  linalg::GenericOp found;
  for (linalg::GenericOp generic : source.generics)
    if (int64_t(dimsOf(generic).size()) == source.dims && generic.getNumDpsInputs() == 2 &&
        generic.getNumDpsInits() == 1)
      found = generic;
  return found;
}

Type MatmulSource::accumulatorOf(linalg::GenericOp contraction) {
  return getElementTypeOrSelf(contraction.getResult(0));
}

MatmulSource::MatmulSource(const KernelSource &source, linalg::GenericOp contraction)
    : source(source), contraction(contraction), accumulator(accumulatorOf(contraction)) {}

FailureOr<MatmulSource> MatmulSource::read(const KernelSource &source) {
  int64_t dims = 0;
  for (int64_t count : source.form.roles)
    dims += count;
  if (dims != source.dims)
    return source.function.emitError("expected an index argument for each dim, then two for the tile");
  linalg::GenericOp contraction = contractionOf(source);
  if (!contraction)
    return source.function.emitError("expected one linalg.generic over all dims with two operands and one sum");
  const Type accumulator = accumulatorOf(contraction);
  if (!accumulator.isF32() && !accumulator.isF64() && !accumulator.isInteger(32) && !accumulator.isInteger(64))
    return contraction.emitError() << "accumulates in " << accumulator << "; expected f32, f64, i32 or i64";
  MatmulSource matmul(source, contraction);
  if (failed(matmul.readGenerics()) || failed(matmul.readBody()) || failed(matmul.checkEpilogue()))
    return failure();
  return matmul;
}

LogicalResult MatmulSource::readGenerics() {
  int dim = 0;
  for (int role = 0; role < 4; ++role)
    for (int64_t count = source.form.roles[size_t(role)]; count-- > 0;)
      group[size_t(role)].push_back(dim++);
  for (int side = 0; side < 2; ++side)
    prologue[size_t(side)] = contraction.getInputs()[unsigned(side)].getDefiningOp<linalg::GenericOp>();
  for (Operation *user : contraction.getResult(0).getUsers())
    if (auto generic = dyn_cast<linalg::GenericOp>(user))
      epilogue = generic;
  if (!epilogue)
    return contraction.emitError("expected an epilogue that reads the sums");
  combiners = combinersOf(epilogue);
  SmallVector<Value> factors;
  const bool readsPanels =
      llvm::any_of(source.form.operands, [](const TensorForm &form) { return form.panels.has_value(); });
  for (linalg::GenericOp generic : prologue) {
    if (!generic)
      continue;
    if (failed(checkInputs(generic, {}, readsPanels && generic == prologue[1])))
      return failure();
    factors.append(generic.getResults().begin(), generic.getResults().end());
  }
  return success(succeeded(checkInputs(contraction, factors)) &&
                 succeeded(checkInputs(epilogue, contraction.getResult(0))));
}

/// The contraction's body is acc + a * b.
LogicalResult MatmulSource::readBody() {
  Operation *sum = contraction.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum))
    return contraction.emitError("expected a body that yields acc + a * b");
  Operation *product = sum->getOperand(1).getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
    return contraction.emitError("expected a body that yields acc + a * b");
  for (unsigned side = 0; side < 2; ++side)
    if (!isComputedFrom(product->getOperand(side), contraction.getBody()->getArgument(side)))
      return product->emitError("expected a factor computed from one element by elementwise ops");
  if (auto add = dyn_cast<arith::AddFOp>(sum))
    mayFuse = bitEnumContainsAll(add.getFastmath(), arith::FastMathFlags::contract);
  return success();
}

LogicalResult MatmulSource::checkEpilogue() {
  for (Value result : source.results())
    if (result.getDefiningOp() != epilogue.getOperation())
      return source.function.emitError("a result of the kernel is not a result of the epilogue");
  for (auto [output, combiner] : llvm::enumerate(combiners)) {
    if (combiner.empty())
      continue;
    if (!epilogue.getOutputs()[unsigned(output)].getDefiningOp<linalg::FillOp>())
      return epilogue.emitError("expected a linalg.fill that initializes a partial reduction");
    const TensorAccess access = source.accessOf(epilogue, *epilogue.getDpsInitOperand(int64_t(output)));
    const auto isKept = [&](int dim) { return llvm::is_contained(access.dims, dim); };
    for (MatmulRole role : {rowRole, columnRole})
      if (llvm::any_of(group[role], isKept) && !llvm::all_of(group[role], isKept))
        return epilogue.emitError("partial reduction over some of the dims of M or N; expected all or none");
    if (llvm::any_of(group[rowRole], isKept))
      return epilogue.emitError("partial reduction that keeps M; expected one over M, or over M and N");
  }
  return success();
}

bool MatmulSource::keepsColumns(int64_t output) const {
  const TensorAccess access = source.accessOf(epilogue, *epilogue.getDpsInitOperand(output));
  return llvm::any_of(group[columnRole], [&](int dim) { return llvm::is_contained(access.dims, dim); });
}

int MatmulSource::innermostDim(int side) const {
  // From the operand's memory layout; with a prologue, from that of its first input of the highest rank.
  linalg::GenericOp before = prologue[size_t(side)], generic = before ? before : contraction;
  TensorAccess access = source.accessOf(generic, generic->getOpOperand(before ? 0 : unsigned(side)));
  if (before)
    for (OpOperand *input : generic.getDpsInputOperands())
      if (TensorAccess other = source.accessOf(generic, *input); other.dims.size() > access.dims.size())
        access = other;
  return access.dims.empty() ? -1 : access.dims.back();
}

/// The value that the body acc + a * b multiplies, computed from an element of operand `side`.
Value MatmulSource::factorOf(linalg::GenericOp contraction, int side) {
  Operation *sum = contraction.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  return sum->getOperand(1).getDefiningOp()->getOperand(unsigned(side));
}

Emitted MatmulSource::factor(CodeBuilder &builder, linalg::GenericOp contraction, int side, Emitted stored,
                             int64_t lanes) {
  IRMapping known;
  known.map(contraction.getBody()->getArgument(unsigned(side)), stored.value());
  return builder.wrap(cloneExpression(builder, factorOf(contraction, side), known, lanes));
}

} // namespace halftone::compiler
