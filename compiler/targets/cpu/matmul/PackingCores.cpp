// Emits the code of packing cores.
// SPDX-License-Identifier: Apache-2.0
//
//   along K:        for columns, for groups: transposes a square of vectors along K to vectors of columns
//   along columns:  for groups, for columns: interleaves `group` vectors of columns into one
#include "compiler/targets/cpu/matmul/PackingCores.h"
#include "compiler/kernels/NarrowFloat.h"
#include "compiler/targets/cpu/matmul/SubnormalWatch.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <bit>
#include <fmt/format.h>

namespace halftone::compiler {
using namespace mlir;

static FloatType narrowFloatOf(const std::string &name, MLIRContext *context) {
  return cast<FloatType>(parseType(name, context));
}

Type OperandElement::stored(Type packed) const {
  return narrow.empty() ? packed : Type(IntegerType::get(packed.getContext(), 16));
}

Emitted OperandElement::packed(CodeBuilder &code, Emitted stored) const {
  return narrow.empty() ? stored : widenNarrow({.convertsF16 = true}, stored, narrowFloatOf(narrow, code.getContext()));
}

static Emitted sameBits(CodeBuilder &code, Emitted vector, Type type) {
  return code.wrap(vector::BitCastOp::create(code, type, vector.value()));
}

Emitted joined(CodeBuilder &code, ArrayRef<Emitted> members, Type packed) {
  const int64_t lanes = cast<VectorType>(members[0].type()).getNumElements();
  const auto interleaved = [&](Emitted x, Emitted y, Type element) {
    const Emitted both = code.wrap(vector::InterleaveOp::create(code, x.value(), y.value()));
    return sameBits(code, both, VectorType::get(lanes, element));
  };
  if (members.size() == 2)
    return interleaved(members[0], members[1], packed);
  const Type i16 = code.getI16Type();
  return interleaved(interleaved(members[0], members[1], i16), interleaved(members[2], members[3], i16), packed);
}

Emitted biasedBytes(Emitted groups) { return groups ^ int64_t(std::bit_cast<int32_t>(0x80808080U)); }

namespace {

/// A builder for the function of a core, which inserts into its entry block.
class PackingCode : public CodeBuilder {
public:
  PackingCode(const PackingCore &core, ModuleOp module);
  void emit() {
    const Values watched = core.alongDepth ? packTransposed() : interleave();
    func::ReturnOp::create(*this, plain(watched));
  }

private:
  Values packTransposed();
  Values interleave();
  Values interleaveGroup(Emitted group, Emitted members, const Values &watched);
  Emitted alongDepth(Emitted column, Emitted k);
  Emitted across(Emitted column, Emitted k);
  Emitted within(VectorType type, Emitted at, Emitted count);
  Values check(const Values &watched, Emitted groups) {
    return core.watches ? Values{SubnormalWatch::updated(*this, watched[0], groups)} : Values();
  }
  void put(Emitted groups, Emitted column, Emitted group, int64_t vector = 0) {
    const Emitted offset = column * call.toColumn + group * call.toDepth + vector * core.lanes;
    store(groups, address(call.to, packed, offset), core.lanes * elementBytes(packed));
  }

  const PackingCore &core;
  const Type packed;  // element
  const Type element; // of the operand
  PackingCore::Call call;
};

PackingCode::PackingCode(const PackingCore &core, ModuleOp module)
    : CodeBuilder(module.getLoc(), module.getContext()), core(core),
      packed(parseType(core.accumulator, module.getContext())),
      element(core.group == 1 ? core.operand.stored(packed) : getIntegerType(unsigned(32 / core.group))) {
  setInsertionPointToEnd(module.getBody());
  const Type pointer = LLVM::LLVMPointerType::get(getContext()), index = getI64Type();
  SmallVector<Type> types{pointer, index, index, index, pointer, index, index}, results;
  if (core.watches)
    results.push_back(VectorType::get(2 * core.lanes, getI16Type()));
  llvm::append_range(types, results);
  Block *entry = func::FuncOp::create(*this, core.core().symbol, getFunctionType(types, results)).addEntryBlock();
  setInsertionPointToStart(entry);
  const Values taken = wrapAll(*this, entry->getArguments());
  call = {taken[0], taken[1], taken[2], taken[3], taken[4], taken[5], taken[6]};
  if (core.watches)
    call.minima = taken[7];
}

/// Loads the first `count` > 0 elements at `at`, padded with 0.
Emitted PackingCode::within(VectorType type, Emitted at, Emitted count) {
  const int64_t maxCount = type.getNumElements();
  const auto some = [&] {
    const Type index = maxCount <= 16 ? Type(getI32Type()) : Type(getI8Type());
    const Emitted left = splat(minimum(count, constant(maxCount)).narrow(index), maxCount);
    return Values{loadMasked(type, at, steps(index, maxCount) < left)};
  };
  return core.masks ? some()[0] : choose(count >= maxCount, [&] { return Values{load(type, at)}; }, some)[0];
}

Emitted PackingCode::alongDepth(Emitted column, Emitted k) {
  const Emitted at = address(call.from, element, column * call.pitch + k);
  const Emitted read = within(VectorType::get(core.lanes * core.group, element), at, call.depth - k);
  return core.group == 1 ? core.operand.packed(*this, read)
                         : sameBits(*this, read, VectorType::get(core.lanes, packed));
}

Values PackingCode::packTransposed() {
  const Emitted zero = constant(0), square = constant(core.lanes);
  const Values watched = core.watches ? Values{call.minima} : Values();
  return loop(zero, call.columns, square, watched, [&](Emitted column, const Values &before) {
    return loop(zero, ceilDivide(call.depth, constant(core.group)), square, before,
                [&](Emitted group, const Values &now) {
                  Values rows;
                  for (int64_t lane = 0; lane < core.lanes; ++lane)
                    rows.push_back(alongDepth(minimum(column + lane, call.columns - 1), group * core.group));
                  Values seen = now;
                  for (const auto &[lane, transposed] : llvm::enumerate(transpose(rows))) {
                    const Emitted groups = core.biases ? biasedBytes(transposed) : transposed;
                    seen = check(seen, groups);
                    put(groups, column, group + int64_t(lane));
                  }
                  return seen;
                });
  });
}

Emitted PackingCode::across(Emitted column, Emitted k) {
  const VectorType type = VectorType::get(core.lanes, element);
  const Emitted at = address(call.from, element, k * call.pitch + column);
  return core.vectors > 1 ? load(type, at) : within(type, at, call.columns - column);
}

/// Packs group `group` of all columns. Only the first `members` of its indices of K are in range; if null, all are.
Values PackingCode::interleaveGroup(Emitted group, Emitted members, const Values &watched) {
  const Emitted width = constant(core.vectors * core.lanes), first = group * core.group;
  return loop(constant(0), call.columns, width, watched, [&](Emitted column, const Values &now) {
    Values seen = now;
    for (int64_t vector = 0; vector < core.vectors; ++vector) {
      Values lanes;
      for (int64_t member = 0; member < core.group; ++member) {
        const bool isInside = member == 0 || !members;
        const Emitted k = isInside ? first + member : first + minimum(constant(member), members - 1);
        const Emitted read = across(column + vector * core.lanes, k);
        lanes.push_back(isInside ? read : select(constant(member) < members, read, read.like(int64_t(0))));
      }
      Emitted groups = core.group == 1 ? core.operand.packed(*this, lanes[0]) : joined(*this, lanes, packed);
      groups = core.biases ? biasedBytes(groups) : groups;
      seen = check(seen, groups);
      put(groups, column, group, vector);
    }
    return seen;
  });
}

Values PackingCode::interleave() {
  const Emitted group = constant(core.group), whole = call.depth / group, rest = call.depth % group;
  const Values watched = core.watches ? Values{call.minima} : Values();
  Values seen = loop(constant(0), whole, constant(1), watched,
                     [&](Emitted at, const Values &now) { return interleaveGroup(at, {}, now); });
  if (core.group == 1)
    return seen;
  if (!core.watches) {
    branch(rest > 0, [&] { interleaveGroup(whole, rest, seen); });
    return seen;
  }
  return choose(rest > 0, [&] { return interleaveGroup(whole, rest, seen); }, [&] { return seen; });
}

} // namespace

Values PackingCore::Call::arguments() const {
  Values all{from, pitch, columns, depth, to, toColumn, toDepth};
  if (minima)
    all.push_back(minima);
  return all;
}

Core PackingCore::core() const {
  std::string symbol = fmt::format("{}packs_{}", Core::prefix.str(), accumulator);
  if (group > 1)
    symbol += fmt::format("_groups_of_{}", group);
  if (!operand.narrow.empty())
    symbol += fmt::format("_from_{}", operand.narrow);
  for (const auto &[holds, word] :
       {std::pair(alongDepth, "turned"), std::pair(biases, "biased"), std::pair(watches, "watched")})
    if (holds)
      symbol += fmt::format("_{}", word);
  symbol += fmt::format("_x{}", vectors);
  std::string method = fmt::format("{} columns at a time", vectors * lanes);
  return {std::move(symbol), std::move(method), [own = *this](ModuleOp module) { own.emit(module); }};
}

void PackingCore::emit(ModuleOp module) const { PackingCode(*this, module).emit(); }

} // namespace halftone::compiler
