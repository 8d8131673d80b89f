// Stores lines of the fusion report in locations.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reports/FusionReport.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

/// The key of the lines in the metadata of a FusedLoc.
static constexpr llvm::StringLiteral fusionKey = "fusion";

Location withFusion(Location location, ArrayRef<std::string> lines) {
  Builder builder(location.getContext());
  const SmallVector<StringRef> texts(lines.begin(), lines.end());
  const NamedAttribute metadata(builder.getStringAttr(fusionKey), builder.getStrArrayAttr(texts));
  return FusedLoc::get(location.getContext(), {location}, builder.getDictionaryAttr(metadata));
}

/// The lines in `location`, or null.
static ArrayAttr linesOf(Location location) {
  ArrayAttr lines;
  location->walk([&](Location each) {
    auto fused = dyn_cast<FusedLoc>(each);
    auto metadata = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata()) : DictionaryAttr();
    lines = metadata ? metadata.getAs<ArrayAttr>(fusionKey) : ArrayAttr();
    return lines ? WalkResult::interrupt() : WalkResult::advance();
  });
  return lines;
}

std::vector<FusionRow> fusionReport(ModuleOp module) {
  std::vector<FusionRow> rows;
  module.walk<WalkOrder::PreOrder>([&](LaunchOp launch) {
    FusionRow row{launch.getKernel().str(), launch.getSite().str(), {}};
    if (const ArrayAttr lines = linesOf(launch.getLoc()))
      for (StringAttr line : lines.getAsRange<StringAttr>())
        row.lines.push_back(line.str());
    rows.push_back(std::move(row));
  });
  return rows;
}

std::string fusionText(const std::vector<FusionRow> &rows) {
  std::string text;
  for (const FusionRow &row : rows) {
    text += "// kernel @" + row.kernel + ": " + row.site + "\n";
    for (const std::string &line : row.lines)
      text += "//   " + line + "\n";
  }
  return text;
}

} // namespace halftone::compiler
