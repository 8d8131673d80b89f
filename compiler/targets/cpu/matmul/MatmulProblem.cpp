// Reading a matmul kernel: which forms there is code for, and what follows from them.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulProblem.h"
#include "compiler/targets/cpu/Emitters.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

int64_t roundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

} // namespace

MatmulSizes::MatmulSizes(const CpuTarget &cpu, Type accumulator, const ProductRow &product, bool tallSums) {
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
  if (product.usesTiles()) {
    rowStep = lanes;
    depth = 1536; // sums are stored after each part of K, and A of several parts is packed for each block
  }
  if (product.group > 1)
    panelRows = {6, 4, 2, 1};
  if (tallSums)
    vectors = 2, panelRows = {12, 4, 2, 1};
}

MatmulSizes::MatmulSizes(const CpuTarget &cpu, Type accumulator, const KernelSource &source)
    : MatmulSizes(cpu, accumulator, productOf(source, cpu), source.form.tallSums || source.form.readsImage) {
  if (!source.form.readsImage)
    return;
  // Lines of the usual images are multiples of seven places long. Few strips are of one vector: less code for them.
  if (cpu.vectorRegisters >= 32)
    panelRows = {14, 7, 4, 2, 1}, vectorRows = {7, 1};
  else
    panelRows = {6, 4, 3, 1}, vectorRows = {4, 1};
}

MatmulScratch::MatmulScratch(const MatmulSizes &sizes, int64_t tileRows, int64_t tileColumns, bool packsRows) {
  const int64_t padded = roundUp(tileColumns, sizes.lanes);
  a = packsRows ? roundUp(tileRows + 1, sizes.lanes) * sizes.rowPitch() : 0; // groups take a row more
  b = padded * sizes.depth;
  sums = roundUp(tileRows + 1, sizes.rowStep) * padded;
  square = sizes.lanes * (sizes.lanes + 1);
}

int64_t matmulScratchBytes(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target) {
  const linalg::GenericOp contraction = MatmulSource::contractionOf(source);
  if (!contraction)
    return 0;
  const Type accumulator = MatmulSource::accumulatorOf(contraction);
  const MatmulScratch scratch(MatmulSizes(target, accumulator, source), extents[size_t(source.dims)],
                              extents[size_t(source.dims) + 1], !source.form.readsImage);
  return MatmulScratch::headBytes +
         (scratch.a + scratch.b + scratch.sums + scratch.square) * int64_t(accumulator.getIntOrFloatBitWidth() / 8);
}

MatmulProblem::MatmulProblem(MatmulSource read, const CpuTarget &cpu)
    : MatmulSource(std::move(read)), cpu(cpu), sizes(cpu, accumulator, source), fuses(mayFuse && cpu.math.hasFma),
      product(&productOf(source, cpu)), groupSize(product->group) {}

FailureOr<MatmulProblem> MatmulProblem::read(const KernelSource &source, const CpuTarget &cpu) {
  FailureOr<MatmulSource> matmul = MatmulSource::read(source);
  if (failed(matmul) || failed(checkProduct(source, cpu)))
    return failure();
  MatmulProblem problem(std::move(*matmul), cpu);
  if (failed(problem.checkGroups()) || failed(problem.readPanels()) || failed(problem.readWindow()))
    return failure();
  return problem;
}

LogicalResult MatmulProblem::checkGroups() {
  if (groupSize == 1)
    return success();
  if (group[depthRole].size() != 1 && !(groupSize == 2 && source.form.wholeRuns))
    return source.function.emitError() << product->name << " with several dims of K; expected one";
  for (Value factor : contraction.getInputs())
    if (!getElementTypeOrSelf(factor).isInteger(unsigned(32 / groupSize)))
      return source.function.emitError() << product->name << " with factors of " << getElementTypeOrSelf(factor);
  return success();
}

LogicalResult MatmulProblem::readPanels() {
  if (prologue[1])
    for (OpOperand *input : prologue[1].getDpsInputOperands())
      if (source.formOf(input->get()).panels && failed(readPanels(prologue[1], *input)))
        return failure();
  OpOperand *operand = contraction.getDpsInputOperand(1);
  panels = prologue[1] ? std::nullopt : source.formOf(operand->get()).panels;
  return panels ? readPanels(contraction, *operand) : success();
}

/// The elements lie over the dims of K and of the columns, and a vector of sums has the columns of a panel.
LogicalResult MatmulProblem::readPanels(linalg::GenericOp generic, OpOperand &operand) {
  const Panels layout = *source.formOf(operand.get()).panels;
  SmallVector<int> expected(group[layout.depth == 0 ? depthRole : columnRole]), found;
  llvm::append_range(expected, group[layout.depth == 0 ? columnRole : depthRole]);
  for (int dim : source.accessOf(generic, operand).dims)
    if (dim >= 0)
      found.push_back(dim);
  const int64_t bits = layout.bits ? layout.bits : getElementTypeOrSelf(operand.get()).getIntOrFloatBitWidth();
  const bool isWord = bits * layout.group == 32 && accumulator.getIntOrFloatBitWidth() == 32;
  const bool takesGroups = groupSize == 1 || bool(prologue[1]) || groupSize == layout.group ||
                           (!product->signedOperands && layout.bits == 4);
  if (!takesGroups || !isWord || layout.columns != sizes.lanes || found != expected)
    return generic.emitError() << "no code that reads panels of " << layout.columns << " columns, groups of "
                               << layout.group << ", along axis " << layout.depth;
  readsPanels = true;
  wordGroup = layout.group;
  return success();
}

LogicalResult MatmulProblem::readWindow() {
  const Value operand = contraction.getInputs()[0];
  window = prologue[0] ? std::nullopt : source.formOf(operand).window;
  if (!window)
    return success();
  const size_t numbers = size_t(source.form.numbers);
  const bool readsGroups = !source.form.alongPlaces && (lanesAlongDepth(0) || groupSize == 2);
  if ((groupSize != 1 && !readsGroups) || numbers != 4 * window->rank() + 1)
    return contraction.emitError() << "no code that reads a window of " << window->rank() << " spatial axes with "
                                   << numbers << " numbers, in groups of " << groupSize;
  const bool isPlain = groupSize == 1 && factorOf(0) == contraction.getBody()->getArgument(0) &&
                       getElementTypeOrSelf(operand) == accumulator;
  if (readsImage() && !(lanesAlongDepth(0) && (isPlain || (groupSize == 2 && source.form.evenDepth))))
    return contraction.emitError() << "no code that reads such a window in its image";
  return success();
}

bool MatmulProblem::takesDots() const {
  return !window && fewRows() && !ordered() && groupSize == 1 && !panels && cpu.hasMaskedMemory &&
         group[rowRole].size() == 1 && group[columnRole].size() == 1 && group[depthRole].size() == 1 &&
         lanesAlongDepth(0) && lanesAlongDepth(1);
}

bool MatmulProblem::readsRowPairsInPlace() const {
  return groupSize == 2 && !prologue[0] && !window && lanesAlongDepth(0) && source.form.evenDepth &&
         group[rowRole].size() == 1 && group[depthRole].size() == 1;
}

bool MatmulProblem::readsRowsInPlace() const {
  if (takesDots() || readsRowPairsInPlace())
    return true;
  if (window)
    return readsImage();
  // If K is not the last axis of A, each index of K reads other cache lines. A CPU with few registers has too few
  // multiply-adds for an index of K to hide that.
  constexpr int64_t manyRegisters = 32;
  return (lanesAlongDepth(0) || cpu.vectorRegisters >= manyRegisters) && !prologue[0] &&
         getElementTypeOrSelf(contraction.getInputs()[0]) == accumulator && group[rowRole].size() == 1 &&
         group[depthRole].size() == 1 && factorOf(0) == contraction.getBody()->getArgument(0);
}

/// In panels, neighbours along K share a cache line. The micro-kernel's groups of rows must not cross from one to the next.
bool MatmulProblem::packsRowPanels() const {
  const auto divides = [&](int64_t rows) { return sizes.lanes % rows == 0; };
  return !window && !packsRowsAlongDepth() && !readsRowsInPlace() && llvm::all_of(sizes.panelRows, divides) &&
         llvm::all_of(sizes.vectorRows, divides);
}

bool MatmulProblem::looksUpInWords() const {
  return depthOfWord() > 1 && groupSize == 1 && prologue[1] && group[depthRole].size() == 1 &&
         !prologue[1].getBody()->getOps<tensor::ExtractOp>().empty() &&
         llvm::any_of(prologue[1].getDpsInputOperands(), [&](OpOperand *input) {
           return llvm::equal(source.accessOf(prologue[1], *input).dims, group[depthRole]);
         });
}

bool MatmulProblem::sumsAreResult() const {
  Operation *yield = epilogue.getBody()->getTerminator();
  return groupSize == 1 && group[rowRole].size() == 1 && group[columnRole].size() == 1 &&
         epilogue.getNumDpsInputs() == 1 && epilogue.getNumResults() == 1 && combiners[0].empty() && !takesDots() &&
         yield->getOperand(0) == epilogue.getBody()->getArgument(0) &&
         epilogue.getMatchingIndexingMap(epilogue.getDpsInitOperand(0)).isIdentity();
}

std::string MatmulProblem::method() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (product->product == cpu::Product::multiply_add)
    out << accumulator << " ";
  out << product->name;
  if (usesTiles())
    out << ", " << 2 * sizes.lanes << " x " << 2 * sizes.lanes << " sums in tiles";
  else if (takesDots())
    out << " along K, both operands in place";
  else
    out << ", " << sizes.panelRows[0] << " x " << sizes.columns() << " sums in registers";
  return text;
}

} // namespace halftone::compiler
