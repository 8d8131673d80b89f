// Recurrence kernels: all steps of a loop whose body computes the rows of a batch independently.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/forms/RecurrenceBody.h"
#include "compiler/forms/RecurrenceWriter.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

FusionDecision classifyRecurrence(const FormOps &ops) {
  auto scan = ops.body.ops.size() == 1 ? dyn_cast<ScanOp>(ops.body.ops.front()) : ScanOp();
  if (!scan)
    return {};
  const auto body = readRecurrence(scan);
  if (!body)
    return FusionDecision::declined("a step of the loop combines rows of the batch, or contains an unsupported op");
  if (!ops.blocking.recurrenceRows(body->traits))
    return FusionDecision::declined(
        "separate launches for each step are as fast, or the target has no code for the recurrence");
  return KernelShape{KernelKind::recurrence, {int64_t(scan.getLength()), body->traits.rows}, 0};
}

FailureOr<KernelDescription> describeRecurrence(KernelOp kernel, const Target &target, Numerics numerics) {
  ScanOp scan = *kernel.getBody().front().getOps<ScanOp>().begin();
  prepareRecurrence(scan); // form-kernels does this too, but a user may have written the kernel
  auto body = readRecurrence(scan);
  const auto rows = body && !numerics.formsAlone() ? target.blocking(numerics).recurrenceRows(body->traits)
                                                   : std::optional<int64_t>();
  if (!rows)
    return kernel.emitOpError("contains a scan that the target cannot compile as a recurrence");
  return RecurrenceWriter(kernel, scan, std::move(*body)).write(target, *rows);
}

bool fitsRecurrence(Block &ops) { return !ops.getOps<ScanOp>().empty(); }

} // namespace

extern const Form recurrenceForm = {KernelKind::recurrence, fitsRecurrence, classifyRecurrence,
                                    readsNothingInPlace,    nullptr,        describeRecurrence};

} // namespace halftone::compiler
