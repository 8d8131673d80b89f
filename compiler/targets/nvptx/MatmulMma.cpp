// mma.sync over a tile.
// SPDX-License-Identifier: Apache-2.0
//
//   begin to move the first stages
//   for each stage: wait for it; begin to move a later one; for 32 bytes of K: fragments of rows and columns, products
#include "compiler/targets/nvptx/MatmulMma.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

static constexpr int64_t chunkBytes = 16;

int64_t factorBytes(const MmaInstruction &instruction) { return 32 / instruction.depth; }

LogicalResult checkFactors(const MatmulSource &source, const MmaInstruction &instruction) {
  for (Value factor : source.contraction.getInputs())
    if (!getElementTypeOrSelf(factor).isInteger(unsigned(8 * factorBytes(instruction))))
      return source.source.function.emitError()
             << source.source.form.instruction << " with factors of " << getElementTypeOrSelf(factor);
  return success();
}

FragmentStage::FragmentStage(const MatmulCta &cta, int side, int64_t factorBytes)
    : MatmulStage(cta, side, chunkBytes / factorBytes), factorBytes(factorBytes),
      linesAlongDepth(alongDepth || factorBytes == 1) {}

bool FragmentStage::isCopied() const {
  const ArrayRef<int> lines = source.group[alongDepth ? (side == 0 ? rowRole : columnRole) : depthRole];
  return lanes.count > 0 && linesAlongDepth == alongDepth && !source.prologue[size_t(side)] && lines.size() == 1;
}

/// Begins all copies of this thread. Its chunks are evenly spaced lines.
void FragmentStage::copy(Emitted firstDepth) const {
  const MatmulRole role = side == 0 ? rowRole : columnRole;
  const Place first = placeOf(frame.constant(0));
  const Emitted row = (side == 0 ? cta.firstRow : cta.firstColumn) + first.row, at = firstDepth + first.depth;
  cta.moveTo(role, row);
  cta.moveTo(depthRole, at);
  OpOperand *input = source.contraction.getDpsInputOperand(side);
  const TensorAccess access = source.source.accessOf(source.contraction, *input);
  const TensorStorage from = frame.storage.lookup(input->get());
  Emitted address = frame.address(from.pointer, from.element, frame.offset(access));

  const int64_t spacing = (alongDepth ? rows : depth) / chunks();
  Emitted stride = frame.constant(spacing);
  for (int dim : llvm::reverse(access.dims)) {
    if (dim == source.group[alongDepth ? role : depthRole].front())
      break;
    stride = stride * (dim < 0 ? frame.constant(1) : frame.extents[size_t(dim)]);
  }
  const Type i32 = frame.getI32Type();
  const auto left = [&](MatmulRole along, Emitted begin) {
    constexpr int64_t many = 1 << 20;
    return minimum(cta.size[along] - begin, begin.like(many)).narrow(i32);
  };
  const Emitted rowsLeft = left(role, row), depthLeft = left(depthRole, at);
  for (int64_t line = 0; line < chunks() * spacing; line += spacing) {
    const int64_t furtherRow = alongDepth ? line : 0, furtherDepth = line - furtherRow;
    const Emitted isInside = (rowsLeft > furtherRow) & (depthLeft > furtherDepth);
    const Emitted bytes = select(isInside, rowsLeft.like(chunkBytes), rowsLeft.like(0)); // the others become 0
    NVVM::CpAsyncOp::create(frame, elementAt({first.row + furtherRow, first.depth + furtherDepth}).value(),
                            address.value(), uint32_t(chunkBytes), NVVM::LoadCacheModifierKind::CG, bytes.value());
    address = frame.address(address, from.element, stride);
  }
}

void FragmentStage::move(Emitted firstDepth) const {
  if (isCopied())
    return copy(firstDepth);
  // Not unrolled: the elements under way would take the registers that hold the sums.
  frame.loop(frame.constant(0), frame.constant(chunks()), frame.constant(1),
             [&](Emitted index) { store(index, load(index, firstDepth), firstDepth); });
}

/// The address of a line's `chunk`-th 16 bytes.
Emitted FragmentStage::chunkAt(Emitted line, Emitted chunk) const {
  constexpr int64_t banksBytes = 128;
  const int64_t lines = linesAlongDepth ? rows : depth, lineBytes = (linesAlongDepth ? depth : rows) * factorBytes;
  const int64_t panelBytes = std::min(lineBytes, banksBytes), inPanel = panelBytes / chunkBytes;
  const int64_t linesInBanks = banksBytes / panelBytes;
  const Emitted turn = divideUnsigned(line, line.like(linesInBanks)) & (inPanel - 1);
  const Emitted panel = divideUnsigned(chunk, chunk.like(inPanel)) * (lines * panelBytes);
  const Emitted offset = panel + line * panelBytes + ((chunk & (inPanel - 1)) ^ turn) * chunkBytes;
  return frame.address(shared, frame.getI8Type(), offset);
}

Emitted FragmentStage::elementAt(const Place &place) const {
  const Emitted line = linesAlongDepth ? place.row : place.depth, along = linesAlongDepth ? place.depth : place.row;
  const Emitted inChunk = along & (chunk - 1);
  return frame.address(chunkAt(line, divideUnsigned(along, along.like(chunk))), frame.getI8Type(),
                       inChunk * factorBytes);
}

void FragmentStage::put(const Place &place, Emitted factors) const {
  if (linesAlongDepth == alongDepth)
    return frame.store(factors, elementAt(place), chunkBytes);
  for (int64_t lane = 0; lane < chunk; ++lane)
    frame.store(laneOf(frame, factors, lane), elementAt({place.row + lane, place.depth}));
}

Values FragmentStage::fragments(Emitted row, int64_t depth) const {
  // ldmatrix takes the addresses of 8 lines of each of its four 8 x 8 matrices from 8 lanes; A's matrices go down rows
  // first, B's along K.
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
      stages{FragmentStage(cta, 0, factorBytes(instruction)), FragmentStage(cta, 1, factorBytes(instruction))} {
  constexpr int64_t most = 4, sharedBytes = 96 * 1024; // which all GPUs of this target have
  const bool copies = stages[0].isCopied() || stages[1].isCopied();
  slots = copies ? std::min(most, sharedBytes / slotBytes()) : 2;
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

void MatmulMma::begin(Emitted slot, Emitted firstDepth) {
  useSlot(slot);
  frame.branch(firstDepth < cta.size[depthRole], [&] {
    for (const FragmentStage &stage : stages)
      stage.move(firstDepth);
  });
  NVVM::CpAsyncCommitGroupOp::create(frame);
}

Values MatmulMma::sums(Emitted shared) {
  const int64_t depth = cta.tiling.depth, ahead = slots - 1;
  const Emitted zero = frame.constant(0), last = frame.constant(ahead * slotBytes());
  const auto slotAt = [&](Emitted offset) { return frame.address(shared, frame.getI8Type(), offset); };
  for (int64_t slot = 0; slot < ahead; ++slot)
    begin(slotAt(frame.constant(slot * slotBytes())), frame.constant(slot * depth));
  Values carried(size_t(cta.tiling.partRows * cta.tiling.partColumns / cta.tiling.workers),
                 frame.zero(cta.source.accumulator));
  const size_t count = carried.size();
  carried.append({zero, last}); // the slots to read and to write
  const auto step = [&](Emitted first, const Values &now) {
    const Emitted reads = now[count], writes = now[count + 1];
    NVVM::CpAsyncWaitGroupOp::create(frame, uint32_t(ahead - 1));
    frame.barrier(); // this stage is there, and all warps have read the one before it
    begin(slotAt(writes), first + ahead * depth);
    useSlot(slotAt(reads));
    Values next = multiply(Values(ArrayRef<Emitted>(now).take_front(count)));
    for (const Emitted &slot : {reads, writes})
      next.push_back(select(equal(slot, last), zero, slot + slotBytes()));
    return next;
  };
  Values done = frame.loop(zero, cta.size[depthRole], frame.constant(depth), carried, step);
  NVVM::CpAsyncWaitGroupOp::create(frame, uint32_t(0));
  done.truncate(count);
  return done;
}

void MatmulMma::put(const Values &sums, int64_t chunk, const MatmulTileEpilogue &epilogue) const {
  // A lane has two neighbouring sums of a row, and of the row eight below.
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
