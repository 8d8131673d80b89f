// Resolves policies from a model's record, from a single policy, or from a map.
// SPDX-License-Identifier: Apache-2.0
#include "Decision.h"
#include "halftone/Error.h"
#include "runtime/policy/LegacyPolicy.h"
#include <algorithm>

namespace halftone::tools {

Resolution resolvePolicies(const RecordedModel &model, const PolicyChoice &choice) {
  Resolution result;
  for (const RecordedLayer &layer : model.layers) {
    Decision decision{layer.path, layer.className, layer.key, layer.policy, {}, layer.variable};
    if (choice.policy) {
      decision.key.reset();
      decision.policy = *choice.policy;
      decision.variable = choice.policy->variable_dtype();
    } else if (choice.map) {
      try {
        decision.key = choice.map->matching_key(layer.path);
        decision.policy = (*choice.map)[layer.path];
      } catch (const Error &error) {
        throw Error(error.kind(), error.message(), layer.path);
      }
    }
    if (const auto refusal = refusalOf(layer, decision.policy); refusal && (choice.policy || choice.map))
      throw Error(refusal->kind, refusal->message, layer.path);
    decision.compute = decision.policy.compute_dtype();
    result.layers.push_back(std::move(decision));
  }
  std::vector<std::string> keys;
  if (choice.map)
    for (const auto &item : choice.map->items())
      keys.push_back(item.first);
  else if (!choice.policy)
    keys = model.mapKeys;
  for (const std::string &key : keys)
    if (std::ranges::none_of(result.layers, [&](const Decision &decision) { return decision.key == key; }))
      result.unusedKeys.push_back(key);
  const std::optional<DTypePolicy> own = choice.policy ? choice.policy : model.policy;
  result.lossScaling = (own ? lossScaler(*own, model.scaler) : model.scaler) != LossScaler::none;
  return result;
}

} // namespace halftone::tools
