// Functions that multiply matrices in scratch.
// SPDX-License-Identifier: Apache-2.0
//
//   for strip of columns: for a few rows: sums in registers; for k: sums += a[rows][k] * b[k][strip]
#include "compiler/targets/cpu/attention/TileProduct.h"
#include "compiler/targets/cpu/x86/AmxTiles.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace halftone::compiler {
using namespace mlir;

SumShapes shapesOfManyRows(const CpuTarget &target, const MatmulSizes &sizes) {
  SumShapes shapes{{sizes.vectors, {sizes.panelRows.begin(), sizes.panelRows.end()}}};
  const bool hasMany = target.vectorRegisters >= 32;
  if (sizes.vectors > 2) // strips of one vector wait for their elements of a
    shapes.push_back({2, hasMany ? SmallVector<int64_t, 4>{12, 4, 1} : SmallVector<int64_t, 4>{6, 2, 1}});
  shapes.push_back({1, {sizes.vectorRows.begin(), sizes.vectorRows.end()}});
  return shapes;
}

SumShapes shapesOfEights(const CpuTarget &target, const MatmulSizes &sizes) {
  if (target.vectorRegisters < 32)
    return shapesOfManyRows(target, sizes);
  SumShapes shapes;
  for (const int64_t vectors : {3, 2, 1})
    shapes.push_back({vectors, {8, 4, 2, 1}});
  return shapes;
}

/// The depth runs along the columns of a.
TileProduct::TileProduct(KernelFrame &frame, StringRef name, const ProductRow &product, Shapes shapesOf, bool widens)
    : frame(frame), product(product), widens(widens),
      shapes(shapesOf(frame.target, MatmulSizes(frame.target, frame.getF32Type(), product))) {
  CodeBuilder code(frame.getLoc(), frame.code.getOperation());
  const Type pointer = LLVM::LLVMPointerType::get(code.getContext()), i64 = code.getI64Type();
  const SmallVector<Type> types{pointer, i64, i64, pointer, i64, pointer, i64, i64, i64, i64, code.getI1Type()};
  function = func::FuncOp::create(code, name, code.getFunctionType(types, {}));
  function.setPrivate();
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(code.getContext(), LLVM::Linkage::Internal));
  Block *entry = function.addEntryBlock();
  code.setInsertionPointToStart(entry);
  const auto argument = [&](unsigned number) { return code.wrap(entry->getArgument(number)); };
  inside = {{argument(0), argument(1), argument(2)},
            {argument(3), argument(4)},
            {argument(5), argument(6)},
            argument(7),
            argument(8),
            argument(9)};
  insideContinues = argument(10);
  emitBody(code);
  func::ReturnOp::create(code);
}

void TileProduct::call(const TileProductCall &call) {
  const Emitted continues = frame.constant(frame.getBoolAttr(call.continues));
  func::CallOp::create(frame, function,
                       plain({call.a.at, call.a.rowPitch, call.a.columnPitch, call.b.at, call.b.pitch, call.c.at,
                              call.c.pitch, call.rows, call.columns, call.depth, continues}));
}

void TileProduct::emitBody(CodeBuilder &code) {
  if (product.usesTiles() && !widens)
    return emitSquares(code);
  Emitted begin = code.constant(0);
  for (const SumShape &shape : shapes) {
    const Emitted step = code.constant(shape.vectors * frame.lanes),
                  end = begin + (inside.columns - begin) / step * step;
    code.loop(begin, end, step, [&](Emitted column) { emitRows(code, column, shape); });
    begin = end;
  }
}

void TileProduct::emitSquares(CodeBuilder &code) {
  forTilePairs(code, inside.columns, [&](Emitted column, int64_t across) {
    forTilePairs(code, inside.rows, [&](Emitted row, int64_t down) { emitSquare(code, row, down, column, across); });
  });
}

void TileProduct::emitSquare(CodeBuilder &code, Emitted row, int64_t down, Emitted column, int64_t across) {
  const auto addressOf = [&](Emitted start, Emitted pitch, Emitted line, Emitted offset) {
    return TileAddress{code.address(start, code.getF32Type(), line * pitch + offset), pitch * tileElementBytes};
  };
  TileSquare square;
  for (int64_t i = 0; i < down; ++i) {
    square.sums.emplace_back();
    for (int64_t j = 0; j < across; ++j)
      square.sums.back().push_back(addressOf(inside.c.at, inside.c.pitch, row + i * tileSide, column + j * tileSide));
  }
  beginTiles(code, square, insideContinues);
  code.loop(code.constant(0), inside.depth, code.constant(tileSide), [&](Emitted k) {
    SmallVector<TileAddress> rows, columns;
    for (int64_t i = 0; i < down; ++i)
      rows.push_back(addressOf(inside.a.at, inside.a.rowPitch, row + i * tileSide, k));
    for (int64_t j = 0; j < across; ++j)
      columns.push_back(addressOf(inside.b.at, inside.b.pitch, k, column + j * tileSide));
    multiplyTiles(code, reportName(product.product), rows, columns);
  });
  storeTiles(code, square);
}

void TileProduct::emitRows(CodeBuilder &code, Emitted column, const SumShape &shape) {
  Emitted begin = code.constant(0);
  for (int64_t count : shape.rows) {
    const Emitted step = code.constant(count), end = begin + (inside.rows - begin) / step * step;
    code.loop(begin, end, step, [&](Emitted row) { emitTile(code, row, column, count, shape.vectors); });
    begin = end;
  }
}

void TileProduct::emitTile(CodeBuilder &code, Emitted row, Emitted column, int64_t rows, int64_t vectors) {
  const Type f32 = code.getF32Type();
  const auto at = [&](Emitted start, Emitted offset) { return code.address(start, f32, offset); };
  const auto addressOf = [&](int64_t line, int64_t vector) {
    return at(inside.c.at, (row + line) * inside.c.pitch + column + vector * frame.lanes);
  };
  Values sums;
  for (int64_t line = 0; line < rows; ++line)
    for (int64_t vector = 0; vector < vectors; ++vector)
      sums.push_back(select(insideContinues, code.load(lanes(f32), addressOf(line, vector), vectorAlignment()),
                            code.zero(lanes(f32))));
  const Emitted a = at(inside.a.at, row * inside.a.rowPitch), b = at(inside.b.at, column);
  sums = code.loop(code.constant(0), inside.depth, code.constant(1), sums, [&](Emitted k, const Values &now) {
    Values next, strip;
    for (int64_t vector = 0; vector < vectors; ++vector)
      strip.push_back(code.load(lanes(f32), at(b, k * inside.b.pitch + vector * frame.lanes), vectorAlignment()));
    for (int64_t line = 0; line < rows; ++line) {
      const Emitted element =
          code.splat(code.load(f32, at(a, k * inside.a.columnPitch + inside.a.rowPitch * line)), frame.lanes);
      for (int64_t vector = 0; vector < vectors; ++vector) {
        const Emitted sum = now[next.size()];
        next.push_back(multiplyAdd(code, element, strip[size_t(vector)], sum));
      }
    }
    return next;
  });
  for (int64_t line = 0; line < rows; ++line)
    for (int64_t vector = 0; vector < vectors; ++vector)
      code.store(sums[size_t(line * vectors + vector)], addressOf(line, vector), vectorAlignment());
}

Emitted TileProduct::multiplyAdd(CodeBuilder &code, Emitted a, Emitted b, Emitted sum) const {
  if (product.group == 1 && frame.target.math.hasFma)
    return code.wrap(math::FmaOp::create(code, a.value(), b.value(), sum.value()));
  return widens ? product.multiplyWidened(code, sum, a, b) : product.multiply(code, sum, a, b);
}

} // namespace halftone::compiler
