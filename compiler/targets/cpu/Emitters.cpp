// The CPU's table of kernel kinds: the emitter and the scratch of each.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/Emitters.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::compiler {
using namespace mlir;

namespace {

int64_t loopScratch(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &) {
  const int64_t packed =
      llvm::count_if(source.form.results, [](const TensorForm &result) { return result.panels.has_value(); });
  return packed ? packed * stagedBytes(extents[source.dims + 1]) : source.transposedOperands() * transposedSquareBytes;
}

/// A row of each value that one phase keeps for a later one.
int64_t rowScratch(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &) {
  int64_t columns = 1, bytes = 0;
  for (int64_t extent : extents.take_front(source.dims).drop_front(source.form.outer))
    columns *= extent;
  for (linalg::GenericOp generic : source.generics)
    for (auto [value, combiner] : llvm::zip(generic.getResults(), combinersOf(generic))) {
      if (!combiner.empty() || llvm::is_contained(source.results(), value))
        continue;
      const Type element = cast<RankedTensorType>(value.getType()).getElementType();
      bytes += ceilDivide(columns * std::max(1u, element.getIntOrFloatBitWidth() / 8), 64) * 64;
    }
  return bytes;
}

int64_t noScratch(const KernelSource &, ArrayRef<int64_t>, const CpuTarget &) { return 0; }

struct Row {
  StringLiteral kind;
  FailureOr<std::string> (*emit)(const KernelSource &source, const CpuTarget &target, OpBuilder &builder);
  int64_t (*scratch)(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target);
};

template <LogicalResult emit(const KernelSource &, const CpuTarget &, OpBuilder &)>
FailureOr<std::string> inVectors(const KernelSource &source, const CpuTarget &target, OpBuilder &builder) {
  if (failed(emit(source, target, builder)))
    return failure();
  return fmt::format("{}-byte vectors", target.vectorBytes);
}

constexpr Row rows[] = {
    {"loop", inVectors<emitLoop>, loopScratch}, {"reduction_loop", inVectors<emitReductionLoop>, noScratch},
    {"row", inVectors<emitRow>, rowScratch},    {"finish", inVectors<emitRow>, noScratch},
    {"matmul", emitMatmul, matmulScratchBytes}, {"scatter", inVectors<emitScatter>, noScratch},
    {"scan", inVectors<emitScan>, noScratch},
};

const Row *rowOf(StringRef kind) {
  const Row *row = llvm::find_if(rows, [&](const Row &each) { return each.kind == kind; });
  return row == std::end(rows) ? nullptr : row;
}

} // namespace

FailureOr<std::string> emitKernel(func::FuncOp kernel, const CpuTarget &target) {
  FailureOr<KernelSource> source = KernelSource::read(kernel);
  if (failed(source))
    return failure();
  const Row *row = rowOf(source->form.kind);
  if (!row)
    return kernel.emitError() << "no emitter for halftone.kind = \"" << source->form.kind << "\"";
  OpBuilder builder(kernel);
  return row->emit(*source, target, builder);
}

int64_t kernelScratchBytes(func::FuncOp kernel, ArrayRef<int64_t> extents, const CpuTarget &target) {
  FailureOr<KernelSource> source = KernelSource::read(kernel);
  const Row *row = succeeded(source) ? rowOf(source->form.kind) : nullptr;
  return row ? row->scratch(*source, extents, target) : 0;
}

} // namespace halftone::compiler
