// inline-layers: inlines layers; their paths stay in locations, their policies in a table on the module.
// SPDX-License-Identifier: Apache-2.0
//
//   %y = layer "net/relu" (%x) { ^(%a): %0 = maximum %a, %z; yield %0 }
// becomes
//   %y = maximum %x, %z   loc("net/relu"(...))
#include "compiler/passes/Passes.h"
#include "compiler/reports/LayerPath.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_INLINELAYERSPASS
#include "compiler/passes/Passes.h.inc"

namespace {

class InlineLayers : public impl::InlineLayersPassBase<InlineLayers> {
  void runOnModule() override;
};

/// Marks the ops whose values the backward pass recomputes. The mark of an enclosing layer replaces this one.
void markRematerialized(LayerOp layer, Attribute mark) {
  for (Operation &op : layer.getBody().front().without_terminator())
    op.setAttr(rematerializeAttr, mark);
}

/// Innermost layers come first, so an op keeps the path of its innermost layer.
LogicalResult inlineLayer(LayerOp layer) {
  Block &body = layer.getBody().front();
  if (layer.getInputs().getTypes() != body.getArgumentTypes())
    return layer.emitOpError() << "\"" << layer.getPath()
                               << "\" has operands whose types differ from those of its block arguments; expected "
                                  "insert-casts to run first";
  auto yield = cast<YieldOp>(body.getTerminator());
  body.walk([&](Operation *op) { op->setLoc(withLayerPath(layer.getPath(), op->getLoc())); });
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), layer.getInputs()))
    argument.replaceAllUsesWith(input);
  layer.replaceAllUsesWith(yield.getValues());
  yield.erase();
  layer->getBlock()->getOperations().splice(layer->getIterator(), body.getOperations());
  layer.erase();
  return success();
}

void InlineLayers::runOnModule() {
  ModuleOp module = getOperation();
  llvm::MapVector<StringAttr, Attribute> layers;
  if (auto known = module->getAttrOfType<DictionaryAttr>(layersAttr))
    for (NamedAttribute layer : known)
      layers[layer.getName()] = layer.getValue();
  SmallVector<LayerOp> sites;
  int64_t unit = 0; // the first unused number
  module.walk([&](Operation *op) {
    if (auto layer = dyn_cast<LayerOp>(op))
      sites.push_back(layer); // post-order: innermost first
    if (auto mark = op->getAttrOfType<IntegerAttr>(rematerializeAttr))
      unit = std::max(unit, mark.getInt() + 1);
  });
  Builder builder(&getContext());
  for (LayerOp layer : sites) {
    if (const Attribute mark = layer->getAttr(rematerializeAttr)) // the layer is part of a recomputed layer
      markRematerialized(layer, mark);
    else if (layer.getRematerialize())
      markRematerialized(layer, builder.getI64IntegerAttr(unit++));
    layers[layer.getPathAttr()] = builder.getDictionaryAttr({builder.getNamedAttr("class", layer.getLayerClassAttr()),
                                                             builder.getNamedAttr("policy", layer.getPolicyAttr()),
                                                             builder.getNamedAttr("rule", layer.getRuleAttr())});
    if (failed(inlineLayer(layer)))
      return signalPassFailure();
  }
  SmallVector<NamedAttribute> entries;
  for (auto [path, layer] : layers)
    entries.emplace_back(path, layer);
  if (!entries.empty())
    module->setAttr(layersAttr, builder.getDictionaryAttr(entries));
}

} // namespace
} // namespace halftone::compiler
