// The entry of a GPU kernel, as runtime/plan/GpuAbi.h specifies.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/GridFrame.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "runtime/plan/GpuAbi.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

/// The parameters after buffers and extents, in order.
enum Fixed : size_t {
  tableParameter,
  predicateParameter,
  scratchParameter,
  scratchBytesParameter,
  partsParameter,
  negatedParameter,
  fixedParameters
};

/// Shuffles move 32 bits: narrower values are widened, wider ones are moved in two halves.
Emitted shuffle(CodeBuilder &builder, const GpuOps &ops, Shuffle kind, Emitted value, Emitted lane) {
  if (value.isFloat() && value.width() != 32)
    return shuffle(builder, ops, kind, value.bits(), lane).bitsAs(value.type());
  if (value.width() == 64) {
    const Emitted low =
        shuffle(builder, ops, kind, value.narrow(builder.getI32Type()), lane).widen(builder.getI64Type());
    const Emitted high =
        shuffle(builder, ops, kind, (value >> 32).narrow(builder.getI32Type()), lane).widen(builder.getI64Type());
    return low | (high << 32);
  }
  if (value.width() < 32)
    return shuffle(builder, ops, kind, value.widen(builder.getI32Type()), lane).narrow(value.type());
  return ops.shuffle(builder, kind, value, lane);
}

} // namespace

GridFrame::GridFrame(const KernelSource &source, const GpuOps &ops) : BlockFrame(source), ops(ops) {
  shortIndices = source.form.shortIndices;
  const auto pointer = LLVM::LLVMPointerType::get(getContext(), globalSpace);
  const Type i32 = getI32Type(), i64 = getI64Type();
  const size_t buffers = source.operands().size() + source.results().size();
  SmallVector<Type> types;
  if (takesParameters(int64_t(buffers), source.indexArguments)) {
    types.append(buffers, pointer);
    types.append(source.indexArguments, i64);
  }
  types.append({pointer, pointer, pointer, i64, i32, i32});
  code = LLVM::LLVMFuncOp::create(*this, source.function.getSymName(),
                                  LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(getContext()), types));
  pool =
      LLVM::GlobalOp::create(*this, LLVM::LLVMArrayType::get(getI8Type(), 0), /*isConstant=*/false,
                             LLVM::Linkage::External, "halftone_shared", Attribute(), /*alignment=*/128, sharedSpace);
  setInsertionPointToStart(code.addEntryBlock(*this));
  const Values parameters = wrapAll(*this, code.getArguments());
  const ArrayRef<Emitted> fixed = ArrayRef<Emitted>(parameters).take_back(fixedParameters);
  beginUnder(fixed[predicateParameter], fixed[negatedParameter]);
  const Emitted gridBlock = asIndex(ops.blockIndex(*this));
  thread = asIndex(ops.threadIndex(*this));
  lane = thread & (warpLanes - 1);
  warp = divideUnsigned(thread, thread.like(warpLanes));
  scratch = address(fixed[scratchParameter], getI8Type(), asLong(gridBlock) * fixed[scratchBytesParameter]);
  findPart(gridBlock, parameters);
}

GridFrame::~GridFrame() {
  if (!code)
    return;
  code.erase();
  pool.erase();
  if (exchanged)
    exchanged.erase();
}

FailureOr<LaunchShape> GridFrame::finish() {
  constexpr int64_t maxExchanged = 48 * 1024; // static shared memory per block
  if (exchangedBytes > maxExchanged)
    return source.function.emitError() << "the threads of a block exchange " << exchangedBytes
                                       << " bytes in shared memory; expected at most " << maxExchanged;
  ops.markEntry(code, threads, source.form.numerics);
  setInsertionPointToEnd(&code.getBody().front());
  LLVM::ReturnOp::create(*this, ValueRange());
  source.function.erase();
  if (sharedBytes == 0)
    pool.erase();
  if (exchanged) {
    const auto type = LLVM::LLVMArrayType::get(getI8Type(), unsigned(exchangedBytes));
    exchanged.setGlobalType(type);
    createBlock(&exchanged.getInitializerRegion());
    LLVM::ReturnOp::create(*this, ValueRange(LLVM::UndefOp::create(*this, type)));
  }
  code = {};
  return LaunchShape{threads, sharedBytes};
}

/// Moves the insertion point into a branch that is taken if the predicate holds or there is none.
void GridFrame::beginUnder(Emitted predicate, Emitted isNegated) {
  const Emitted address = wrap(LLVM::PtrToIntOp::create(*this, getI64Type(), predicate.value()));
  const auto always = [&] { return Values{constant(getBoolAttr(true))}; };
  const auto read = [&] {
    const Emitted byte = load(getI8Type(), predicate);
    return Values{differs(byte, byte.like(0)) ^ differs(isNegated, isNegated.like(0))};
  };
  const Emitted runs = choose(equal(address, address.like(0)), always, read)[0];
  auto work = scf::IfOp::create(*this, runs.value(), /*withElseRegion=*/false);
  setInsertionPointToStart(work.thenBlock());
}

/// The address of the table row of the part that contains `gridBlock`: the last part that does not begin after it.
Emitted GridFrame::partOf(Emitted gridBlock, Emitted table, Emitted parts, int64_t stride) {
  const auto rowOf = [&](Emitted part) { return address(table, getI64Type(), part * stride); };
  const Emitted bits = countLeadingZeros(parts.like(0)) - countLeadingZeros(parts); // in the index of a part
  const Emitted part = loop(constant(0), bits, constant(1), {constant(0)}, [&](Emitted step, const Values &found) {
    const Emitted next = found[0] + (step.like(1) << (bits - 1 - step));
    const Emitted first = asIndex(load(getI64Type(), rowOf(minimum(next, parts - 1))));
    return Values{select((next < parts) & (first <= gridBlock), next, found[0])};
  })[0];
  return rowOf(part);
}

/// Sets `block`, and binds buffers and extents, from the parameters or, if the launch has parts, from the table.
void GridFrame::findPart(Emitted gridBlock, ArrayRef<Emitted> parameters) {
  const ArrayRef<Emitted> fixed = parameters.take_back(fixedParameters);
  ArrayRef<Emitted> own = parameters.drop_back(fixedParameters);
  const size_t buffers = source.operands().size() + source.results().size();
  const int64_t stride = 1 + int64_t(buffers) + source.indexArguments;
  const Emitted parts = asIndex(fixed[partsParameter]);
  const auto fromTable = [&] {
    const Emitted row = partOf(gridBlock, fixed[tableParameter], parts, stride);
    Values values;
    for (int64_t entry = 1; entry < stride; ++entry) {
      const Type type = entry <= int64_t(buffers) ? fixed[tableParameter].type() : getI64Type();
      values.push_back(load(type, address(row, getI64Type(), constant(entry))));
    }
    values.push_back(gridBlock - asIndex(load(getI64Type(), row)));
    return values;
  };
  Values values;
  if (own.empty())
    values = fromTable();
  else
    values = choose(
        equal(parts, parts.like(0)),
        [&] {
          Values given(own);
          given.push_back(gridBlock);
          return given;
        },
        fromTable);
  block = values.pop_back_val();
  bind(Values(ArrayRef<Emitted>(values).drop_front(buffers)), [&](unsigned position) { return values[position]; });
}

void GridFrame::barrier() { ops.barrier(*this); }

Emitted GridFrame::shared(int64_t bytes, int64_t alignment) {
  const int64_t begin = (sharedBytes + alignment - 1) / alignment * alignment;
  sharedBytes = begin + bytes;
  const Emitted all = wrap(LLVM::AddressOfOp::create(*this, pool));
  return address(all, getI8Type(), constant(begin));
}

Emitted GridFrame::exchange(int64_t bytes) {
  constexpr uint64_t alignment = 16;
  exchangedBytes = std::max(exchangedBytes, bytes);
  if (!exchanged) {
    InsertionGuard guard(*this);
    setInsertionPoint(code);
    exchanged =
        LLVM::GlobalOp::create(*this, LLVM::LLVMArrayType::get(getI8Type(), 0), /*isConstant=*/false,
                               LLVM::Linkage::Internal, "halftone_exchange", Attribute(), alignment, sharedSpace);
  }
  return wrap(LLVM::AddressOfOp::create(*this, exchanged));
}

Emitted GridFrame::shuffleDown(Emitted value, int64_t distance) {
  return shuffle(*this, ops, Shuffle::down, value, constant(getI32IntegerAttr(int32_t(distance))));
}

Emitted GridFrame::shuffleFrom(Emitted value, Emitted lane) {
  return shuffle(*this, ops, Shuffle::from, value, lane.narrow(getI32Type()));
}

Emitted GridFrame::ballot(Emitted condition) { return ops.ballot(*this, condition); }

} // namespace halftone::compiler
