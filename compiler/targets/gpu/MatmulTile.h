// The code of a product's tile, independent of how the sums are computed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/MatmulTileEpilogue.h"

namespace halftone::compiler {

/// A description of the computation, for reports: the product's name and the tiling.
std::string describeTiles(std::string_view product, const MatmulTiling &tiling);

/// Emits the sums of a tile with `multiplier`, and its results. A multiplier is a class like MatmulFma.
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

/// Emits the work of a block of `frame` whose threads share `tile` by `tiling`, with the multiplier that
/// `makeMultiplier` creates from the block's MatmulCta. Fails with a diagnostic if there is no tiling, or if the number
/// of divisors is not that of the dims.
template <class MakeMultiplier>
mlir::FailureOr<std::string> emitTiles(const MatmulSource &source, const BlockTile &tile,
                                       const std::optional<MatmulTiling> &tiling, std::string_view product,
                                       GridFrame &frame, MakeMultiplier makeMultiplier) {
  if (int64_t(tile.divisors.size()) != source.source.dims)
    return frame.source.function.emitError() << "a schedule with " << tile.divisors.size() << " divisors; expected "
                                             << source.source.dims << ", one per dim";
  if (!tiling)
    return frame.source.function.emitError()
           << "tiles of " << tile.sizes.m << " x " << tile.sizes.n << " are not supported";
  frame.threads = tiling->threads();
  const MatmulCta cta(source, tile, *tiling, frame);
  emitTile(cta, makeMultiplier(cta));
  return describeTiles(product, *tiling);
}

/// emitTiles() with multiply-adds in the accumulator's type. Fails with a diagnostic unless the kernel's schedule is
/// #halftone_gpu.matmul.
mlir::FailureOr<std::string> emitMultiplyAdds(const MatmulSource &source, GridFrame &frame);

} // namespace halftone::compiler
