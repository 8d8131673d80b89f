// Recurrence kernels: all steps of a loop whose bodies treat the rows of a batch apart.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/forms/RecurrenceBody.h"
#include "compiler/forms/RecurrenceWriter.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

namespace {

std::optional<KernelShape> classifyRecurrence(const FormOps &ops) {
  auto scan = ops.body.ops.size() == 1 ? dyn_cast<ScanOp>(ops.body.ops.front()) : ScanOp();
  const auto body = scan ? readRecurrence(scan) : std::nullopt;
  if (!body || !ops.blocking.recurrenceRows(body->traits))
    return std::nullopt;
  return KernelShape{KernelKind::recurrence, {int64_t(scan.getLength()), body->traits.rows}, 0};
}

FailureOr<KernelDescription> describeRecurrence(KernelOp kernel, const Target &target, Numerics numerics) {
  ScanOp scan = *kernel.getBody().front().getOps<ScanOp>().begin();
  prepareRecurrence(scan); // form-kernels has done so, but the kernel may be a user's
  auto body = readRecurrence(scan);
  const auto rows = body && !numerics.formsAlone() ? target.blocking(numerics).recurrenceRows(body->traits)
                                                   : std::optional<int64_t>();
  if (!rows)
    return kernel.emitOpError("holds a scan for which the target has no recurrence");
  return RecurrenceWriter(kernel, scan, std::move(*body)).write(target, *rows);
}

bool fitsRecurrence(Block &ops) { return !ops.getOps<ScanOp>().empty(); }

} // namespace

extern const Form recurrenceForm = {KernelKind::recurrence, fitsRecurrence, classifyRecurrence,
                                    readsNothingInPlace,    nullptr,        describeRecurrence};

} // namespace halftone::compiler
