// Matmul kernels: operands packed into scratch, multiplied with accumulators in registers, finished by the epilogue.
// SPDX-License-Identifier: Apache-2.0
//
//   for block:
//     for k in steps of `depth`: pack operands that cannot be read in place; for panels, for rows: micro-kernel
//     for row, for lanes of columns: epilogue
#include "compiler/targets/cpu/Matmul.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace halftone;
using namespace halftone::compiler;
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
LogicalResult checkGeneric(linalg::GenericOp generic, size_t dims, ArrayRef<Value> local) {
  const SmallVector<int> loops = dimsOf(generic);
  if (loops.size() != generic.getNumLoops() ||
      llvm::any_of(loops, [&](int dim) { return dim < 0 || size_t(dim) >= dims; }))
    return generic.emitError("expected halftone.dims, one dim of the kernel for each loop");
  for (AffineMap map : generic.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults())
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr))
        return generic.emitError("expected maps of dims and constants");
  for (Value input : generic.getInputs())
    if (!isa<BlockArgument>(input) && !llvm::is_contained(local, input))
      return generic.emitError("an input is neither an operand of the kernel nor what this generic may read");
  return success();
}

Type accumulatorOf(linalg::GenericOp contraction) {
  return cast<RankedTensorType>(contraction.getResult(0).getType()).getElementType();
}

} // namespace

MatmulSizes::MatmulSizes(const CpuTarget &cpu, linalg::GenericOp contraction, StringRef name) {
  const Type accumulator = accumulatorOf(contraction);
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

int64_t compiler::matmulScratchBytes(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target) {
  const linalg::GenericOp contraction = contractionOf(source);
  if (!contraction)
    return 0;
  const MatmulScratch scratch(MatmulSizes(target, contraction, source.form.instruction), extents[extents.size() - 2],
                              extents.back());
  const Type accumulator = accumulatorOf(contraction);
  return MatmulScratch::headBytes +
         (scratch.a + scratch.b + scratch.sums + scratch.square) * int64_t(accumulator.getIntOrFloatBitWidth() / 8);
}

FailureOr<std::string> compiler::emitMatmul(const KernelSource &source, const CpuTarget &target, OpBuilder &builder) {
  return MatmulEmitter(source, target, builder).emit();
}

MatmulEmitter::MatmulEmitter(const KernelSource &source, const CpuTarget &cpu, OpBuilder &builder)
    : source(source), cpu(cpu), b(source.function.getLoc(), builder) {}

LogicalResult MatmulEmitter::readSource() {
  int dims = 0;
  for (int role = 0; role < 4; ++role)
    for (int64_t count = source.form.roles[role]; count-- > 0;)
      group[role].push_back(dims++);
  if (dims != source.dims)
    return source.function.emitError("expected an index argument for each dim, then two for the tile");
  contraction = contractionOf(source);
  if (!contraction)
    return source.function.emitError("expected one linalg.generic over all dims, of two operands and one sum");
  accumulator = accumulatorOf(contraction);
  if (!accumulator.isF32() && !accumulator.isF64() && !accumulator.isInteger(32) && !accumulator.isInteger(64))
    return contraction.emitError() << "accumulates in " << accumulator << "; expected f32, f64, i32 or i64";
  sizes.emplace(cpu, contraction, source.form.instruction);
  fewRows = source.form.fewRows;
  ordered = source.form.strict;
  for (int side = 0; side < 2; ++side)
    prologue[side] = contraction.getInputs()[side].getDefiningOp<linalg::GenericOp>();
  for (Operation *user : contraction.getResult(0).getUsers())
    if (auto generic = dyn_cast<linalg::GenericOp>(user))
      epilogue = generic;
  if (!epilogue)
    return contraction.emitError("expected an epilogue that reads the sums");
  SmallVector<Value> factors;
  for (linalg::GenericOp generic : prologue) {
    if (!generic)
      continue;
    if (failed(checkGeneric(generic, size_t(dims), {})))
      return failure();
    factors.append(generic.getResults().begin(), generic.getResults().end());
  }
  if (failed(checkGeneric(contraction, size_t(dims), factors)) ||
      failed(checkGeneric(epilogue, size_t(dims), contraction.getResult(0))))
    return failure();
  // The body is acc + a * b.
  Operation *sum = contraction.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum))
    return contraction.emitError("expected a body that yields acc + a * b");
  Operation *product = sum->getOperand(1).getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
    return contraction.emitError("expected a body that yields acc + a * b");
  if (auto add = dyn_cast<arith::AddFOp>(sum))
    fuses = cpu.math.hasFma && bitEnumContainsAll(add.getFastmath(), arith::FastMathFlags::contract);
  if (failed(readInstruction()) || failed(readPanels()))
    return failure();
  combiners = combinersOf(epilogue);
  return checkSideReductions();
}

LogicalResult MatmulEmitter::begin() {
  const Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  b.setInsertionPoint(source.function);
  code =
      func::FuncOp::create(b, source.function.getName(), b.getFunctionType({pointer, pointer, i64, i64, pointer}, {}));
  b.setInsertionPointToStart(code.addEntryBlock());
  const auto argument = [&](unsigned index) { return wrap(code.getArgument(index)); };

  unsigned buffers = 0;
  int64_t indices = 0;
  const auto next = [&] { return wrap(loadValue(pointer, address(argument(0), pointer, number(buffers++)))); };
  for (BlockArgument from : source.function.getArguments()) {
    if (isa<IndexType>(from.getType())) {
      const Emitted extent = wrap(loadValue(i64, address(argument(1), i64, number(indices++))));
      extents.push_back(extent);
      outside.map(from, extent.value());
    } else {
      pointers[from] = next();
    }
  }
  tileColumns = extents.pop_back_val();
  tileRows = extents.pop_back_val();
  for (Value result : source.results()) {
    if (result.getDefiningOp() != epilogue.getOperation())
      return source.function.emitError("a result does not come from the epilogue");
    pointers[result] = next();
  }
  // Constants and index casts around the generics.
  for (Operation &op : source.function.getBody().front()) {
    if (isa<linalg::LinalgOp, tensor::EmptyOp, tensor::DimOp, func::ReturnOp>(op))
      continue;
    if (auto indexCast = dyn_cast<arith::IndexCastOp>(op)) {
      const Emitted value = wrap(outside.lookup(indexCast.getIn()));
      outside.map(indexCast.getResult(), value.narrow(indexCast.getType()).value());
    } else if (isa<IndexType>(op.getResult(0).getType()) && isa<arith::ConstantOp>(op)) {
      outside.map(op.getResult(0), number(cast<IntegerAttr>(cast<arith::ConstantOp>(op).getValue()).getInt()).value());
    } else if (op.getDialect() == b.getContext()->getLoadedDialect<arith::ArithDialect>()) {
      b.clone(op, outside);
    } else {
      return op.emitError() << "'" << op.getName() << "' in a matmul kernel";
    }
  }
  for (int role = 0; role < 4; ++role) {
    size[role] = number(1);
    for (int dim : group[role])
      size[role] = size[role] * extents[size_t(dim)];
  }
  rowTiles = ceilDivide(size[rowRole], tileRows);
  columnTiles = ceilDivide(size[columnRole], tileColumns);
  sumsPitch = ceilDivide(tileColumns, number(sizes->lanes)) * sizes->lanes;
  packedPitch = ceilDivide(tileRows + 1, number(sizes->lanes)) * sizes->lanes;
  packedRowsAt = argument(4);
  packedA = address(packedRowsAt, b.getI8Type(), number(MatmulScratch::headBytes));
  packedB = address(packedA, accumulator, packedPitch * sizes->depth);
  square = address(packedB, accumulator, sumsPitch * sizes->depth);
  watchedAt = address(square, accumulator, number(sizes->lanes * sizes->lanes));
  sumsAt = address(watchedAt, accumulator, number(sizes->lanes));
  return success();
}

FailureOr<std::string> MatmulEmitter::emit() {
  if (failed(readSource()) || failed(begin()))
    return failure();
  if (isOfTiles(instruction))
    configureTiles();
  loop(wrap(code.getArgument(2)), wrap(code.getArgument(3)), number(1),
       [&](Emitted block) { return void(sticky(emitBlock(block))); });
  if (broken)
    return failure();
  if (isOfTiles(instruction))
    releaseTiles();
  func::ReturnOp::create(b);
  source.function.erase();
  return method();
}

std::string MatmulEmitter::method() {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (instruction == MatmulInstruction::multiplyAdd)
    out << accumulator << " ";
  out << name(instruction);
  if (isOfTiles(instruction))
    out << ", " << 2 * sizes->lanes << " x " << 2 * sizes->lanes << " sums in tiles";
  else if (takesDots())
    out << " along K, both operands in place";
  else
    out << ", " << sizes->panelRows[0] << " x " << sizes->columns() << " sums in registers";
  return text;
}

LogicalResult MatmulEmitter::emitBlock(Emitted block) {
  columnTile = block % columnTiles;
  const Emitted rest = block / columnTiles;
  rowTile = rest % rowTiles;
  batch = rest / rowTiles;
  firstRow = rowTile * tileRows;
  firstColumn = columnTile * tileColumns;
  rows = minimum(tileRows, size[rowRole] - firstRow);
  columns = minimum(tileColumns, size[columnRole] - firstColumn);
  // Once at least: a sum of nothing is 0. Parts of equal size, rather than a small one at the end.
  const Emitted steps = groups(), parts = ceilDivide(maximum(steps, number(1)), number(sizes->depth));
  const Emitted part = ceilDivide(ceilDivide(maximum(steps, number(1)), parts), number(sizes->lanes)) * sizes->lanes;
  loop(number(0), maximum(steps, number(1)), part, [&](Emitted first) {
    const Emitted depth = minimum(part, steps - first);
    if (!readsRowsInPlace() || readsRowPairsInPlace()) {
      // Neighbouring blocks have the same rows, which are packed, or watched, still when one part of K is all.
      const Emitted tile = rest + 1, packed = wrap(loadValue(b.getI64Type(), packedRowsAt));
      const Emitted isNew = negated(equal(packed, tile)) | (steps > number(sizes->depth));
      auto branch = scf::IfOp::create(b, isNew.value(), false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
      watched = nothingWatched();
      if (failed(sticky(readsRowPairsInPlace() ? watchRows(first, depth) : pack(0, first, depth))))
        return;
      for (Value seen : watched)
        storeValue(seen, watchedAt, true);
      storeValue(tile, packedRowsAt);
    }
    watched = nothingWatched();
    if (!readsColumnsInPlace() && !packsPanels() && failed(sticky(pack(1, first, depth))))
      return;
    emitMultiplication(first, depth);
  });
  return failed(emitEpilogue()) || broken ? failure() : success();
}

void MatmulEmitter::emitMultiplication(Emitted firstDepth, Emitted depth) {
  if (watched.empty() || panels)
    return emitPanels(firstDepth, depth);
  auto branch = scf::IfOp::create(b, sawSubnormal().value(), true);
  watched.clear();
  OpBuilder::InsertionGuard guard(b);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    b.setInsertionPoint(block->getTerminator());
    widens = block == branch.thenBlock();
    emitPanels(firstDepth, depth);
  }
}

void MatmulEmitter::emitPanels(Emitted firstDepth, Emitted depth) {
  if (takesDots())
    return emitDots(firstDepth, depth);
  if (isOfTiles(instruction) && !widens)
    return emitTiles(firstDepth, depth);
  const Emitted whole = columns / number(sizes->columns()) * sizes->columns();
  emitColumns(number(0), whole, sizes->vectors, firstDepth, depth);
  emitColumns(whole, columns, 1, firstDepth, depth);
}

void MatmulEmitter::emitColumns(Emitted begin, Emitted end, int64_t vectors, Emitted firstDepth, Emitted depth) {
  MatmulFactors factors = rowFactors(firstDepth);
  loop(begin, end, number(vectors * sizes->lanes), [&](Emitted column) {
    const ArrayRef<int64_t> counts(vectors == 1 ? sizes->vectorRows : sizes->panelRows);
    Emitted row = number(0);
    if (packsPanels())
      row = emitFirstRows(counts.front(), vectors, factors, column, firstDepth, depth);
    factors.b = columnFactors(column, vectors, firstDepth);
    if (watchesPanels())
      emitWatchingRows(counts, vectors, factors, column, firstDepth, depth);
    else
      emitRows(counts, row, vectors, factors, column, firstDepth, depth);
  });
}

void MatmulEmitter::emitRows(ArrayRef<int64_t> counts, Emitted row, int64_t vectors, const MatmulFactors &factors,
                             Emitted column, Emitted firstDepth, Emitted depth) {
  const Emitted allRows = hasBiasRow() ? rows + 1 : rows;
  // Widened products are rare: less code for them.
  for (int64_t count : counts.drop_front(widens ? counts.size() - 2 : 0)) {
    Emitted times = (allRows - row) / number(count);
    if (count == 6 && sizes->panelRows[1] == 4) {
      // Two or three rows alone would wait for the columns: better one six less, and fours.
      const Emitted rest = (allRows - row) % number(6);
      times = select((times > number(0)) & (rest > number(1)) & (rest < number(4)), times - 1, times);
    }
    const Emitted next = count == 1 ? allRows : row + times * count;
    loop(row, next, number(count),
         [&](Emitted at) { emitMicroKernel(count, vectors, factors, at, column, firstDepth, depth); });
    row = next;
  }
}

Emitted MatmulEmitter::emitFirstRows(int64_t count, int64_t vectors, MatmulFactors factors, Emitted column,
                                     Emitted firstDepth, Emitted depth) {
  if (lanesAlongDepth(1)) {
    (void)sticky(packColumnsTransposed(column, minimum(column + vectors * sizes->lanes, columns), firstDepth, depth));
    return number(0);
  }
  factors.b = packingFactors(column, vectors, firstDepth);
  auto branch = scf::IfOp::create(b, (number(count) <= rows).value(), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  emitMicroKernel(count, vectors, factors, number(0), column, firstDepth, depth);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  loop(number(0), depth, number(1), [&](Emitted k) { (void)sticky(factors.b(k)); });
  b.setInsertionPointAfter(branch);
  return select(number(count) <= rows, number(count), number(0));
}

void MatmulEmitter::emitMicroKernel(int64_t count, int64_t vectors, const MatmulFactors &factors, Emitted row,
                                    Emitted column, Emitted firstDepth, Emitted depth) {
  storeSums(multiplyRows(count, vectors, factors, row, column, firstDepth, depth), vectors, row, column);
}

MatmulEmitter::Lanes MatmulEmitter::multiplyRows(int64_t count, int64_t vectors, const MatmulFactors &factors,
                                                 Emitted row, Emitted column, Emitted firstDepth, Emitted depth) {
  const Type lanes = lanesOf(accumulator);
  const MatmulSums sums = sumsFrom(row, column, vectors);
  const auto sumAt = [&](int64_t row, int64_t vector) {
    return address(sums.at, accumulator, sums.pitch * row + vector * sizes->lanes);
  };
  const Emitted zero = wrap(splat(arith::ConstantOp::create(b, b.getZeroAttr(accumulator))));
  const Emitted continues = firstDepth > number(0);
  const int64_t many = count * vectors;
  // A few sums would wait for each other: then several of each, which take turns along K.
  const int64_t turns = ordered ? 1 : std::max<int64_t>(1, MatmulSizes::sumsInFlight / many);
  Lanes carried;
  for (int64_t row = 0; row < count; ++row)
    for (int64_t vector = 0; vector < vectors; ++vector)
      carried.push_back(select(continues, wrap(loadValue(lanes, sumAt(row, vector), sums.aligned)), zero).value());
  carried.resize(size_t(turns * many), zero.value());
  const Emitted firstOfRows = address(factors.a, accumulator, row * factors.rowPitch);
  const auto step = [&](Emitted k, MutableArrayRef<Value> acc) {
    const FailureOr<Lanes> column = factors.b(k);
    if (failed(sticky(column)))
      return;
    const Emitted fromA = address(firstOfRows, accumulator, k * factors.depthPitch);
    for (int64_t row = 0; row < count; ++row) {
      const Value element = splat(loadValue(accumulator, address(fromA, accumulator, factors.rowPitch * row)));
      for (int64_t vector = 0; vector < vectors; ++vector)
        acc[size_t(row * vectors + vector)] =
            multiplyAdd(element, (*column)[size_t(vector)], acc[size_t(row * vectors + vector)]);
    }
  };
  const Emitted whole = depth / number(turns) * turns;
  Lanes done = watchingLoop(number(0), whole, number(turns), carried, [&](Emitted k, Lanes acc) {
    for (int64_t turn = 0; turn < turns; ++turn)
      step(k + turn, MutableArrayRef<Value>(acc).slice(size_t(turn * many), size_t(many)));
    return acc;
  });
  if (turns > 1) {
    const Lanes once(ArrayRef<Value>(done).take_front(size_t(many)));
    const Lanes first = watchingLoop(whole, depth, number(1), once, [&](Emitted k, Lanes acc) {
      step(k, acc);
      return acc;
    });
    llvm::copy(first, done.begin());
    for (int64_t apart = turns / 2; apart > 0; apart /= 2)
      for (int64_t i = 0; i < apart * many; ++i)
        done[size_t(i)] = (wrap(done[size_t(i)]) + wrap(done[size_t(i + apart * many)])).value();
  }
  done.truncate(size_t(many));
  return done;
}

void MatmulEmitter::storeSums(const Lanes &sums, int64_t vectors, Emitted row, Emitted column) {
  const MatmulSums place = sumsFrom(row, column, vectors);
  for (auto [i, sum] : llvm::enumerate(sums)) {
    const Emitted offset = place.pitch * (int64_t(i) / vectors) + int64_t(i) % vectors * sizes->lanes;
    storeValue(sum, address(place.at, accumulator, offset), place.aligned);
  }
}

Value MatmulEmitter::multiplyAdd(Value x, Value y, Value sum) {
  if (groupSize > 1)
    return multiplyGroups(sum, x, y);
  return fuses ? math::FmaOp::create(b, x, y, sum).getResult() : (wrap(sum) + wrap(x) * wrap(y)).value();
}

Emitted MatmulEmitter::address(Emitted pointer, Type element, Emitted offset) {
  return wrap(LLVM::GEPOp::create(b, pointer.type(), element, pointer.value(), ValueRange(offset.value())));
}

Value MatmulEmitter::loadValue(Type type, Emitted pointer, bool aligned) {
  const Type element = getElementTypeOrSelf(type);
  const unsigned bytes = isa<LLVM::LLVMPointerType>(element) ? 8 : std::max(1u, element.getIntOrFloatBitWidth() / 8);
  return LLVM::LoadOp::create(b, type, pointer.value(), aligned ? unsigned(cpu.vectorBytes) : bytes);
}

void MatmulEmitter::storeValue(Value value, Emitted pointer, bool aligned) {
  const unsigned bytes = std::max(1u, getElementTypeOrSelf(value).getIntOrFloatBitWidth() / 8);
  LLVM::StoreOp::create(b, value, pointer.value(), aligned ? unsigned(cpu.vectorBytes) : bytes);
}

Value MatmulEmitter::splat(Value scalar) {
  return isa<VectorType>(scalar.getType())
             ? scalar
             : vector::BroadcastOp::create(b, lanesOf(scalar.getType()), scalar).getResult();
}

void MatmulEmitter::loop(Emitted begin, Emitted end, Emitted step, const std::function<void(Emitted)> &body) {
  loop(begin, end, step, {}, [&](Emitted index, Lanes) {
    body(index);
    return Lanes();
  });
}

MatmulEmitter::Lanes MatmulEmitter::loop(Emitted begin, Emitted end, Emitted step, Lanes carried,
                                         const std::function<Lanes(Emitted, Lanes)> &body) {
  auto loop = scf::ForOp::create(b, begin.value(), end.value(), step.value(), carried);
  OpBuilder::InsertionGuard guard(b);
  if (carried.empty())
    b.setInsertionPoint(loop.getBody()->getTerminator());
  else
    b.setInsertionPointToEnd(loop.getBody());
  const Lanes next = body(wrap(loop.getInductionVar()), Lanes(loop.getRegionIterArgs()));
  if (!carried.empty())
    scf::YieldOp::create(b, next);
  return Lanes(loop.getResults());
}
