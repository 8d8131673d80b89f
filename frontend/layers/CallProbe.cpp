// Exports the inputs of layers from their regions, as losses are exported.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/CallProbe.h"
#include "frontend/graph/Promotion.h"
#include <utility>

namespace halftone::detail {

static thread_local CallProbe *openProbe = nullptr;

CallProbe::CallProbe(const std::vector<Layer> &layers) : outer_(std::exchange(openProbe, this)) {
  for (const Layer &layer : layers)
    watched_.insert(layer.impl().get());
}
CallProbe::~CallProbe() { openProbe = outer_; }

void CallProbe::note(const LayerImpl &layer, const std::vector<Value> &inputs) {
  if (!openProbe || !openProbe->watched_.contains(&layer))
    return;
  openProbe->calls_.emplace_back(&layer, tracing().losses.size());
  tracing().losses.push_back({layer.path, inputs.at(0)});
}

std::vector<std::pair<const LayerImpl *, Value>> CallProbe::inputs() const {
  std::vector<std::pair<const LayerImpl *, Value>> found;
  for (const auto &[layer, position] : calls_)
    found.emplace_back(layer, tracing().losses.at(position).value);
  return found;
}

} // namespace halftone::detail
