// Micro-kernel sizes, from the CPU's registers, and the resulting scratch sizes.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulSizes.h"
#include "compiler/kernels/MatmulSource.h"
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/matmul/MatmulSchedule.h"

namespace halftone::compiler {
using namespace mlir;

MatmulSizes::MatmulSizes(const CpuTarget &cpu, Type accumulator, const ProductRow &product, bool tallSums) {
  if (accumulator.getIntOrFloatBitWidth() == 32)
    depth = 512;
  lanes = cpu.vectorBytes * 8 / accumulator.getIntOrFloatBitWidth();
  // As many sums as leave room for a row of the panel, one broadcast element of A and, without fused multiply-add, the
  // product. At least eight sums when columns are processed one vector at a time, to hide the latency of additions.
  if (cpu.vectorRegisters >= 32) {
    vectors = 4, panelRows = {6, 2, 1}, vectorRows = {12, 4, 1};
  } else if (cpu.math.hasFma) {
    vectors = 3, panelRows = {4, 1}, vectorRows = {8, 4, 1};
  } else {
    vectors = 2, panelRows = {4, 1}, vectorRows = {4, 1};
  }
  if (product.usesTiles()) {
    rowStep = lanes;
    depth = 1536; // sums are stored after each part of K, and A in several parts is packed for each block
  }
  if (product.group > 1)
    panelRows = {6, 4, 2, 1};
  if (tallSums)
    vectors = 2, panelRows = {12, 4, 2, 1};
}

static bool readsImage(const KernelSource &source) {
  return matmulScheduleOf(source).getWindow() == cpu::WindowRead::image;
}

MatmulSizes::MatmulSizes(const CpuTarget &cpu, Type accumulator, const KernelSource &source)
    : MatmulSizes(cpu, accumulator, productOf(source, cpu),
                  matmulScheduleOf(source).getSums() == cpu::SumShape::tall || readsImage(source)) {
  if (!readsImage(source))
    return;
  // Lines of typical images have multiples of seven positions. Few strips have one vector, so there is less code for
  // them.
  if (cpu.vectorRegisters >= 32)
    panelRows = {14, 7, 4, 2, 1}, vectorRows = {7, 1};
  else
    panelRows = {6, 4, 3, 1}, vectorRows = {4, 1};
}

MatmulScratch::MatmulScratch(const MatmulSizes &sizes, int64_t tileRows, int64_t tileColumns, bool packsRows) {
  const int64_t padded = roundUp(tileColumns, sizes.lanes);
  a = packsRows ? roundUp(tileRows + 1, sizes.lanes) * sizes.rowPitch() : 0; // groups take one more row
  b = padded * sizes.depth;
  sums = roundUp(tileRows + 1, sizes.rowStep) * padded;
  square = sizes.lanes * (sizes.lanes + 1);
}

int64_t matmulScratchBytes(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target) {
  const linalg::GenericOp contraction = MatmulSource::contractionOf(source);
  if (!contraction)
    return 0;
  const Type accumulator = MatmulSource::accumulatorOf(contraction);
  const MatmulScratch scratch(MatmulSizes(target, accumulator, source), extents[size_t(source.dims)],
                              extents[size_t(source.dims) + 1], !readsImage(source));
  return MatmulScratch::headBytes +
         (scratch.a + scratch.b + scratch.sums + scratch.square) * int64_t(accumulator.getIntOrFloatBitWidth() / 8);
}

} // namespace halftone::compiler
