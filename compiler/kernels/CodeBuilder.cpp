// The ops behind each function of CodeBuilder.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/CodeBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

SmallVector<Value> plain(ArrayRef<Emitted> values) {
  return llvm::map_to_vector(values, [](const Emitted &value) { return value.value(); });
}

int64_t elementBytes(Type type) {
  const Type element = getElementTypeOrSelf(type);
  return isa<LLVM::LLVMPointerType>(element) ? 8 : std::max(1u, element.getIntOrFloatBitWidth() / 8);
}

/// `alignment`, or the alignment of an element of `type` if it is 0.
static unsigned alignmentOr(int64_t alignment, Type type) {
  return unsigned(alignment > 0 ? alignment : elementBytes(type));
}

Values wrapAll(CodeBuilder &code, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return code.wrap(value); });
}

Emitted CodeBuilder::asIndex(Emitted integer) {
  return integer.width() > indexType().getWidth() ? integer.narrow(indexType()) : integer.widen(indexType());
}

Emitted CodeBuilder::constant(int64_t value) { return constant(getIntegerAttr(indexType(), value)); }
Emitted CodeBuilder::constant(TypedAttr value) { return wrap(arith::ConstantOp::create(*this, value)); }

Emitted CodeBuilder::splat(Emitted scalar, int64_t lanes) {
  if (lanes == 0 || isa<VectorType>(scalar.type()))
    return scalar;
  return wrap(vector::BroadcastOp::create(*this, VectorType::get(lanes, scalar.type()), scalar.value()));
}

Emitted CodeBuilder::steps(Type element, int64_t lanes) {
  SmallVector<Attribute> indices;
  for (int64_t lane = 0; lane < lanes; ++lane)
    indices.push_back(getIntegerAttr(element, lane));
  return constant(cast<TypedAttr>(DenseElementsAttr::get(VectorType::get(lanes, element), indices)));
}

Values CodeBuilder::transpose(Values rows) {
  // Interleaving rows i and i + n/2 for all i, log2 n times, swaps the bits of row and lane.
  const auto n = int64_t(rows.size());
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < n / 2; ++i) {
    low.append({i, n + i});
    high.append({n / 2 + i, n + n / 2 + i});
  }
  for (int64_t round = 1; round < n; round *= 2) {
    Values next;
    for (int64_t i = 0; i < n / 2; ++i)
      for (ArrayRef<int64_t> half : {ArrayRef<int64_t>(low), ArrayRef<int64_t>(high)})
        next.push_back(
            wrap(vector::ShuffleOp::create(*this, rows[size_t(i)].value(), rows[size_t(i + n / 2)].value(), half)));
    rows = next;
  }
  return rows;
}

Emitted CodeBuilder::address(Emitted pointer, Type element, Emitted elements) {
  return wrap(
      LLVM::GEPOp::create(*this, pointer.type(), element, pointer.value(), ArrayRef<LLVM::GEPArg>{elements.value()}));
}

Emitted CodeBuilder::load(Type type, Emitted pointer, int64_t alignment) {
  return wrap(LLVM::LoadOp::create(*this, type, pointer.value(), alignmentOr(alignment, type)));
}

void CodeBuilder::store(Emitted value, Emitted pointer, int64_t alignment) {
  LLVM::StoreOp::create(*this, value.value(), pointer.value(), alignmentOr(alignment, value.type()));
}

Emitted CodeBuilder::loadMasked(VectorType type, Emitted pointer, Emitted mask) {
  return wrap(
      LLVM::MaskedLoadOp::create(*this, type, pointer.value(), mask.value(), zero(type).value(), alignmentOr(0, type)));
}

void CodeBuilder::storeMasked(Emitted value, Emitted pointer, Emitted mask, int64_t alignment) {
  LLVM::MaskedStoreOp::create(*this, value.value(), pointer.value(), mask.value(),
                              alignmentOr(alignment, value.type()));
}

void CodeBuilder::prefetch(Emitted pointer, bool toWrite) {
  LLVM::Prefetch::create(*this, pointer.value(), /*rw=*/toWrite, /*hint=*/3, /*cache=*/1);
}

void CodeBuilder::loop(Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)> body) {
  loop(begin, end, step, {}, [&](Emitted at, const Values &) {
    body(at);
    return Values();
  });
}

Values CodeBuilder::loop(Emitted begin, Emitted end, Emitted step, ArrayRef<Emitted> carried,
                         llvm::function_ref<Values(Emitted, const Values &)> body) {
  auto op = scf::ForOp::create(*this, begin.value(), end.value(), step.value(), plain(carried));
  InsertionGuard guard(*this);
  setInsertionPointToStart(op.getBody());
  const Values next = body(wrap(op.getInductionVar()), wrapAll(*this, op.getRegionIterArgs()));
  if (!carried.empty())
    scf::YieldOp::create(*this, plain(next));
  return wrapAll(*this, op.getResults());
}

void CodeBuilder::branch(Emitted condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(*this, condition.value(), /*withElseRegion=*/bool(otherwise));
  InsertionGuard guard(*this);
  setInsertionPointToStart(op.thenBlock());
  then();
  if (!otherwise)
    return;
  setInsertionPointToStart(op.elseBlock());
  otherwise();
}

Values CodeBuilder::choose(Emitted condition, llvm::function_ref<Values()> then,
                           llvm::function_ref<Values()> otherwise) {
  const auto inside = [&](llvm::function_ref<Values()> code) {
    return [this, code](OpBuilder &, Location) { scf::YieldOp::create(*this, plain(code())); };
  };
  return wrapAll(*this, scf::IfOp::create(*this, condition.value(), inside(then), inside(otherwise)).getResults());
}

} // namespace halftone::compiler
