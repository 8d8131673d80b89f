// Matmul kernels on NVIDIA GPUs: a tile of the product a block.
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
  const KernelForm &form = frame.source.form;
  if (form.tile.size() != 2)
    return frame.source.function.emitError("expected halftone.tile, the rows and columns of a tile");
  const MatmulTile tile{form.tile[0], form.tile[1]};
  if (form.instruction.empty())
    return emitMultiplyAdds(*source, tile, frame);
  const MmaInstruction *mma = mmaInstructionNamed(form.instruction);
  if (!mma)
    return frame.source.function.emitError() << form.instruction << " is no instruction of this target for products";
  if (failed(checkFactors(*source, *mma)))
    return failure();
  return emitTiles(*source, tile, mmaTiling(tile, mma->factorBytes()), mma->name, frame,
                   [&](const MatmulCta &cta) { return MatmulMma(cta, *mma); });
}

} // namespace halftone::compiler
