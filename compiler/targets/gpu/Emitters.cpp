// The GPU table of kernel kinds and their emitters.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/Emitters.h"

namespace halftone::compiler {
using namespace mlir;
using dialect::KernelKind;

namespace {

struct Row {
  KernelKind kind;
  size_t generics; // the number of generics of the linalg form; 0: any
  bool hasSchedule;
  FailureOr<std::string> (*emit)(GridFrame &frame); // null: GpuTarget::emitMatmul
};

constexpr Row rows[] = {
    {KernelKind::loop, 1, false, emitLoop},       {KernelKind::reduction_loop, 2, false, emitReductionLoop},
    {KernelKind::row, 0, true, emitRow},          {KernelKind::finish, 0, true, emitRow},
    {KernelKind::matmul, 0, true, nullptr},       {KernelKind::scatter, 0, false, emitScatter},
    {KernelKind::cumulative, 2, false, emitScan}, {KernelKind::sort, 2, false, emitSort},
};

} // namespace

FailureOr<EmittedKernel> emitKernel(func::FuncOp kernel, const GpuTarget &target) {
  FailureOr<KernelSource> source = KernelSource::read(kernel);
  if (failed(source))
    return failure();
  const Row *row = llvm::find_if(rows, [&](const Row &each) { return each.kind == source->form.kind; });
  if (row == std::end(rows))
    return kernel.emitError() << "no emitter of target " << target.name << " for halftone.kind = \""
                              << dialect::stringifyKernelKind(source->form.kind) << "\"";
  const size_t generics = source->generics.size();
  if (row->generics != 0 && generics != row->generics)
    return kernel.emitError() << "a kernel of form " << dialect::stringifyKernelKind(row->kind) << " has " << generics
                              << " linalg.generic; expected " << row->generics;
  if (source->form.schedule && !row->hasSchedule)
    return emitUnexpected(source->form.schedule, "no schedule", kernel);
  GridFrame frame(*source, target.ops());
  FailureOr<std::string> method = row->emit ? row->emit(frame) : target.emitMatmul(frame);
  if (failed(method))
    return failure();
  const FailureOr<LaunchShape> launch = frame.finish();
  if (failed(launch))
    return failure();
  return EmittedKernel{std::move(*method), *launch};
}

} // namespace halftone::compiler
