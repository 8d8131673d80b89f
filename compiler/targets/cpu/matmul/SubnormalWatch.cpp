// Detects subnormal numbers.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/SubnormalWatch.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

void SubnormalWatch::start() {
  minima.clear();
  if (!watches)
    return;
  const VectorType halves = VectorType::get(2 * lanes, code.getI16Type());
  minima.push_back(code.constant(cast<TypedAttr>(DenseElementsAttr::get(halves, code.getI16IntegerAttr(-1)))));
}

void SubnormalWatch::check(Emitted groups) {
  if (isOn())
    minima[0] = updated(code, minima[0], groups);
}

Emitted SubnormalWatch::updated(CodeBuilder &code, Emitted minima, Emitted groups) {
  // Shifting out the sign bit and subtracting 1 makes zeros the largest unsigned numbers, and subnormal ones the
  // smallest.
  const Emitted halves = code.wrap(vector::BitCastOp::create(code, minima.type(), groups.value()));
  return minimumUnsigned(minima, (halves + halves) - 1);
}

void SubnormalWatch::save(Emitted at) const {
  if (isOn())
    code.store(minima[0], at, 4 * lanes);
}

Emitted SubnormalWatch::foundSubnormal(Emitted at) const {
  const Emitted saved = code.load(minima[0].type(), at, 4 * lanes);
  return isSubnormal(minimumUnsigned(minima[0], saved));
}

Emitted SubnormalWatch::isSubnormal(Emitted magnitudes) const {
  constexpr int64_t smallestNormal = 2 * 0x80 - 1;
  const Emitted one = code.wrap(vector::ReductionOp::create(code, vector::CombiningKind::MINUI, magnitudes.value()));
  return isLessUnsigned(one, one.like(smallestNormal));
}

/// Returns `all` without the vector of magnitudes at its end, which becomes `minima`.
Values SubnormalWatch::takeMagnitudes(const Values &all) {
  const ArrayRef<Emitted> list(all);
  const Values own(list.drop_back(minima.size()));
  minima = Values(list.take_back(minima.size()));
  return own;
}

Values SubnormalWatch::loop(Emitted begin, Emitted end, Emitted step, ArrayRef<Emitted> carried,
                            llvm::function_ref<Values(Emitted, const Values &)> body) {
  Values all(carried);
  all.append(minima);
  return takeMagnitudes(code.loop(begin, end, step, all, [&](Emitted index, const Values &now) {
    Values next = body(index, takeMagnitudes(now));
    next.append(minima);
    return next;
  }));
}

void SubnormalWatch::loop(Emitted begin, Emitted end, Emitted step, llvm::function_ref<void(Emitted)> body) {
  loop(begin, end, step, {}, [&](Emitted index, const Values &) {
    body(index);
    return Values();
  });
}

} // namespace halftone::compiler
