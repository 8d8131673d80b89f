// Multiplies a few rows by a few vectors of columns.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulSums.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace halftone::compiler {
using namespace mlir;

Values MatmulSums::multiply(const Values &begin, const Rows &rows, Emitted count,
                            const std::function<Values(const MatmulStep &)> &b, Loop loop) const {
  const size_t many = begin.size();
  const int64_t lines = int64_t(many) / vectors;
  // Few sums cannot hide the latency: each is then split into several partial sums that alternate along K.
  const size_t partialSums = rule.ordered ? 1 : std::max<size_t>(1, size_t(sumsInFlight) / many);
  Values carried = begin;
  carried.resize(partialSums * many, code.splat(code.zero(lanes.getElementType()), lanes.getNumElements()));
  const auto step = [&](Emitted k, const Values &column, MutableArrayRef<Emitted> sums) {
    const Emitted fromA = at(rows.first, k * rows.depthPitch);
    for (int64_t line = 0; line < lines; ++line) {
      const Emitted element =
          code.splat(code.load(lanes.getElementType(), at(fromA, rows.rowPitch * line)), lanes.getNumElements());
      for (int64_t vector = 0; vector < vectors; ++vector) {
        Emitted &sum = sums[size_t(line * vectors + vector)];
        sum = multiplyAdd(element, column[size_t(vector)], sum);
      }
    }
  };
  const int64_t steps = std::max(int64_t(partialSums), depthOfWord); // so that positions in words are constants
  const Emitted whole = count / code.constant(steps) * steps;
  Values done = loop(code.constant(0), whole, code.constant(steps), carried, [&](Emitted k, const Values &now) {
    const auto all = [&](std::optional<Emitted> sameLookups) {
      Values sums = now;
      for (int64_t offset = 0; offset < steps; ++offset) {
        const Values column = b({k + offset, offset % depthOfWord, sameLookups});
        step(k + offset, column, MutableArrayRef<Emitted>(sums).slice(size_t(offset) % partialSums * many, many));
      }
      return sums;
    };
    if (!haveSameLookups)
      return all(std::nullopt);
    return code.choose(haveSameLookups(k, steps), [&] { return all(k); }, [&] { return all(std::nullopt); });
  });
  if (steps > 1) {
    const ArrayRef<Emitted> once = ArrayRef<Emitted>(done).take_front(many);
    const Values first = loop(whole, count, code.constant(1), once, [&](Emitted k, const Values &now) {
      Values sums = now;
      step(k, b({k}), sums);
      return sums;
    });
    llvm::copy(first, done.begin());
    for (size_t distance = partialSums / 2; distance > 0; distance /= 2)
      for (size_t i = 0; i < distance * many; ++i)
        done[i] = done[i] + done[i + distance * many];
  }
  done.truncate(many);
  return done;
}

Emitted MatmulSums::multiplyAdd(Emitted x, Emitted y, Emitted sum) const {
  if (rule.product->group == 1 && rule.fuses)
    return code.wrap(math::FmaOp::create(code, x.value(), y.value(), sum.value()));
  return rule.widens ? rule.product->multiplyWidened(code, sum, x, y) : rule.product->multiply(code, sum, x, y);
}

} // namespace halftone::compiler
