// The code of a matmul's cores.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulCores.h"
#include "compiler/targets/cpu/KernelPasses.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halftone::compiler {
using namespace mlir;

Emitted groupsOfRows(Emitted rows, int64_t count, ArrayRef<int64_t> counts) {
  const Emitted times = rows / rows.like(count);
  if (count != 6 || counts[1] != 4)
    return times;
  // Two or three rows alone would wait for the columns: better one six less, and fours.
  const Emitted rest = rows % rows.like(int64_t(6));
  return select((times > 0) & (rest > 1) & (rest < 4), times - 1, times);
}

namespace {

/// The function of a core, standing in its entry block.
class StripCode : public CodeBuilder {
public:
  StripCode(const StripCore &core, ModuleOp module);
  void emit();

private:
  using Columns = std::function<Values(const MatmulStep &)>;

  void multiplyAll();
  void packWithFirstRows();
  void multiply(int64_t count, Emitted row, const Columns &columns);
  Values begin(int64_t count, Emitted sums, Emitted a);
  Emitted addUnscaled(Emitted sum, Emitted to);
  Values packedColumns(const MatmulStep &step);
  Values packColumns(const MatmulStep &step);
  Emitted at(Emitted from, Emitted offset) { return address(from, element, offset); }
  Emitted place(Emitted sums, int64_t line, int64_t vector) {
    return at(sums, call.sumsPitch * line + vector * core.lanes);
  }

  const StripCore &core;
  const Type element;
  const VectorType lanes;
  StripCore::Call call;
};

StripCode::StripCode(const StripCore &core, ModuleOp module)
    : CodeBuilder(module.getLoc(), module.getContext()), core(core),
      element(parseType(core.accumulator, module.getContext())), lanes(VectorType::get(core.lanes, element)) {
  setInsertionPointToEnd(module.getBody());
  const Type pointer = LLVM::LLVMPointerType::get(getContext()), index = getI64Type();
  SmallVector<Type> types{pointer, index, index, index, pointer, index, pointer, index, getI1Type(), index, index};
  if (core.packs)
    types.append({pointer, index, index});
  if (core.scales)
    types.append(core.packs ? 2 : 1, element);
  auto function = func::FuncOp::create(*this, core.core().symbol, getFunctionType(types, {}));
  markManyPointers(function); // a row's pointer each
  Block *entry = function.addEntryBlock();
  setInsertionPointToStart(entry);
  const Values taken = wrapAll(entry->getArguments());
  call = {taken[0], taken[1], taken[2], taken[3], taken[4], taken[5],
          taken[6], taken[7], taken[8], taken[9], taken[10]};
  ArrayRef<Emitted> more = ArrayRef<Emitted>(taken).drop_front(11);
  if (core.packs) {
    call.from = more[0], call.fromPitch = more[1], call.columns = more[2];
    more = more.drop_front(3);
  }
  if (core.scales)
    call.unscale = more[0];
  if (core.scales && core.packs)
    call.scale = more[1];
}

void StripCode::emit() {
  if (core.packs)
    packWithFirstRows();
  else
    multiplyAll();
  func::ReturnOp::create(*this);
}

void StripCode::multiplyAll() {
  Emitted row = call.first;
  for (const int64_t count : core.rows) {
    const Emitted next = count == 1 ? call.end : row + groupsOfRows(call.end - row, count, core.rows) * count;
    loop(row, next, constant(count),
         [&](Emitted first) { multiply(count, first, [&](const MatmulStep &step) { return packedColumns(step); }); });
    row = next;
  }
}

void StripCode::packWithFirstRows() {
  const auto columns = [&](const MatmulStep &step) { return packColumns(step); };
  const auto packAlone = [&] {
    loop(constant(0), call.count, constant(1), [&](Emitted k) {
      for (int64_t vector = 0; vector < core.vectors; ++vector)
        prefetch(at(call.from, (k + depthAhead) * call.fromPitch + vector * core.lanes), /*toWrite=*/false);
      columns({k});
    });
  };
  branch(call.first + core.rows[0] <= call.end, [&] { multiply(core.rows[0], call.first, columns); }, packAlone);
}

Values StripCode::begin(int64_t count, Emitted sums, Emitted a) {
  const Emitted zeros = splat(zero(element), core.lanes);
  Values now;
  if (core.scales)
    return Values(size_t(count * core.vectors), zeros);
  for (int64_t line = 0; line < count; ++line)
    for (int64_t vector = 0; vector < core.vectors; ++vector) {
      now.push_back(select(call.continues, load(lanes, place(sums, line, vector)), zeros));
      if (core.correction != 0)
        now.back() = now.back() + splat(load(element, at(a, call.rowPitch * line + core.correction)), core.lanes);
    }
  return now;
}

void StripCode::multiply(int64_t count, Emitted row, const Columns &columns) {
  const Emitted sums = at(call.sums, row * call.sumsPitch), inPanel = row.like(core.lanes);
  const MatmulSums::Rows rows{at(call.a, row / inPanel * call.panelPitch + row % inPanel * call.rowPitch),
                              call.rowPitch, call.depthPitch};
  MatmulSums multiplied(*this, core.rule, lanes);
  multiplied.vectors = core.vectors;
  const Values done = multiplied.multiply(
      begin(count, sums, rows.first), rows, call.count, columns,
      [&](Emitted begin, Emitted end, Emitted step, ArrayRef<Emitted> carried,
          llvm::function_ref<Values(Emitted, const Values &)> body) { return loop(begin, end, step, carried, body); });
  for (const auto &[position, sum] : llvm::enumerate(done)) {
    const auto [line, vector] = std::div(int64_t(position), core.vectors);
    const Emitted to = place(sums, line, vector);
    store(core.scales ? addUnscaled(sum, to) : sum, to);
  }
}

/// Unscales the sum of this part of K, and adds the sum of the earlier parts, which is stored at `to`.
Emitted StripCode::addUnscaled(Emitted sum, Emitted to) {
  const Emitted zeros = splat(zero(element), core.lanes);
  return sum * splat(call.unscale, core.lanes) + select(call.continues, load(lanes, to), zeros);
}

Values StripCode::packedColumns(const MatmulStep &step) {
  Values read;
  for (int64_t vector = 0; vector < core.vectors; ++vector)
    read.push_back(
        load(lanes, at(call.b, (step.k * core.vectors + vector) * core.lanes), core.lanes * elementBytes(element)));
  return read;
}

Values StripCode::packColumns(const MatmulStep &step) {
  Values read;
  for (int64_t vector = 0; vector < core.vectors; ++vector) {
    const Emitted from = at(call.from, step.k * call.fromPitch + vector * core.lanes);
    const auto all = [&] { return Values{load(lanes, from)}; };
    const auto some = [&] {
      const Type i32 = getI32Type();
      const Emitted left = splat(minimum(call.columns, constant(core.lanes)).narrow(i32), core.lanes);
      return Values{loadMasked(lanes, from, steps(i32, core.lanes) < left)};
    };
    read.append(core.vectors > 1 ? all() : core.masks ? some() : choose(call.columns >= core.lanes, all, some));
    if (core.scales)
      read.back() = read.back() * splat(call.scale, core.lanes);
    store(read.back(), at(call.b, (step.k * core.vectors + vector) * core.lanes), core.lanes * elementBytes(element));
  }
  return read;
}

} // namespace

Values StripCore::Call::arguments() const {
  Values all{a, rowPitch, depthPitch, panelPitch, b, count, sums, sumsPitch, continues, first, end};
  if (from)
    all.append({from, fromPitch, columns});
  for (const Emitted &factor : {unscale, scale})
    if (factor)
      all.push_back(factor);
  return all;
}

Core StripCore::core() const {
  const StringRef product = cpu::stringifyProduct(rule.product->product);
  std::string symbol = fmt::format("{}sums_{}_{}", Core::prefix.str(), product.str(), accumulator);
  for (const auto &[holds, word] :
       {std::pair(rule.fuses, "fused"), std::pair(rule.ordered, "ordered"), std::pair(rule.widens, "widened"),
        std::pair(correction != 0, "corrected"), std::pair(packs, "packing"), std::pair(scales, "scaled")})
    if (holds)
      symbol += fmt::format("_{}", word);
  const ArrayRef<int64_t> made = packs ? ArrayRef<int64_t>(rows).take_front() : ArrayRef<int64_t>(rows);
  symbol += fmt::format("_{}x{}", fmt::join(made, "_"), vectors);
  std::string method = fmt::format("{} x {} sums in registers", rows[0], vectors * lanes);
  return {std::move(symbol), std::move(method), [own = *this](ModuleOp module) { own.emit(module); }};
}

void StripCore::emit(ModuleOp module) const { StripCode(*this, module).emit(); }

} // namespace halftone::compiler
