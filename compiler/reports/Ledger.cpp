// The cast ledger.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reports/Ledger.h"
#include "compiler/reports/LayerPath.h"
#include "dialect/TypeInference.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "runtime/base/Extents.h"
#include "llvm/Support/InterleavedRange.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

static SmallVector<CastOp> castsOf(KernelOp kernel) {
  return llvm::to_vector(kernel.getBody().front().getOps<CastOp>());
}

void keepCastLocations(LaunchOp launch, KernelOp kernel) {
  SmallVector<Attribute> locations;
  for (CastOp cast : castsOf(kernel))
    locations.push_back(cast.getLoc());
  if (!locations.empty())
    launch->setLoc(
        FusedLoc::get({launch.getLoc()}, ArrayAttr::get(launch.getContext(), locations), launch.getContext()));
}

/// The location of cast `index` of this launch: the stored one, else that in the kernel.
static Location castLocation(LaunchOp launch, CastOp cast, size_t index) {
  if (auto fused = dyn_cast<FusedLoc>(launch.getLoc()))
    if (auto kept = dyn_cast_or_null<ArrayAttr>(fused.getMetadata()); kept && index < kept.size())
      if (auto location = dyn_cast<LocationAttr>(kept[index]))
        return location;
  return cast.getLoc();
}

static bool onlyCasts(KernelOp kernel) {
  return llvm::all_of(kernel.getBody().front().without_terminator(),
                      [](Operation &op) { return isa<CastOp, ReshapeOp>(op); });
}

static std::string ruleOf(ModuleOp module, StringRef path) {
  auto layers = module->getAttrOfType<DictionaryAttr>(layersAttr);
  auto layer = layers ? layers.getAs<DictionaryAttr>(path) : DictionaryAttr();
  auto rule = layer ? layer.getAs<StringAttr>("rule") : StringAttr();
  if (path.empty() || (rule && !rule.empty()))
    return rule ? rule.str() : "";
  return "default";
}

static LedgerRow rowOf(CastOp cast, Location location, bool fused, ModuleOp module) {
  auto from = llvm::cast<RankedTensorType>(cast.getX().getType());
  auto to = llvm::cast<RankedTensorType>(cast.getY().getType());
  LedgerRow row;
  row.path = layerPathOf(location).str();
  std::string shape;
  llvm::raw_string_ostream(shape) << "(" << llvm::interleaved(from.getShape()) << ")";
  row.value = cast.getOrigin().empty() ? shape : (cast.getOrigin() + " " + shape).str();
  // The dialect's verifier allows no other element types.
  row.from = dtypeOf(from.getElementType()).value_or(DType::float32);
  row.to = dtypeOf(to.getElementType()).value_or(DType::float32);
  row.storage = cast.getKind() == CastKind::storage;
  row.fused = fused;
  row.bytes = fused ? 0 : from.getNumElements() * (itemsize(row.from) + itemsize(row.to));
  row.rule = ruleOf(module, row.path);
  if (FileLineColLoc line = sourceLineOf(location))
    row.location = fmt::format("{}:{}", line.getFilename().str(), line.getLine());
  return row;
}

/// The number of times that the launch runs. A `while`, whose number of steps is unknown, counts once.
static int64_t timesRun(LaunchOp launch) {
  int64_t times = 1;
  for (auto scan = launch->getParentOfType<ScanOp>(); scan; scan = scan->getParentOfType<ScanOp>())
    times = extentProduct(times, static_cast<int64_t>(scan.getLength()));
  return times;
}

std::vector<LedgerRow> castLedger(ModuleOp module) {
  std::vector<LedgerRow> rows;
  SymbolTable symbols(module);
  module.walk<WalkOrder::PreOrder>([&](LaunchOp launch) {
    auto kernel = symbols.lookup<KernelOp>(launch.getKernel());
    bool fused = !onlyCasts(kernel);
    for (auto [index, cast] : llvm::enumerate(castsOf(kernel))) {
      rows.push_back(rowOf(cast, castLocation(launch, cast, index), fused, module));
      rows.back().bytes = extentProduct(rows.back().bytes, timesRun(launch));
    }
  });
  // The casts of shadows that a plan reads run where the variable is written: in this plan, as launches, or in another
  // plan.
  auto main = module.lookupSymbol<func::FuncOp>("main");
  DenseSet<Attribute> createdHere;
  for (unsigned result = 0; main && result < main.getNumResults(); ++result)
    if (Attribute shadow = main.getResultAttr(result, shadowAttr))
      createdHere.insert(shadow);
  for (auto shadow : module.getOps<ShadowOp>())
    if (!createdHere.contains(FlatSymbolRefAttr::get(shadow.getSymNameAttr())))
      for (auto cast : shadow.getBody().front().getOps<CastOp>()) {
        rows.push_back(rowOf(cast, cast.getLoc(), true, module));
        rows.back().value += ", kept";
      }
  return rows;
}

std::string ledgerJson(const std::vector<LedgerRow> &rows) {
  nlohmann::ordered_json json{{"casts", nlohmann::ordered_json::array()}};
  int64_t standalone = 0, bytes = 0;
  for (const LedgerRow &row : rows) {
    json["casts"].push_back({{"path", row.path},
                             {"value", row.value},
                             {"from", halftone::name(row.from)},
                             {"to", halftone::name(row.to)},
                             {"kind", row.storage ? "storage" : "rounding"},
                             {"fused", row.fused},
                             {"bytes", row.bytes},
                             {"rule", row.rule},
                             {"location", row.location}});
    standalone += !row.fused;
    bytes += row.bytes;
  }
  json["standalone"] = standalone;
  json["fused"] = static_cast<int64_t>(rows.size()) - standalone;
  json["bytes_moved"] = bytes;
  return json.dump();
}

} // namespace halftone::compiler
