// Matmul kernels: a tile of the product a block.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/Emitters.h"
#include "compiler/targets/nvptx/MatmulFma.h"
#include "compiler/targets/nvptx/MatmulMma.h"
#include <fmt/format.h>

namespace halftone::compiler {
using namespace mlir;

namespace {

template <class Multiplier> void emitTile(const MatmulCta &cta, Multiplier multiplier) {
  MatmulTileEpilogue epilogue(cta, multiplier.chunkColumns());
  const Emitted shared = cta.frame.shared(std::max(multiplier.bytes(), epilogue.bytes()), 128);
  const Values sums = multiplier.sums(shared);
  epilogue.place(shared);
  cta.frame.barrier(); // the threads have read the last stage
  for (int64_t chunk = 0; chunk < cta.tiling.columns / multiplier.chunkColumns(); ++chunk) {
    multiplier.put(sums, chunk, epilogue);
    epilogue.finishChunk(chunk * multiplier.chunkColumns());
  }
  epilogue.finishTile();
}

std::string methodOf(const MatmulSource &source, const MatmulTiling &tiling) {
  std::string method = source.source.form.instruction;
  if (method.empty())
    llvm::raw_string_ostream(method) << source.accumulator << " multiply-add";
  return fmt::format("{}, tiles of {} x {} x {}, {} x {} sums a {}", method, tiling.rows, tiling.columns, tiling.depth,
                     tiling.partRows, tiling.partColumns, tiling.workers == 1 ? "thread" : "warp");
}

} // namespace

FailureOr<std::string> emitMatmul(GridFrame &frame) {
  const FailureOr<MatmulSource> source = MatmulSource::read(frame.source);
  if (failed(source))
    return failure();
  const KernelForm &form = frame.source.form;
  if (form.tile.size() != 2)
    return frame.source.function.emitError("expected halftone.tile, the rows and columns of a tile");
  const MmaInstruction *mma = mmaInstructionNamed(form.instruction);
  if (!mma && !form.instruction.empty())
    return frame.source.function.emitError() << form.instruction << " is no instruction of this target for products";
  if (mma && failed(checkFactors(*source, *mma)))
    return failure();
  const MatmulTile tile{form.tile[0], form.tile[1]};
  const auto tiling = mma ? mmaTiling(tile, factorBytes(*mma)) : multiplyAddTiling(tile, source->accumulator);
  if (!tiling)
    return frame.source.function.emitError() << "no code for tiles of " << tile.m << " x " << tile.n;
  frame.threads = tiling->threads();
  const MatmulCta cta(*source, tile, *tiling, frame);
  if (mma)
    emitTile(cta, MatmulMma(cta, *mma));
  else
    emitTile(cta, MatmulFma(cta));
  return methodOf(*source, *tiling);
}

} // namespace halftone::compiler
