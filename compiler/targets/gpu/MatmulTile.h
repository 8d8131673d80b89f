// The code of a tile of a product, whichever way its sums are made.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/MatmulTileEpilogue.h"

namespace halftone::compiler {

/// How the code computes, for reports: the product's name and how its tile is shared.
std::string describeTiles(std::string_view product, const MatmulTiling &tiling);

/// Writes a tile's sums, by `multiplier`, and its results. A multiplier is a class like MatmulFma.
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

/// Writes the work of a block of `frame` whose threads share `tile` as `tiling` says, by the multiplier that
/// `makeMultiplier` returns of the block's MatmulCta. Without a tiling, or with divisors of other dims, a diagnostic says so.
template <class MakeMultiplier>
mlir::FailureOr<std::string> emitTiles(const MatmulSource &source, const BlockTile &tile,
                                       const std::optional<MatmulTiling> &tiling, std::string_view product,
                                       GridFrame &frame, MakeMultiplier makeMultiplier) {
  if (int64_t(tile.divisors.size()) != source.source.dims)
    return frame.source.function.emitError() << "a schedule with " << tile.divisors.size() << " divisors; expected "
                                             << source.source.dims << ", one of each dim";
  if (!tiling)
    return frame.source.function.emitError() << "no code for tiles of " << tile.sizes.m << " x " << tile.sizes.n;
  frame.threads = tiling->threads();
  const MatmulCta cta(source, tile, *tiling, frame);
  emitTile(cta, makeMultiplier(cta));
  return describeTiles(product, *tiling);
}

/// The same by multiply-adds in the accumulator's type, if the kernel's schedule is #halftone_gpu.matmul; else a diagnostic says
/// that it is not.
mlir::FailureOr<std::string> emitMultiplyAdds(const MatmulSource &source, GridFrame &frame);

} // namespace halftone::compiler
