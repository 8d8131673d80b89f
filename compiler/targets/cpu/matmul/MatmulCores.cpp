// Emits the code of matmul cores.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulCores.h"
#include "compiler/targets/cpu/matmul/SubnormalWatch.h"
#include "compiler/targets/cpu/matmul/SumsCode.h"
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
  // Two or three remaining rows would stall on the loads of B: use one group of six fewer, and groups of four.
  const Emitted rest = rows % rows.like(int64_t(6));
  return select((times > 0) & (rest > 1) & (rest < 4), times - 1, times);
}

namespace {

class StripCode : public SumsCode {
public:
  StripCode(const StripCore &core, ModuleOp module);
  void emit();

private:
  using Columns = std::function<Values(const MatmulStep &)>;

  void multiplyAll();
  void packWithFirstRows();
  Emitted multiplyWatching();
  Values multiply(int64_t count, Emitted row, const Columns &columns);
  void store(const Values &sums, Emitted row);
  Values begin(int64_t count, Emitted sums, Emitted a);
  Emitted addUnscaled(Emitted sum, Emitted to);
  Values packedColumns(const MatmulStep &step);
  Values unpackedColumns(const MatmulStep &step);
  Emitted fromB(Emitted k, int64_t vector) {
    return address(call.from, core.operand.stored(element), k * call.fromPitch + vector * core.lanes);
  }

  const StripCore &core;
  StripCore::Call call;
  SubnormalWatch watch;
};

StripCode::StripCode(const StripCore &core, ModuleOp module)
    : SumsCode(module, core.accumulator, core.lanes, core.vectors), core(core), watch(*this, core.lanes, core.watches) {
  const Type pointer = LLVM::LLVMPointerType::get(getContext()), index = getI64Type();
  SmallVector<Type> types{pointer, index, index, index, pointer, index, pointer, index, getI1Type(), index, index},
      results;
  if (core.readsUnpacked())
    types.append({pointer, index, index});
  if (core.scales)
    types.append(core.readsUnpacked() ? 2 : 1, element);
  if (core.inPanels)
    types.push_back(index);
  if (core.watches)
    types.push_back(pointer), results.push_back(getI1Type());
  const Values taken = start(core.core().symbol, types, results, core.manyPointers);
  call = {taken[0], taken[1], taken[2], taken[3], taken[4], taken[5],
          taken[6], taken[7], taken[8], taken[9], taken[10]};
  firstSums = call.sums, sumsPitch = call.sumsPitch;
  ArrayRef<Emitted> more = ArrayRef<Emitted>(taken).drop_front(11);
  if (core.readsUnpacked()) {
    call.from = more[0], call.fromPitch = more[1], call.columns = more[2];
    more = more.drop_front(3);
  }
  if (core.scales)
    call.unscale = more.consume_front();
  if (core.scales && core.readsUnpacked())
    call.scale = more.consume_front();
  if (core.inPanels)
    call.panel = more.consume_front();
  if (core.watches)
    call.watched = more.consume_front();
}

void StripCode::emit() {
  Values results;
  if (core.watches)
    results.push_back(multiplyWatching());
  else if (core.packs)
    packWithFirstRows();
  else
    multiplyAll();
  func::ReturnOp::create(*this, plain(results));
}

void StripCode::multiplyAll() {
  const auto columns = [&](const MatmulStep &step) {
    return core.inPlace ? unpackedColumns(step) : packedColumns(step);
  };
  Emitted row = call.first;
  for (const int64_t count : core.rows) {
    const Emitted next = count == 1 ? call.end : row + groupsOfRows(call.end - row, count, core.rows) * count;
    loop(row, next, constant(count), [&](Emitted first) { store(multiply(count, first, columns), first); });
    row = next;
  }
}

void StripCode::packWithFirstRows() {
  const auto columns = [&](const MatmulStep &step) { return unpackedColumns(step); };
  const auto packAlone = [&] {
    loop(constant(0), call.count, constant(1), [&](Emitted k) {
      for (int64_t vector = 0; vector < core.vectors; ++vector)
        prefetch(fromB(k + depthAhead, vector), /*toWrite=*/false);
      columns({k});
    });
  };
  branch(
      call.first + core.rows[0] <= call.end, [&] { store(multiply(core.rows[0], call.first, columns), call.first); },
      packAlone);
}

Values StripCode::begin(int64_t count, Emitted sums, Emitted a) {
  const Emitted zeros = splat(zero(element), core.lanes);
  Values now;
  if (core.scales)
    return Values(size_t(count * core.vectors), zeros);
  for (int64_t line = 0; line < count; ++line)
    for (int64_t vector = 0; vector < core.vectors; ++vector) {
      now.push_back(select(call.continues, load(lanes, addressOf(sums, line, vector)), zeros));
      if (core.correction != 0)
        now.back() = now.back() + splat(load(element, at(a, call.rowPitch * line + core.correction)), core.lanes);
    }
  return now;
}

Emitted StripCode::multiplyWatching() {
  const auto first = [&](int64_t count) {
    watch.start();
    const Values sums = multiply(count, call.first, [&](const MatmulStep &step) { return packedColumns(step); });
    const Emitted foundSubnormal = watch.foundSubnormal(call.watched);
    watch.stop();
    branch(foundSubnormal, [] {}, [&] { store(sums, call.first); });
    return Values{foundSubnormal};
  };
  const int64_t maxRows = core.rows[0];
  return choose(call.first + maxRows <= call.end, [&] { return first(maxRows); }, [&] { return first(1); })[0];
}

Values StripCode::multiply(int64_t count, Emitted row, const Columns &columns) {
  const Emitted inPanel = row.like(core.lanes);
  const MatmulSums::Rows rows{at(call.a, row / inPanel * call.panelPitch + row % inPanel * call.rowPitch),
                              call.rowPitch, call.depthPitch};
  MatmulSums multiplied(*this, core.rule, lanes);
  multiplied.vectors = core.vectors;
  return multiplied.multiply(begin(count, sumsOf(row), rows.first), rows, call.count, columns,
                             [&](Emitted begin, Emitted end, Emitted step, ArrayRef<Emitted> carried,
                                 llvm::function_ref<Values(Emitted, const Values &)> body) {
                               return watch.loop(begin, end, step, carried, body);
                             });
}

void StripCode::store(const Values &sums, Emitted row) {
  const Emitted first = sumsOf(row);
  for (const auto &[position, sum] : llvm::enumerate(sums)) {
    const auto [line, vector] = std::div(int64_t(position), core.vectors);
    const Emitted to = addressOf(first, line, vector);
    CodeBuilder::store(core.scales ? addUnscaled(sum, to) : sum, to);
  }
}

/// Unscales the sum of this slice of K and adds the sum of the earlier slices, which is stored at `to`.
Emitted StripCode::addUnscaled(Emitted sum, Emitted to) {
  const Emitted zeros = splat(zero(element), core.lanes);
  return sum * splat(call.unscale, core.lanes) + select(call.continues, load(lanes, to), zeros);
}

Values StripCode::packedColumns(const MatmulStep &step) {
  Values read;
  for (int64_t vector = 0; vector < core.vectors; ++vector) {
    const Emitted offset =
        core.inPanels ? call.panel * vector + step.k * core.lanes : (step.k * core.vectors + vector) * core.lanes;
    const Emitted groups = load(lanes, at(call.b, offset), core.lanes * elementBytes(element));
    read.push_back(core.biases ? biasedBytes(groups) : groups);
    watch.check(read.back());
  }
  return read;
}

/// Reads columns of unpacked B, which are also stored to the strip if the core packs.
Values StripCode::unpackedColumns(const MatmulStep &step) {
  Values read;
  for (int64_t vector = 0; vector < core.vectors; ++vector) {
    const VectorType stored = VectorType::get(core.lanes, core.operand.stored(element));
    const Emitted from = fromB(step.k, vector);
    const auto all = [&] { return Values{load(stored, from)}; };
    const auto some = [&] {
      const Type i32 = getI32Type();
      const Emitted left = splat(minimum(call.columns, constant(core.lanes)).narrow(i32), core.lanes);
      return Values{loadMasked(stored, from, steps(i32, core.lanes) < left)};
    };
    const Values found = core.vectors > 1 ? all() : core.masks ? some() : choose(call.columns >= core.lanes, all, some);
    read.push_back(core.operand.packed(*this, found[0]));
    if (core.scales)
      read.back() = read.back() * splat(call.scale, core.lanes);
    if (core.packs)
      CodeBuilder::store(read.back(), at(call.b, (step.k * core.vectors + vector) * core.lanes),
                         core.lanes * elementBytes(element));
  }
  return read;
}

} // namespace

Values StripCore::Call::arguments() const {
  Values all{a, rowPitch, depthPitch, panelPitch, b, count, sums, sumsPitch, continues, first, end};
  if (from)
    all.append({from, fromPitch, columns});
  for (const Emitted &other : {unscale, scale, panel, watched})
    if (other)
      all.push_back(other);
  return all;
}

Core StripCore::core() const {
  const StringRef product = cpu::stringifyProduct(rule.product->product);
  std::string symbol = fmt::format("{}sums_{}_{}", Core::prefix.str(), product.str(), accumulator);
  for (const auto &[holds, word] :
       {std::pair(rule.fuses, "fused"), std::pair(rule.ordered, "ordered"), std::pair(rule.widens, "widened"),
        std::pair(correction != 0, "corrected"), std::pair(packs, "packing"), std::pair(inPlace, "in_place"),
        std::pair(scales, "scaled"), std::pair(inPanels, "in_panels"), std::pair(biases, "biased"),
        std::pair(watches, "watching")})
    if (holds)
      symbol += fmt::format("_{}", word);
  if (!operand.narrow.empty())
    symbol += fmt::format("_{}", operand.narrow);
  const ArrayRef<int64_t> rowCounts = packs ? ArrayRef<int64_t>(rows).take_front() : ArrayRef<int64_t>(rows);
  symbol += fmt::format("_{}x{}", fmt::join(rowCounts, "_"), vectors);
  std::string method = fmt::format("{} x {} sums in registers", rows[0], vectors * lanes);
  return {std::move(symbol), std::move(method), [own = *this](ModuleOp module) { own.emit(module); }};
}

void StripCore::emit(ModuleOp module) const { StripCode(*this, module).emit(); }

} // namespace halftone::compiler
