// Cores that multiply matrices in scratch.
// SPDX-License-Identifier: Apache-2.0
//
//   for strip of columns: for a few rows: sums in registers; for k: sums += a[rows][k] * b[k][strip]
#include "compiler/targets/cpu/attention/TileProduct.h"
#include "compiler/targets/cpu/KernelPasses.h"
#include "compiler/targets/cpu/matmul/MatmulSums.h"
#include "compiler/targets/cpu/x86/AmxTiles.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

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

namespace {

/// The core that computes TileProductCall, whose fields, followed by `continues`, are its arguments. The depth runs along
/// the columns of a.
struct ProductCore {
  Core core() const;

  const ProductRow *product;
  bool fuses;  // a product and an addition are one instruction
  bool widens; // uses ProductRow::multiplyWidened
  int64_t lanes;
  SumShapes shapes; // empty with AMX tiles

private:
  void emit(ModuleOp module) const;
};

/// A builder for the function of a core, which inserts into its entry block.
class ProductCode : public CodeBuilder {
public:
  ProductCode(const ProductCore &core, ModuleOp module);
  void emit();

private:
  void emitRows(Emitted column, const SumShape &shape);
  void emitSquares();
  void emitSquare(Emitted row, int64_t down, Emitted column, int64_t across);
  void emitTile(Emitted row, Emitted column, int64_t rows, int64_t vectors);
  int64_t vectorAlignment() const { return core.lanes * elementBytes(element); }
  Emitted multiplyAdd(Emitted a, Emitted b, Emitted sum);

  const ProductCore &core;
  const Type element;
  const VectorType lanes;
  TileProductCall inside; // the function's arguments
  Emitted continues;
};

ProductCode::ProductCode(const ProductCore &core, ModuleOp module)
    : CodeBuilder(module.getLoc(), module.getContext()), core(core), element(getF32Type()),
      lanes(VectorType::get(core.lanes, element)) {
  setInsertionPointToEnd(module.getBody());
  const Type pointer = LLVM::LLVMPointerType::get(getContext()), i64 = getI64Type();
  const SmallVector<Type> types{pointer, i64, i64, pointer, i64, pointer, i64, i64, i64, i64, getI1Type()};
  auto function = func::FuncOp::create(*this, core.core().symbol, getFunctionType(types, {}));
  markManyPointers(function);
  Block *entry = function.addEntryBlock();
  setInsertionPointToStart(entry);
  const Values all = wrapAll(*this, entry->getArguments());
  inside = {{all[0], all[1], all[2]}, {all[3], all[4]}, {all[5], all[6]}, all[7], all[8], all[9]};
  continues = all[10];
}

void ProductCode::emit() {
  Emitted begin = constant(0);
  for (const SumShape &shape : core.shapes) {
    const Emitted step = constant(shape.vectors * core.lanes), end = begin + (inside.columns - begin) / step * step;
    loop(begin, end, step, [&](Emitted column) { emitRows(column, shape); });
    begin = end;
  }
  if (core.shapes.empty())
    emitSquares();
  func::ReturnOp::create(*this);
}

void ProductCode::emitSquares() {
  forTilePairs(*this, inside.columns, [&](Emitted column, int64_t across) {
    forTilePairs(*this, inside.rows, [&](Emitted row, int64_t down) { emitSquare(row, down, column, across); });
  });
}

void ProductCode::emitSquare(Emitted row, int64_t down, Emitted column, int64_t across) {
  const auto addressOf = [&](Emitted start, Emitted pitch, Emitted line, Emitted offset) {
    return TileAddress{address(start, element, line * pitch + offset), pitch * tileElementBytes};
  };
  TileSquare square;
  for (int64_t i = 0; i < down; ++i) {
    square.sums.emplace_back();
    for (int64_t j = 0; j < across; ++j)
      square.sums.back().push_back(addressOf(inside.c.at, inside.c.pitch, row + i * tileSide, column + j * tileSide));
  }
  beginTiles(*this, square, continues);
  loop(constant(0), inside.depth, constant(tileSide), [&](Emitted k) {
    SmallVector<TileAddress> rows, columns;
    for (int64_t i = 0; i < down; ++i)
      rows.push_back(addressOf(inside.a.at, inside.a.rowPitch, row + i * tileSide, k));
    for (int64_t j = 0; j < across; ++j)
      columns.push_back(addressOf(inside.b.at, inside.b.pitch, k, column + j * tileSide));
    multiplyTiles(*this, reportName(core.product->product), rows, columns);
  });
  storeTiles(*this, square);
}

void ProductCode::emitRows(Emitted column, const SumShape &shape) {
  Emitted begin = constant(0);
  for (int64_t count : shape.rows) {
    const Emitted step = constant(count), end = begin + (inside.rows - begin) / step * step;
    loop(begin, end, step, [&](Emitted row) { emitTile(row, column, count, shape.vectors); });
    begin = end;
  }
}

void ProductCode::emitTile(Emitted row, Emitted column, int64_t rows, int64_t vectors) {
  const auto at = [&](Emitted start, Emitted offset) { return address(start, element, offset); };
  const auto addressOf = [&](int64_t line, int64_t vector) {
    return at(inside.c.at, (row + line) * inside.c.pitch + column + vector * core.lanes);
  };
  Values sums;
  for (int64_t line = 0; line < rows; ++line)
    for (int64_t vector = 0; vector < vectors; ++vector)
      sums.push_back(select(continues, load(lanes, addressOf(line, vector), vectorAlignment()), zero(lanes)));
  const Emitted a = at(inside.a.at, row * inside.a.rowPitch), b = at(inside.b.at, column);
  sums = loop(constant(0), inside.depth, constant(1), sums, [&](Emitted k, const Values &now) {
    Values next, strip;
    for (int64_t vector = 0; vector < vectors; ++vector)
      strip.push_back(load(lanes, at(b, k * inside.b.pitch + vector * core.lanes), vectorAlignment()));
    for (int64_t line = 0; line < rows; ++line) {
      const Emitted factor =
          splat(load(element, at(a, k * inside.a.columnPitch + inside.a.rowPitch * line)), core.lanes);
      for (int64_t vector = 0; vector < vectors; ++vector) {
        const Emitted sum = now[next.size()];
        next.push_back(multiplyAdd(factor, strip[size_t(vector)], sum));
      }
    }
    return next;
  });
  for (int64_t line = 0; line < rows; ++line)
    for (int64_t vector = 0; vector < vectors; ++vector)
      store(sums[size_t(line * vectors + vector)], addressOf(line, vector), vectorAlignment());
}

Emitted ProductCode::multiplyAdd(Emitted a, Emitted b, Emitted sum) {
  const SumRule rule{core.product, core.fuses, /*ordered=*/true, core.widens};
  return MatmulSums(*this, rule, lanes).multiplyAdd(a, b, sum);
}

Core ProductCore::core() const {
  const StringRef name = cpu::stringifyProduct(product->product);
  std::string symbol = fmt::format("{}tile_products_{}", Core::prefix.str(), name.str());
  for (const auto &[holds, word] : {std::pair(fuses, "fused"), std::pair(widens, "widened")})
    if (holds)
      symbol += fmt::format("_{}", word);
  for (const SumShape &shape : shapes)
    symbol += fmt::format("_{}x{}", fmt::join(shape.rows, "_"), shape.vectors * lanes); // columns
  return {std::move(symbol), "products of tiles in scratch", [own = *this](ModuleOp module) { own.emit(module); }};
}

void ProductCore::emit(ModuleOp module) const { ProductCode(*this, module).emit(); }

} // namespace

TileProduct::TileProduct(KernelFrame &frame, const ProductRow &product, Shapes shapes, bool widens) : frame(frame) {
  ProductCore of{&product, frame.target.math.hasFma, widens, frame.lanes, {}};
  if (!product.usesTiles() || widens)
    of.shapes = shapes(frame.target, MatmulSizes(frame.target, frame.getF32Type(), product));
  core = of.core();
}

void TileProduct::call(const TileProductCall &call) {
  const Emitted continues = frame.constant(frame.getBoolAttr(call.continues));
  frame.call(core, {call.a.at, call.a.rowPitch, call.a.columnPitch, call.b.at, call.b.pitch, call.c.at, call.c.pitch,
                    call.rows, call.columns, call.depth, continues});
}

} // namespace halftone::compiler
