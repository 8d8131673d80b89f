// Matmul kernels on NVIDIA GPUs: one tile of the product per block.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/GridFrame.h"
#include "compiler/targets/gpu/MatmulTile.h"
#include "compiler/targets/nvptx/MatmulMma.h"
#include "compiler/targets/nvptx/NvptxTarget.h"

namespace halftone::compiler {
using namespace mlir;

FailureOr<std::string> NvptxTarget::emitMatmul(GridFrame &frame) const {
  const FailureOr<MatmulSource> source = MatmulSource::read(frame.source);
  if (failed(source))
    return failure();
  const ScheduleAttrInterface schedule = frame.source.form.schedule;
  auto byMma = dyn_cast_or_null<nvptx::MmaScheduleAttr>(schedule);
  if (!byMma)
    return emitMultiplyAdds(*source, frame);
  const MmaInstruction &mma = mmaInstruction(byMma.getProduct());
  if (failed(checkFactors(*source, mma)))
    return failure();
  const BlockTile tile{byMma.getTile(), byMma.getDivisors()};
  return emitTiles(*source, tile, mmaTiling(tile.sizes, mma.factorBytes()), mma.name, frame,
                   [&](const MatmulCta &cta) { return MatmulMma(cta, mma); });
}

} // namespace halftone::compiler
