// Reading a matmul kernel: which forms there is code for, and what follows from them.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/MatmulProblem.h"
#include "compiler/targets/cpu/Emitters.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

int64_t roundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

/// The generic that sums over every dim: by its loops, since a prologue lacks M or N and an epilogue K.
linalg::GenericOp contractionOf(const KernelSource &source) {
  linalg::GenericOp found;
  for (linalg::GenericOp generic : source.generics)
    if (int64_t(dimsOf(generic).size()) == source.dims && generic.getNumDpsInputs() == 2 &&
        generic.getNumDpsInits() == 1)
      found = generic;
  return found;
}

/// Checks the facts that every access relies on: the dims of the loops, and inputs that are in memory or are `local`.
LogicalResult checkGeneric(linalg::GenericOp generic, int64_t dims, ArrayRef<Value> local) {
  const SmallVector<int> loops = dimsOf(generic);
  if (loops.size() != generic.getNumLoops() || llvm::any_of(loops, [&](int dim) { return dim < 0 || dim >= dims; }))
    return generic.emitError("expected halftone.dims, one dim of the kernel for each loop");
  for (AffineMap map : generic.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults())
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr))
        return generic.emitError("expected maps of dims and constants");
  for (Value input : generic.getInputs())
    if (!isa<BlockArgument>(input) && !llvm::is_contained(local, input))
      return generic.emitError("an input is neither an operand of the kernel nor what this generic may read");
  if (!generic.getBody()->getOps<tensor::ExtractOp>().empty())
    return generic.emitError("looks elements up; expected none in a matmul kernel");
  return success();
}

Type accumulatorOf(linalg::GenericOp contraction) { return getElementTypeOrSelf(contraction.getResult(0)); }

/// Whether `value` is computed from `element` and constants alone, by elementwise ops.
bool isComputedFrom(Value value, BlockArgument element) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return value == element;
  return op->getNumResults() == 1 && (isa<arith::ConstantOp>(op) || op->hasTrait<OpTrait::Elementwise>()) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isComputedFrom(operand, element); });
}

} // namespace

MatmulSizes::MatmulSizes(const CpuTarget &cpu, Type accumulator, StringRef name) {
  if (accumulator.getIntOrFloatBitWidth() == 32)
    depth = 512;
  lanes = cpu.vectorBytes * 8 / accumulator.getIntOrFloatBitWidth();
  // As many sums as leave room for a row of the panel, one broadcast element of A and, without fused multiply-add, the
  // product; at least eight, which hide the latency of adding, when columns are done one vector at a time.
  if (cpu.vectorRegisters >= 32) {
    vectors = 4, panelRows = {6, 2, 1}, vectorRows = {12, 4, 1};
  } else if (cpu.math.hasFma) {
    vectors = 3, panelRows = {4, 1}, vectorRows = {8, 4, 1};
  } else {
    vectors = 2, panelRows = {4, 1}, vectorRows = {4, 1};
  }
  const auto instruction = matmulInstructionNamed(name);
  if (instruction && isOfTiles(*instruction))
    rowStep = lanes;
  if (instruction && depthOf(*instruction) == 2)
    panelRows = {6, 4, 2, 1};
}

MatmulScratch::MatmulScratch(const MatmulSizes &sizes, int64_t tileRows, int64_t tileColumns) {
  const int64_t padded = roundUp(tileColumns, sizes.lanes);
  a = roundUp(tileRows + 1, sizes.lanes) * sizes.depth; // groups take a row more
  b = padded * sizes.depth;
  sums = roundUp(tileRows + 1, sizes.rowStep) * padded;
  square = sizes.lanes * (sizes.lanes + 1);
}

int64_t matmulScratchBytes(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target) {
  const linalg::GenericOp contraction = contractionOf(source);
  if (!contraction)
    return 0;
  const Type accumulator = accumulatorOf(contraction);
  const MatmulScratch scratch(MatmulSizes(target, accumulator, source.form.instruction), extents[extents.size() - 2],
                              extents.back());
  return MatmulScratch::headBytes +
         (scratch.a + scratch.b + scratch.sums + scratch.square) * int64_t(accumulator.getIntOrFloatBitWidth() / 8);
}

MatmulProblem::MatmulProblem(const KernelSource &source, const CpuTarget &cpu, linalg::GenericOp contraction)
    : source(source), cpu(cpu), contraction(contraction), accumulator(accumulatorOf(contraction)),
      sizes(cpu, accumulator, source.form.instruction) {}

FailureOr<MatmulProblem> MatmulProblem::read(const KernelSource &source, const CpuTarget &cpu) {
  int64_t dims = 0;
  for (int64_t count : source.form.roles)
    dims += count;
  if (dims != source.dims)
    return source.function.emitError("expected an index argument for each dim, then two for the tile");
  linalg::GenericOp contraction = contractionOf(source);
  if (!contraction)
    return source.function.emitError("expected one linalg.generic over all dims, of two operands and one sum");
  const Type accumulator = accumulatorOf(contraction);
  if (!accumulator.isF32() && !accumulator.isF64() && !accumulator.isInteger(32) && !accumulator.isInteger(64))
    return contraction.emitError() << "accumulates in " << accumulator << "; expected f32, f64, i32 or i64";
  MatmulProblem problem(source, cpu, contraction);
  if (failed(problem.readGenerics()) || failed(problem.readBody()) || failed(problem.readInstruction()) ||
      failed(problem.readPanels()) || failed(problem.checkEpilogue()))
    return failure();
  return problem;
}

LogicalResult MatmulProblem::readGenerics() {
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
  for (linalg::GenericOp generic : prologue) {
    if (!generic)
      continue;
    if (failed(checkGeneric(generic, source.dims, {})))
      return failure();
    factors.append(generic.getResults().begin(), generic.getResults().end());
  }
  return success(succeeded(checkGeneric(contraction, source.dims, factors)) &&
                 succeeded(checkGeneric(epilogue, source.dims, contraction.getResult(0))));
}

/// The contraction's body is acc + a * b.
LogicalResult MatmulProblem::readBody() {
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
    fuses = cpu.math.hasFma && bitEnumContainsAll(add.getFastmath(), arith::FastMathFlags::contract);
  return success();
}

LogicalResult MatmulProblem::readInstruction() {
  const std::string &named = source.form.instruction;
  if (named.empty())
    return success();
  const auto found = matmulInstructionNamed(named);
  if (!found || !has(cpu, *found))
    return source.function.emitError() << named << " is no instruction of this CPU for products";
  instruction = *found;
  groupSize = depthOf(instruction);
  for (MatmulRole role : {rowRole, columnRole, depthRole})
    if (group[role].size() != 1)
      return source.function.emitError() << named << " with several dims of M, N or K; expected one of each";
  for (Value factor : contraction.getInputs())
    if (groupSize > 1 && !getElementTypeOrSelf(factor).isInteger(unsigned(32 / groupSize)))
      return source.function.emitError() << named << " with factors of " << getElementTypeOrSelf(factor);
  return success();
}

LogicalResult MatmulProblem::readPanels() {
  const Value operand = contraction.getInputs()[1];
  panels = prologue[1] ? std::nullopt : source.formOf(operand).panels;
  if (!panels)
    return success();
  SmallVector<int> expected(group[panels->depth == 0 ? depthRole : columnRole]), found;
  llvm::append_range(expected, group[panels->depth == 0 ? columnRole : depthRole]);
  for (int dim : source.accessOf(contraction, *contraction.getDpsInputOperand(1)).dims)
    if (dim >= 0)
      found.push_back(dim);
  const bool takesPairs = instruction == MatmulInstruction::vdpbf16ps || instruction == MatmulInstruction::multiplyAdd;
  if (!takesPairs || !accumulator.isF32() || !getElementTypeOrSelf(operand).isInteger(16) || panels->group != 2 ||
      panels->columns != sizes.lanes || found != expected)
    return contraction.emitError() << "no code that reads panels of " << panels->columns << " columns, groups of "
                                   << panels->group << ", along axis " << panels->depth;
  return success();
}

LogicalResult MatmulProblem::checkEpilogue() {
  for (Value result : source.results())
    if (result.getDefiningOp() != epilogue.getOperation())
      return source.function.emitError("a result does not come from the epilogue");
  for (auto [output, combiner] : llvm::enumerate(combiners)) {
    if (combiner.empty())
      continue;
    if (!epilogue.getOutputs()[unsigned(output)].getDefiningOp<linalg::FillOp>())
      return epilogue.emitError("expected a linalg.fill under a side reduction");
    const TensorAccess access = source.accessOf(epilogue, *epilogue.getDpsInitOperand(int64_t(output)));
    const auto isKept = [&](int dim) { return llvm::is_contained(access.dims, dim); };
    for (MatmulRole role : {rowRole, columnRole})
      if (llvm::any_of(group[role], isKept) && !llvm::all_of(group[role], isKept))
        return epilogue.emitError("side reduction over some of the dims of M or N; expected all or none");
    if (llvm::any_of(group[rowRole], isKept))
      return epilogue.emitError("side reduction that keeps M; expected one over M, or over M and N");
  }
  return success();
}

bool MatmulProblem::keepsColumns(int64_t output) const {
  const TensorAccess access = source.accessOf(epilogue, *epilogue.getDpsInitOperand(output));
  return llvm::any_of(group[columnRole], [&](int dim) { return llvm::is_contained(access.dims, dim); });
}

bool MatmulProblem::lanesAlongDepth(int side) const {
  // As the operand's memory goes; with a prologue, as its first input of the highest rank.
  linalg::GenericOp before = prologue[size_t(side)], generic = before ? before : contraction;
  TensorAccess access = source.accessOf(generic, generic->getOpOperand(before ? 0 : unsigned(side)));
  if (before)
    for (OpOperand *input : generic.getDpsInputOperands())
      if (TensorAccess other = source.accessOf(generic, *input); other.dims.size() > access.dims.size())
        access = other;
  return !access.dims.empty() && llvm::is_contained(group[depthRole], access.dims.back());
}

bool MatmulProblem::takesDots() const {
  return fewRows() && !ordered() && groupSize == 1 && !panels && cpu.hasMaskedMemory && group[rowRole].size() == 1 &&
         group[columnRole].size() == 1 && group[depthRole].size() == 1 && lanesAlongDepth(0) && lanesAlongDepth(1);
}

bool MatmulProblem::readsRowPairsInPlace() const {
  return groupSize == 2 && !prologue[0] && lanesAlongDepth(0) && source.form.evenDepth;
}

bool MatmulProblem::readsRowsInPlace() const {
  if (takesDots() || readsRowPairsInPlace())
    return true;
  return !prologue[0] && getElementTypeOrSelf(contraction.getInputs()[0]) == accumulator &&
         group[rowRole].size() == 1 && group[depthRole].size() == 1 &&
         factorOf(0) == contraction.getBody()->getArgument(0);
}

bool MatmulProblem::sumsAreResult() const {
  Operation *yield = epilogue.getBody()->getTerminator();
  return groupSize == 1 && group[rowRole].size() == 1 && group[columnRole].size() == 1 &&
         epilogue.getNumDpsInputs() == 1 && epilogue.getNumResults() == 1 && combiners[0].empty() && !takesDots() &&
         yield->getOperand(0) == epilogue.getBody()->getArgument(0) &&
         epilogue.getMatchingIndexingMap(epilogue.getDpsInitOperand(0)).isIdentity();
}

Value MatmulProblem::factorOf(int side) const {
  Operation *sum = contraction.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  return sum->getOperand(1).getDefiningOp()->getOperand(unsigned(side));
}

std::string MatmulProblem::method() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (instruction == MatmulInstruction::multiplyAdd)
    out << accumulator << " ";
  out << name(instruction);
  if (usesTiles())
    out << ", " << 2 * sizes.lanes << " x " << 2 * sizes.lanes << " sums in tiles";
  else if (takesDots())
    out << " along K, both operands in place";
  else
    out << ", " << sizes.panelRows[0] << " x " << sizes.columns() << " sums in registers";
  return text;
}

} // namespace halftone::compiler
