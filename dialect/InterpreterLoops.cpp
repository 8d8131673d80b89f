// Bounds sums over the steps of a scan.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/InterpreterLoops.h"
#include "dialect/TypeInference.h"

using namespace mlir;

namespace halftone::dialect {

CarriedSums::CarriedSums(ScanOp scan, const InterpreterOptions &options) : scan(scan) {
  if (!options.intervals || options.strict || scan.getLength() == 0)
    return;
  for (unsigned carry = 0; carry < scan.getInits().size(); ++carry)
    if (SmallVector<Value> terms = addedTerms(scan, carry); !terms.empty())
      sums.push_back(
          {carry, std::move(terms), std::vector<SumBound>(tensorTypeOf(scan.getInits()[carry]).getNumElements())});
}

/// A term that is itself a sum may be merged into the total elementwise. Then its partial sums of one step are added to
/// those of all steps, and its error grows with the steps.
void CarriedSums::add(Sum &sum, const TensorData &term) {
  const double more = static_cast<double>(scan.getLength()) / 2;
  for (auto [index, bound] : llvm::enumerate(sum.bounds)) {
    Interval value = realAt(term, static_cast<int64_t>(index));
    if (const double width = value.high - value.low; std::isfinite(width))
      value = {value.low - width * more, value.high + width * more};
    bound.add(value);
  }
}

void CarriedSums::add(ValueOf valueOf) {
  for (Sum &sum : sums)
    for (Value term : sum.terms)
      add(sum, valueOf(term));
}

void CarriedSums::finish(MutableArrayRef<std::shared_ptr<const TensorData>> lasts, ValueOf valueOf) {
  for (const Sum &sum : sums) {
    const TensorData &init = valueOf(scan.getInits()[sum.carry]);
    const Rounding rounding(*dtypeOf(init.type.getElementType()));
    TensorWriter writer(init.type);
    for (auto [index, each] : llvm::enumerate(sum.bounds)) {
      SumBound bound = each;
      bound.add(realAt(init, static_cast<int64_t>(index)));
      writer.real(static_cast<int64_t>(index), bound.finish(rounding, 1));
    }
    lasts[sum.carry] = std::make_shared<TensorData>(writer.take());
  }
}

} // namespace halftone::dialect
