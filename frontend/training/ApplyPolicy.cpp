// Applies a policy map to the layers of a built model.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Variables.h"
#include "frontend/training/ModelState.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

[[noreturn]] void failUnbuilt(const Layer &layer, const Layer &model) {
  throw Error(ErrorKind::value_error,
              fmt::format("You tried to call `apply_policy` on model '{}', but layer '{}' isn't built: a layer has the "
                          "path by which a map decides only from its first call on.",
                          model.name(), layer.name()),
              layer.path().empty() ? layer.name() : layer.path(), layer.impl()->where);
}

} // namespace

PolicyReport Model::apply_policy(const DTypePolicyMap &map) const {
  if (!built())
    failUnbuilt(*this, *this);
  const std::vector<Layer> layers = computingLayers(*this);
  std::vector<QuantizationConfig> configs;
  PolicyReport report;
  for (const Layer &layer : layers) {
    if (!layer.built())
      failUnbuilt(layer, *this);
    try {
      const std::optional<std::string> key = map.matching_key(layer.path());
      const DTypePolicy policy = map[layer.path()];
      configs.push_back(quantizationBy(policy, *layer.impl()));
      report.rows.push_back({layer.path(), policy.name(), key});
    } catch (const Error &error) {
      rethrowWithLayer(error, *layer.impl());
    }
  }
  for (const auto &item : map.items())
    if (std::none_of(report.rows.begin(), report.rows.end(), [&](const auto &row) { return row.key == item.first; }))
      report.unused_keys.push_back(item.first);
  for (size_t i = 0; i < layers.size(); ++i) {
    layers[i].impl()->policy = map;
    if (configs[i].defined())
      layers[i].impl()->quantize(configs[i]);
    layers[i].impl()->holdMode();
  }
  bumpConfigurationEpoch();
  return report;
}

} // namespace halftone
