// What a layer's policy decides: its key in a map, how the layer's variables are read, its mode of quantization.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/LayerImpl.h"
#include "runtime/policy/LegacyPolicy.h"
#include <fmt/format.h>

namespace halftone::detail {

DTypePolicy LayerImpl::resolvedPolicy() const {
  const std::optional<DTypePolicyMap> map = path.empty() ? std::nullopt : policy.as_map();
  if (!map)
    return policy;
  try {
    return (*map)[path];
  } catch (const Error &error) { // two keys match the path of a layer that another one makes
    throw Error(error.kind(), error.message(), path, where);
  }
}

std::string LayerImpl::policyKey() const {
  const std::optional<DTypePolicyMap> map = path.empty() ? std::nullopt : policy.as_map();
  return map ? map->matching_key(path).value_or("") : "";
}

void LayerImpl::settlePolicy(const std::vector<Value> &inputs) {
  if (!built && !inputs.empty() && inputs[0].defined())
    if (const std::optional<DTypePolicy> settled = inferredPolicy(policy, inputs[0].dtype()))
      policy = *settled;
}

void LayerImpl::requireMode() const {
  const std::string mode = resolvedPolicy().quantization_mode().value_or("");
  if (transparent || (built ? mode == quantizedMode : mode.empty() || body->quantizes(mode)))
    return;
  throw Error(ErrorKind::not_implemented_error,
              body->quantizes(mode)
                  ? fmt::format("Layer {} has the policy '{}' but float weights: quantize('{}') makes quantized ones",
                                className, resolvedPolicy().name(), mode)
                  : fmt::format("Layer {} does not have a `_{}_call` method implemented.", className,
                                mode.empty() ? "float" : mode));
}

std::unique_ptr<AutocastScope> LayerImpl::autocastScope() const {
  const DTypePolicy decided = resolvedPolicy();
  const DType compute = decided.compute_dtype();
  if (autocastScopeOpen()) {
    if (!autocast || !is_float(compute))
      return std::make_unique<AutocastScope>(std::nullopt);
    if (autocastDtype() != compute)
      return std::make_unique<AutocastScope>(compute);
    return nullptr;
  }
  if (compute != decided.variable_dtype() && is_float(compute))
    return std::make_unique<AutocastScope>(compute);
  return nullptr;
}

} // namespace halftone::detail
