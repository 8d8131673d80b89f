// Applies a policy map to the layers of a built model.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ModelState.h"
#include "frontend/Variables.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

/// Every layer below `parent` that computes under a policy, once, in the order of the graph.
void collectLayers(const Layer &parent, std::vector<Layer> &layers) {
  for (const Layer &child : parent.layers()) {
    const bool computes = !child.impl()->transparent;
    if (computes && std::find(layers.begin(), layers.end(), child) == layers.end())
      layers.push_back(child);
    collectLayers(child, layers);
  }
}

[[noreturn]] void failUnbuilt(const Layer &layer, const Layer &model) {
  throw Error(ErrorKind::value_error,
              fmt::format("You tried to call `apply_policy` on model '{}', but layer '{}' isn't built: a layer has a "
                          "path, by which a map decides, from its first call on.",
                          model.name(), layer.name()),
              layer.path().empty() ? layer.name() : layer.path(), layer.impl()->where);
}

} // namespace

PolicyReport Model::apply_policy(const DTypePolicyMap &map) const {
  if (!built())
    failUnbuilt(*this, *this);
  std::vector<Layer> layers;
  collectLayers(*this, layers);
  PolicyReport report;
  for (const Layer &layer : layers) {
    if (!layer.built())
      failUnbuilt(layer, *this);
    try {
      const std::optional<std::string> key = map.matching_key(layer.path());
      const DTypePolicy policy = map[layer.path()];
      refuseQuantizing(*layer.impl(), policy);
      report.rows.push_back({layer.path(), policy.name(), key});
    } catch (const Error &error) {
      rethrowWithLayer(error, *layer.impl());
    }
  }
  for (const auto &item : map.items())
    if (std::none_of(report.rows.begin(), report.rows.end(), [&](const auto &row) { return row.key == item.first; }))
      report.unused_keys.push_back(item.first);
  for (const Layer &layer : layers)
    layer.impl()->policy = map;
  bumpConfigurationEpoch();
  return report;
}

} // namespace halftone
