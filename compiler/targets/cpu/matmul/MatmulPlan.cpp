// Plans a matmul kernel: checks that there is code for its form, and derives how it is computed.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulPlan.h"
#include "compiler/kernels/NarrowFloat.h"
#include "compiler/targets/cpu/matmul/MatmulSchedule.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

/// A set of values of an enum.
template <class Enum> struct SetOf {
  unsigned bits = 0;
  constexpr SetOf(std::initializer_list<Enum> members) {
    for (const Enum member : members)
      bits |= 1U << unsigned(member);
  }
  constexpr bool has(Enum member) const { return (bits >> unsigned(member) & 1U) != 0; }
};

struct Row {
  Multiply multiply;
  bool groups;
  SetOf<ReadA> a;
  SetOf<ReadB> b;
};

/// All combinations for which there is code.
constexpr Row table[] = {
    {Multiply::registers,
     false,
     {ReadA::inPlace, ReadA::packedRows, ReadA::packedColumns, ReadA::packedPanels},
     {ReadB::inPlace, ReadB::packedStrip}},
    {Multiply::registers,
     true,
     {ReadA::pairsInPlace, ReadA::packedRows, ReadA::packedColumns},
     {ReadB::inPlace, ReadB::packedTile}},
    {Multiply::dots, false, {ReadA::inPlace}, {ReadB::inPlace}},
    {Multiply::amxTiles, true, {ReadA::packedRows}, {ReadB::inPlace, ReadB::packedTile}},
    {Multiply::imageLines, false, {ReadA::image}, {ReadB::packedStrip}},
    {Multiply::imageLines, true, {ReadA::image}, {ReadB::packedTile}},
};

StringRef wordsOf(ReadA read) {
  switch (read) {
  case ReadA::inPlace:
    return "in place";
  case ReadA::pairsInPlace:
    return "in place as pairs";
  case ReadA::packedRows:
    return "packed as [row][k]";
  case ReadA::packedColumns:
    return "packed as [k][row]";
  case ReadA::packedPanels:
    return "packed as [panel][k][row]";
  case ReadA::image:
    return "directly from the image";
  }
  llvm_unreachable("unhandled ReadA");
}

StringRef wordsOf(ReadB read) {
  switch (read) {
  case ReadB::inPlace:
    return "in place";
  case ReadB::packedStrip:
    return "packed by strips";
  case ReadB::packedTile:
    return "packed by tiles";
  }
  llvm_unreachable("unhandled ReadB");
}

} // namespace

bool MatmulPlan::isLegal(Multiply multiply, bool groups, ReadA a, ReadB b) {
  return llvm::any_of(table, [&](const Row &row) {
    return row.multiply == multiply && row.groups == groups && row.a.has(a) && row.b.has(b);
  });
}

/// Reads the schedule. Only MatmulSizes and readWindow() read it as well.
MatmulPlan::MatmulPlan(MatmulSource read, const CpuTarget &cpu)
    : MatmulSource(std::move(read)), cpu(cpu), product(&productOf(source, cpu)), groupSize(product->group),
      sizes(cpu, accumulator, source), fuses(mayFuse && cpu.math.hasFma) {
  const cpu::MatmulScheduleAttr schedule = matmulScheduleOf(source);
  packsAlongPositions = schedule.getWindow() == cpu::WindowRead::positions;
  readsImage = schedule.getWindow() == cpu::WindowRead::image;
  evenDepth = schedule.getDepth() != cpu::DepthFact::any;
  wholeRuns = schedule.getDepth() == cpu::DepthFact::runs;
  fewRows = schedule.getFewRows();
  scales = schedule.getScales();
}

FailureOr<MatmulPlan> MatmulPlan::of(const KernelSource &source, const CpuTarget &cpu) {
  FailureOr<MatmulSource> matmul = MatmulSource::read(source);
  if (failed(matmul) || failed(checkProduct(source, cpu, matmul->contraction.getDpsInputOperands())))
    return failure();
  MatmulPlan plan(std::move(*matmul), cpu);
  if (failed(plan.checkDepth()) || failed(plan.readPanels()) || failed(plan.readWindow()) || failed(plan.choose()))
    return failure();
  return plan;
}

LogicalResult MatmulPlan::checkDepth() {
  if (groupSize != 1 && group[depthRole].size() != 1 && !(groupSize == 2 && wholeRuns))
    return source.function.emitError() << reportName(product->product) << " with several K dims; expected one";
  return success();
}

LogicalResult MatmulPlan::readPanels() {
  if (prologue[1])
    for (OpOperand *input : prologue[1].getDpsInputOperands())
      if (source.formOf(input->get()).panels && failed(readPanels(prologue[1], *input)))
        return failure();
  OpOperand *operand = contraction.getDpsInputOperand(1);
  panels = prologue[1] ? std::nullopt : source.formOf(operand->get()).panels;
  return panels ? readPanels(contraction, *operand) : success();
}

/// Checks that the operand's dims are those of K and of the columns, and that a vector of sums has as many columns as a
/// panel.
LogicalResult MatmulPlan::readPanels(linalg::GenericOp generic, OpOperand &operand) {
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
    return generic.emitError() << "panels of " << layout.columns << " columns, groups of " << layout.group
                               << ", along axis " << layout.depth << " are not supported";
  readsPanels = true;
  wordGroup = layout.group;
  return success();
}

LogicalResult MatmulPlan::readWindow() {
  const Value operand = contraction.getInputs()[0];
  window = prologue[0] ? std::nullopt : source.formOf(operand).window;
  const cpu::WindowRead read = matmulScheduleOf(source).getWindow();
  if (!window && read != cpu::WindowRead::rows)
    return source.function.emitError() << "a schedule with window = " << stringifyWindowRead(read)
                                       << " for a kernel whose left operand is not a window; expected window = rows";
  if (!window)
    return success();
  const auto isWhole = [](int64_t baseDilation) { return baseDilation == 1; };
  const bool goesForward = window->stride.back() > 0 && window->baseDilation.back() == 1;
  if ((packsAlongPositions && !goesForward) ||
      (readsImage && !(goesForward && llvm::all_of(window->baseDilation, isWhole))))
    return contraction.emitError() << "a schedule with window = " << stringifyWindowRead(read)
                                   << " for a window with base dilation or a stride below 1; expected window = rows";
  const size_t lookupArguments = size_t(source.form.lookupArguments);
  const bool readsGroups = !packsAlongPositions && (lanesAlongDepth(0) || groupSize == 2);
  if ((groupSize != 1 && !readsGroups) || lookupArguments != 4 * window->rank() + 1)
    return contraction.emitError() << "a window with " << window->rank() << " spatial axes and " << lookupArguments
                                   << " lookup arguments, in groups of " << groupSize << ", is not supported";
  const bool isPlain = groupSize == 1 && factorOf(0) == contraction.getBody()->getArgument(0) &&
                       getElementTypeOrSelf(operand) == accumulator;
  if (readsImage && !(lanesAlongDepth(0) && (isPlain || (groupSize == 2 && evenDepth))))
    return contraction.emitError()
           << "reading a window of " << getElementTypeOrSelf(operand)
           << " directly from the image is not supported; expected channels innermost, of the accumulator's type "
           << accumulator << " or an even number of bf16 for vdpbf16ps";
  return success();
}

LogicalResult MatmulPlan::choose() {
  multiply = chooseMultiply();
  a = chooseReadA();
  b = chooseReadB();
  if (!product->signedOperands)
    bias = panels && panels->bits == 4 ? 8 : 128;
  // The correction for the bias is stored after packed rows.
  if (!isLegal(multiply, groupSize > 1, a, b) || (bias != 0 && a != ReadA::packedRows))
    return contraction.emitError() << "product " << reportName(product->product) << " with the left operand "
                                   << wordsOf(a) << " and the right operand " << wordsOf(b) << " is not supported";
  if (scales && (multiply == Multiply::dots || multiply == Multiply::imageLines || lanesAlongDepth(1) || readsPanels ||
                 !accumulator.isF32()))
    return contraction.emitError() << "a schedule with scales = true; expected sums of f32 and a right operand in rows";
  if (readsPanels && b == ReadB::inPlace)
    depthOfWord = wordGroup / groupSize;
  looksUpInWords = findLookups();
  sumsAreResult = findCopy();
  return success();
}

bool MatmulPlan::haveOneDim(std::initializer_list<MatmulRole> roles) const {
  return llvm::all_of(roles, [&](MatmulRole role) { return group[role].size() == 1; });
}

Multiply MatmulPlan::chooseMultiply() const {
  if (!window && fewRows && !ordered() && groupSize == 1 && !panels && cpu.hasMaskedMemory &&
      haveOneDim({rowRole, columnRole, depthRole}) && lanesAlongDepth(0) && lanesAlongDepth(1))
    return Multiply::dots;
  if (product->usesTiles())
    return Multiply::amxTiles;
  return readsImage ? Multiply::imageLines : Multiply::registers;
}

ReadA MatmulPlan::chooseReadA() const {
  if (multiply == Multiply::dots)
    return ReadA::inPlace;
  if (readsImage)
    return ReadA::image;
  const bool alongDepth = lanesAlongDepth(0), isMatrix = !window && !prologue[0] && haveOneDim({rowRole, depthRole});
  if (isMatrix && groupSize == 2 && alongDepth && evenDepth)
    return ReadA::pairsInPlace;
  // If K is not the last axis of A, each index of K reads different cache lines. A CPU with few registers has too few
  // multiply-adds per index of K to hide the latency.
  constexpr int64_t manyRegisters = 32;
  if (isMatrix && (alongDepth || cpu.vectorRegisters >= manyRegisters) &&
      getElementTypeOrSelf(contraction.getInputs()[0]) == accumulator &&
      factorOf(0) == contraction.getBody()->getArgument(0))
    return ReadA::inPlace;
  if (multiply == Multiply::amxTiles || alongDepth != packsAlongPositions)
    return ReadA::packedRows;
  // In panels, adjacent indices of K share a cache line. The micro-kernel's groups of rows must not cross a panel
  // boundary.
  const auto divides = [&](int64_t rows) { return sizes.lanes % rows == 0; };
  const bool fitsPanels = llvm::all_of(sizes.panelRows, divides) && llvm::all_of(sizes.vectorRows, divides);
  return !window && groupSize == 1 && fitsPanels ? ReadA::packedPanels : ReadA::packedColumns;
}

ReadB MatmulPlan::chooseReadB() const {
  if (groupSize > 1)
    return panels ? ReadB::inPlace : ReadB::packedTile;
  // The core that reads the image takes packed strips only.
  const bool isInPlace = multiply == Multiply::dots || (fewRows && !readsImage && !lanesAlongDepth(1));
  return isInPlace ? ReadB::inPlace : ReadB::packedStrip;
}

bool MatmulPlan::findLookups() const {
  return depthOfWord > 1 && groupSize == 1 && prologue[1] && haveOneDim({depthRole}) &&
         !prologue[1].getBody()->getOps<tensor::ExtractOp>().empty() &&
         llvm::any_of(prologue[1].getDpsInputOperands(), [&](OpOperand *input) {
           return llvm::equal(source.accessOf(prologue[1], *input).dims, group[depthRole]);
         });
}

std::string MatmulPlan::narrowElement(int side) const {
  MLIRContext *context = contraction.getContext();
  const Value factor = factorOf(side), bits = contraction.getBody()->getArgument(unsigned(side));
  if (bits.getType().isInteger(16) && accumulator.isF32())
    for (const FloatType narrow : {FloatType(BFloat16Type::get(context)), FloatType(Float16Type::get(context))})
      if (isWidenedNarrow(factor, bits, narrow))
        return narrow.isBF16() ? "bf16" : "f16";
  return "";
}

bool MatmulPlan::isMatrix(int side) const {
  OpOperand *operand = contraction.getDpsInputOperand(unsigned(side));
  const bool isWhole = getElementTypeOrSelf(operand->get()) == accumulator &&
                       factorOf(side) == contraction.getBody()->getArgument(unsigned(side));
  const bool isPlain = groupSize > 1 || isWhole || !narrowElement(side).empty();
  const TensorForm &form = source.formOf(operand->get());
  if (prologue[size_t(side)] || form.panels || form.window || !isPlain)
    return false;
  const SmallVector<int> &columns = group[side == 0 ? rowRole : columnRole];
  SmallVector<int> expected(lanesAlongDepth(side) ? columns : group[depthRole]);
  llvm::append_range(expected, lanesAlongDepth(side) ? group[depthRole] : columns);
  const TensorAccess access = source.accessOf(contraction, *operand);
  return !columns.empty() && !group[depthRole].empty() && access.dims.size() >= expected.size() &&
         llvm::equal(ArrayRef<int>(access.dims).take_back(expected.size()), expected);
}

bool MatmulPlan::findCopy() const {
  Operation *yield = epilogue.getBody()->getTerminator();
  return groupSize == 1 && haveOneDim({rowRole, columnRole}) && epilogue.getNumDpsInputs() == 1 &&
         epilogue.getNumResults() == 1 && combiners[0].empty() && multiply != Multiply::dots &&
         yield->getOperand(0) == epilogue.getBody()->getArgument(0) &&
         epilogue.getMatchingIndexingMap(epilogue.getDpsInitOperand(0)).isIdentity();
}

std::string MatmulPlan::method() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (product->product == cpu::Product::multiply_add)
    out << accumulator << " ";
  out << reportName(product->product);
  if (multiply == Multiply::amxTiles)
    out << ", " << 2 * sizes.lanes << " x " << 2 * sizes.lanes << " sums in tiles";
  else if (multiply == Multiply::dots)
    out << " along K, both operands in place";
  else
    out << ", " << sizes.panelRows[0] << " x " << sizes.columns() << " sums in registers";
  return text;
}

} // namespace halftone::compiler
