// Tiles of products by multiply-adds, and the words for tiles.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/MatmulTile.h"
#include "compiler/targets/gpu/MatmulFma.h"
#include <fmt/format.h>

namespace halftone::compiler {

std::string describeTiles(std::string_view product, const MatmulTiling &tiling) {
  return fmt::format("{}, tiles of {} x {} x {}, {} x {} sums a {}", product, tiling.rows, tiling.columns, tiling.depth,
                     tiling.partRows, tiling.partColumns, tiling.workers == 1 ? "thread" : "warp");
}

mlir::FailureOr<std::string> emitMultiplyAdds(const MatmulSource &source, const MatmulTile &tile, GridFrame &frame) {
  std::string product;
  llvm::raw_string_ostream(product) << source.accumulator << " multiply-add";
  return emitTiles(source, tile, multiplyAddTiling(tile, source.accumulator), product, frame,
                   [](const MatmulCta &cta) { return MatmulFma(cta); });
}

} // namespace halftone::compiler
