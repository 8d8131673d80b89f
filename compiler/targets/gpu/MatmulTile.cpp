// Tiles of products by multiply-adds, and the description of tilings.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/MatmulTile.h"
#include "compiler/targets/gpu/MatmulFma.h"
#include "compiler/targets/gpu/Schedules.h"
#include <fmt/format.h>

namespace halftone::compiler {

std::string describeTiles(std::string_view product, const MatmulTiling &tiling) {
  return fmt::format("{}, tiles of {} x {} x {}, {} x {} sums per {}", product, tiling.rows, tiling.columns,
                     tiling.depth, tiling.partRows, tiling.partColumns, tiling.workers == 1 ? "thread" : "warp");
}

mlir::FailureOr<std::string> emitMultiplyAdds(const MatmulSource &source, GridFrame &frame) {
  const ScheduleAttrInterface schedule = source.source.form.schedule;
  const auto matmul = llvm::dyn_cast_or_null<gpu::MatmulScheduleAttr>(schedule);
  if (!matmul)
    return emitUnexpected(schedule, "#halftone_gpu.matmul", frame.source.function);
  const BlockTile tile{matmul.getTile(), matmul.getDivisors()};
  std::string product;
  llvm::raw_string_ostream(product) << source.accumulator << " multiply-add";
  return emitTiles(source, tile, multiplyAddTiling(tile.sizes, source.accumulator), product, frame,
                   [](const MatmulCta &cta) { return MatmulFma(cta); });
}

} // namespace halftone::compiler
