// Tiles of products by mma.sync.
// SPDX-License-Identifier: Apache-2.0
//
//   begin to move the first stages
//   for each stage: wait for it; begin to move a later one; for 32 bytes of K: fragments of rows and columns, products
#include "compiler/targets/nvptx/MatmulMma.h"
#include "compiler/kernels/NarrowFloat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

static constexpr int64_t chunkBytes = 16;

/// Returns true if the contraction only widens elements of operand `side` from `factor`.
static bool takesFactor(const MatmulSource &source, int side, DType factor) {
  const Value stored = source.contraction.getBody()->getArgument(unsigned(side)), widened = source.factorOf(side);
  if (factor == DType::int8)
    return stored.getType().isInteger(8) && matchPattern(widened, m_Op<arith::ExtSIOp>(matchers::m_Val(stored)));
  Builder builder(source.contraction);
  return stored.getType().isInteger(16) &&
         isWidenedNarrow(widened, stored,
                         factor == DType::float16 ? FloatType(builder.getF16Type()) : builder.getBF16Type());
}

LogicalResult checkFactors(const MatmulSource &source, const MmaInstruction &instruction) {
  const bool sums =
      instruction.accumulator == DType::int32 ? source.accumulator.isInteger(32) : source.accumulator.isF32();
  for (int side = 0; side < 2; ++side)
    if (!sums || !takesFactor(source, side, instruction.factor))
      return source.source.function.emitError()
             << instruction.name << " with factors of "
             << getElementTypeOrSelf(source.contraction.getInputs()[unsigned(side)]) << " in memory and sums of "
             << source.accumulator << "; expected " << StringRef(name(instruction.factor)) << " and "
             << StringRef(name(instruction.accumulator));
  return success();
}

FragmentStage::FragmentStage(const MatmulCta &cta, int side, int64_t factorBytes)
    : MatmulStage(cta, side, chunkBytes / factorBytes), factorBytes(factorBytes),
      linesAlongDepth(alongDepth || factorBytes == 1) {}

bool FragmentStage::isCopied() const {
  const ArrayRef<int> lines = source.group[alongDepth ? (side == 0 ? rowRole : columnRole) : depthRole];
  return lanes.count > 0 && linesAlongDepth == alongDepth && !source.prologue[size_t(side)] && lines.size() == 1;
}

Values FragmentStage::begin() {
  if (!isCopied())
    return {};
  const MatmulRole role = side == 0 ? rowRole : columnRole;
  const Position first = positionOf(frame.constant(0));
  const Emitted size = cta.size[depthRole], none = frame.constant(0);
  const Emitted rowsLeft =
      minimum(cta.size[role] - (side == 0 ? cta.firstRow : cta.firstColumn) - first.row, frame.constant(rows));
  const Emitted depthLeft = remainderUnsigned(size, frame.constant(depth)) - first.depth;
  const Type i32 = frame.getI32Type();
  wholeStages = divideUnsigned(size, frame.constant(depth)).narrow(i32);
  linesInside = (alongDepth ? rowsLeft : select(rowsLeft > 0, frame.constant(depth), none)).narrow(i32);
  lastLines = (alongDepth ? select(depthLeft > 0, rowsLeft, none) : select(rowsLeft > 0, depthLeft, none)).narrow(i32);

  OpOperand *input = source.contraction.getDpsInputOperand(side);
  lineStride = frame.constant(1);
  for (int dim : llvm::reverse(source.source.accessOf(source.contraction, *input).dims)) {
    if (dim == source.group[alongDepth ? role : depthRole].front())
      break;
    lineStride = lineStride * (dim < 0 ? frame.constant(1) : frame.extents[size_t(dim)]);
  }
  return frame.choose(
      none < size, [&] { return Values{copiedFrom(none)}; },
      [&] { return Values{frame.storage.lookup(input->get()).pointer}; });
}

/// The address of this thread's first chunk of the stage from index `firstDepth` of K on.
Emitted FragmentStage::copiedFrom(Emitted firstDepth) const {
  const Position first = positionOf(frame.constant(0));
  cta.moveTo(side == 0 ? rowRole : columnRole, (side == 0 ? cta.firstRow : cta.firstColumn) + first.row);
  cta.moveTo(depthRole, firstDepth + first.depth);
  OpOperand *input = source.contraction.getDpsInputOperand(side);
  const TensorStorage from = frame.storage.lookup(input->get());
  return frame.address(from.pointer, from.element, frame.offset(source.source.accessOf(source.contraction, *input)));
}

/// Starts all copies of this thread. The thread copies one chunk of each of several lines with a constant stride; the
/// chunk of the first line is at `from`.
Values FragmentStage::copy(Emitted number, Emitted from) const {
  const Position first = positionOf(frame.constant(0));
  const Type element = frame.storage.lookup(source.contraction.getDpsInputOperand(side)->get()).element;
  const Emitted none = number.like(0);
  const Emitted lines = select(number < wholeStages, linesInside, select(equal(number, wholeStages), lastLines, none));
  const Emitted stride = lineStride * spacing();
  Emitted address = from;
  for (int64_t line = 0; line < chunks() * spacing(); line += spacing()) {
    const Position to = alongDepth ? Position{first.row + line, first.depth} : Position{first.row, first.depth + line};
    const Emitted bytes = select(lines > line, number.like(chunkBytes), none); // the other chunks become 0
    NVVM::CpAsyncOp::create(frame, elementAt(to).value(), address.value(), uint32_t(chunkBytes),
                            NVVM::LoadCacheModifierKind::CG, bytes.value());
    address = frame.address(address, element, stride);
  }
  if (source.group[depthRole].size() > 1)
    return {copiedFrom(frame.asIndex(number + 1) * depth)};
  return {frame.address(from, element, alongDepth ? frame.constant(depth) : lineStride * depth)};
}

/// Emits a loop that is not unrolled: otherwise the elements loaded by all iterations would displace the sums from
/// registers.
static void rolledLoop(CodeBuilder &builder, int64_t count, llvm::function_ref<void(Emitted)> body) {
  builder.loop(builder.constant(0), builder.constant(count), builder.constant(1), body);
  const auto unroll =
      LLVM::LoopUnrollAttr::get(builder.getContext(), /*disable=*/builder.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  std::prev(builder.getInsertionPoint())
      ->setAttr("loop_annotation", LLVM::LoopAnnotationAttr::get(builder.getContext(), {}, {}, {}, unroll, {}, {}, {},
                                                                 {}, {}, {}, {}, {}, {}, {}, {}));
}

Values FragmentStage::move(Emitted number, ArrayRef<Emitted> at) const {
  if (isCopied())
    return copy(number, at[0]);
  const Emitted firstDepth = frame.asIndex(number) * depth;
  frame.branch(firstDepth < cta.size[depthRole], [&] {
    rolledLoop(frame, chunks(), [&](Emitted index) { store(index, load(index, firstDepth), firstDepth); });
  });
  return {};
}

/// The address of a line's `chunk`-th 16 bytes.
Emitted FragmentStage::chunkAt(Emitted line, Emitted chunk) const {
  constexpr int64_t banksBytes = 128;
  const int64_t lines = linesAlongDepth ? rows : depth, lineBytes = (linesAlongDepth ? depth : rows) * factorBytes;
  const int64_t panelBytes = std::min(lineBytes, banksBytes), inPanel = panelBytes / chunkBytes;
  const int64_t linesInBanks = banksBytes / panelBytes;
  Emitted swizzle = divideUnsigned(line, line.like(linesInBanks));
  if (linesAlongDepth != alongDepth) // adjacent threads store to lines that are a chunk's elements apart
    swizzle = swizzle ^ divideUnsigned(line, line.like(this->chunk));
  swizzle = swizzle & (inPanel - 1);
  const Emitted panel = divideUnsigned(chunk, chunk.like(inPanel)) * (lines * panelBytes);
  const Emitted offset = panel + line * panelBytes + ((chunk & (inPanel - 1)) ^ swizzle) * chunkBytes;
  return frame.address(shared, frame.getI8Type(), offset);
}

Emitted FragmentStage::elementAt(const Position &position) const {
  const Emitted line = linesAlongDepth ? position.row : position.depth,
                along = linesAlongDepth ? position.depth : position.row;
  const Emitted inChunk = along & (chunk - 1);
  return frame.address(chunkAt(line, divideUnsigned(along, along.like(chunk))), frame.getI8Type(),
                       inChunk * factorBytes);
}

void FragmentStage::put(const Position &position, Emitted factors) const {
  if (linesAlongDepth == alongDepth)
    return frame.store(factors, elementAt(position), chunkBytes);
  for (int64_t lane = 0; lane < chunk; ++lane)
    frame.store(laneOf(frame, factors, lane), elementAt({position.row + lane, position.depth}));
}

Values FragmentStage::fragments(Emitted row, int64_t depth) const {
  // ldmatrix takes the addresses of 8 lines of each of its four 8 x 8 matrices from 8 lanes. A's matrices advance along
  // rows first, B's along K.
  const Emitted inMatrix = frame.lane & 7, firstHalf = (frame.lane >> 3) & 1, secondHalf = frame.lane >> 4;
  const Emitted rowHalf = side == 0 ? firstHalf : secondHalf, depthHalf = side == 0 ? secondHalf : firstHalf;
  Emitted line = row + inMatrix + rowHalf * 8, at = depthHalf + depth / chunk;
  if (!linesAlongDepth) {
    line = inMatrix + depthHalf * 8 + depth;
    at = divideUnsigned(row, row.like(chunk)) + rowHalf;
  }
  const Type i32 = frame.getI32Type();
  const auto four = LLVM::LLVMStructType::getLiteral(frame.getContext(), {i32, i32, i32, i32});
  const auto layout = linesAlongDepth ? NVVM::MMALayout::row : NVVM::MMALayout::col;
  const Value all =
      NVVM::LdMatrixOp::create(frame, four, chunkAt(line, at).value(), 4, layout,
                               NVVM::LdStMatrixShapeAttr::get(frame.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
  Values parts;
  for (int64_t part = 0; part < 4; ++part)
    parts.push_back(frame.wrap(LLVM::ExtractValueOp::create(frame, all, part)));
  return parts;
}

MatmulMma::MatmulMma(const MatmulCta &cta, const MmaInstruction &instruction)
    : cta(cta), frame(cta.frame), instruction(instruction),
      stages{FragmentStage(cta, 0, instruction.factorBytes()), FragmentStage(cta, 1, instruction.factorBytes())} {
  constexpr int64_t limit = 4, sharedBytes = 96 * 1024; // available on all GPUs of this target
  const bool copies = stages[0].isCopied() || stages[1].isCopied();
  slots = copies ? std::min(limit, sharedBytes / slotBytes()) : 2;
  const Emitted across = frame.constant(cta.tiling.across());
  firstRow = divideUnsigned(frame.warp, across) * cta.tiling.partRows;
  firstColumn = remainderUnsigned(frame.warp, across) * cta.tiling.partColumns;
}

void MatmulMma::multiplyAdd(ArrayRef<Emitted> a, ArrayRef<Emitted> b, MutableArrayRef<Emitted> sums) const {
  const Type accumulator = cta.source.accumulator;
  const auto four =
      LLVM::LLVMStructType::getLiteral(frame.getContext(), {accumulator, accumulator, accumulator, accumulator});
  const auto typed = [&](ArrayRef<Emitted> parts) {
    SmallVector<Value> values = plain(parts);
    if (instruction.factor == DType::float16)
      for (Value &value : values)
        value = LLVM::BitcastOp::create(frame, VectorType::get(2, frame.getF16Type()), value);
    return values;
  };
  const auto type = instruction.factor == DType::float16    ? NVVM::MMATypes::f16
                    : instruction.factor == DType::bfloat16 ? NVVM::MMATypes::bf16
                                                            : NVVM::MMATypes::s8;
  const std::optional<NVVM::MMAIntOverflow> overflow =
      instruction.isExact ? std::optional(NVVM::MMAIntOverflow::wrapped) : std::nullopt;
  const Value next = NVVM::MmaOp::create(
      frame, four, typed(a), typed(b), plain(sums), {mmaRows, mmaColumns, instruction.depth}, std::nullopt, overflow,
      std::array{type, type}, std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  for (auto [part, sum] : llvm::enumerate(sums))
    sum = frame.wrap(LLVM::ExtractValueOp::create(frame, next, int64_t(part)));
}

Values MatmulMma::multiply(const Values &sums) const {
  const int64_t fragmentRows = 16; // of fragments()
  Values next = sums;
  for (int64_t depth = 0; depth < cta.tiling.depth; depth += instruction.depth) {
    SmallVector<Values> a, b;
    for (int64_t row = 0; row < cta.tiling.partRows; row += fragmentRows)
      a.push_back(stages[0].fragments(firstRow + row, depth));
    for (int64_t column = 0; column < cta.tiling.partColumns; column += fragmentRows) {
      const Values both = stages[1].fragments(firstColumn + column, depth);
      b.push_back({both[0], both[1]});
      b.push_back({both[2], both[3]});
    }
    MutableArrayRef<Emitted> rest = next;
    for (const Values &rows : a)
      for (const Values &columns : b) {
        multiplyAdd(rows, columns, rest.take_front(4));
        rest = rest.drop_front(4);
      }
  }
  return next;
}

void MatmulMma::useSlot(Emitted slot) {
  stages[0].place(slot);
  stages[1].place(frame.address(slot, frame.getI8Type(), frame.constant(stages[0].bytes())));
}

Values MatmulMma::begin(Emitted slot, Emitted number, ArrayRef<Emitted> at) {
  useSlot(slot);
  Values next;
  for (const FragmentStage &stage : stages) {
    const size_t own = stage.isCopied() ? 1 : 0;
    llvm::append_range(next, stage.move(number, at.take_front(own)));
    at = at.drop_front(own);
  }
  NVVM::CpAsyncCommitGroupOp::create(frame);
  return next;
}

Values MatmulMma::sums(Emitted shared) {
  const int64_t depth = cta.tiling.depth, ahead = slots - 1;
  const Emitted zero = frame.constant(frame.getI32IntegerAttr(0)), last = zero.like(ahead * slotBytes());
  const auto slotAt = [&](Emitted offset) { return frame.address(shared, frame.getI8Type(), offset); };
  Values at = stages[0].begin();
  llvm::append_range(at, stages[1].begin());
  for (int64_t slot = 0; slot < ahead; ++slot)
    at = begin(slotAt(zero.like(slot * slotBytes())), zero.like(slot), at);
  Values carried(size_t(cta.tiling.partRows * cta.tiling.partColumns / cta.tiling.workers),
                 frame.zero(cta.source.accumulator));
  const size_t count = carried.size();
  carried.append({zero, last}); // the slots for reading and writing
  llvm::append_range(carried, at);
  const auto step = [&](Emitted number, const Values &now) {
    const Emitted reads = now[count], writes = now[count + 1];
    NVVM::CpAsyncWaitGroupOp::create(frame, uint32_t(ahead - 1));
    frame.barrier(); // this stage is complete, and all warps have read the previous one
    const Values following = begin(slotAt(writes), number + ahead, ArrayRef<Emitted>(now).drop_front(count + 2));
    useSlot(slotAt(reads));
    Values next = multiply(Values(ArrayRef<Emitted>(now).take_front(count)));
    for (const Emitted &slot : {reads, writes})
      next.push_back(select(equal(slot, last), zero, slot + slotBytes()));
    llvm::append_range(next, following);
    return next;
  };
  const Emitted stageCount = ceilDivideUnsigned(cta.size[depthRole], frame.constant(depth)).narrow(zero.type());
  Values done = frame.loop(zero, stageCount, zero.like(1), carried, step);
  NVVM::CpAsyncWaitGroupOp::create(frame, uint32_t(0));
  done.truncate(count);
  return done;
}

void MatmulMma::put(const Values &sums, int64_t chunk, const MatmulTileEpilogue &epilogue) const {
  // A lane has two adjacent sums of a row, and two of the eighth row below it.
  const Emitted line = frame.lane >> 2, pair = (frame.lane & 3) * 2;
  const int64_t first = chunk * chunkColumns();
  const auto inside = [&] {
    ArrayRef<Emitted> rest = sums;
    for (int64_t row = 0; row < cta.tiling.partRows; row += mmaRows)
      for (int64_t column = 0; column < cta.tiling.partColumns; column += mmaColumns)
        for (int64_t below = 0; below < mmaRows; below += mmaRows / 2) {
          epilogue.put(joined(frame, rest.take_front(2)), firstRow + line + (row + below),
                       firstColumn + pair + (column - first));
          rest = rest.drop_front(2);
        }
  };
  frame.branch((firstColumn >= first) & (firstColumn < first + chunkColumns()), inside);
}

} // namespace halftone::compiler
