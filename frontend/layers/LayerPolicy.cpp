// Effects of a layer's policy: its key in a map, how the layer's variables are read, its quantization mode.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/CallTransaction.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/layers/Lora.h"
#include "frontend/layers/QuantizedModes.h"
#include "runtime/policy/LegacyPolicy.h"
#include "runtime/policy/PolicyRep.h"
#include "runtime/policy/PythonText.h"
#include <fmt/format.h>

namespace halftone::detail {

namespace {

[[noreturn]] void refuse(ErrorKind kind, const LayerImpl &layer, const std::string &message) {
  throw Error(kind, message, layer.path.empty() ? layer.name : layer.path, layer.where);
}

/// The integer after the slash in a policy's mode, "int4/128"; -1 if there is none.
int64_t blockOf(const DTypePolicy &policy) {
  const std::string mode = policy.get_config().get_string("mode");
  const size_t slash = mode.find('/');
  return slash == std::string::npos ? -1 : pythonInteger(std::string_view(mode).substr(slash + 1)).value_or(-1);
}

} // namespace

DTypePolicy LayerImpl::resolvedPolicy() const {
  const std::optional<DTypePolicyMap> map = path.empty() ? std::nullopt : policy.as_map();
  if (!map)
    return policy;
  try {
    return (*map)[path];
  } catch (const Error &error) { // two keys match the path of a layer that another layer creates
    throw Error(error.kind(), error.message(), path, where);
  }
}

std::string LayerImpl::policyKey() const {
  const std::optional<DTypePolicyMap> map = path.empty() ? std::nullopt : policy.as_map();
  return map ? map->matching_key(path).value_or("") : "";
}

void LayerImpl::resolvePolicy(const std::vector<Value> &inputs) {
  if (!built && !inputs.empty() && inputs[0].defined())
    if (const std::optional<DTypePolicy> resolved = inferredPolicy(policy, inputs[0].dtype())) {
      CallTransaction::onFailure([self = shared_from_this(), given = policy] { self->policy = given; });
      policy = *resolved;
    }
}

void LayerImpl::requireMode() const {
  const std::string mode = resolvedPolicy().quantization_mode().value_or("");
  if (transparent || (built ? mode == quantizedMode : mode.empty() || body->quantizes(mode)))
    return;
  refuse(ErrorKind::not_implemented_error, *this,
         quantizedMode.empty() && body->quantizes(mode)
             ? fmt::format("Layer {} has the policy '{}' but float weights: quantize('{}') quantizes them", className,
                           resolvedPolicy().name(), mode)
         : quantizedMode.empty()
             ? fmt::format("Layer {} does not have a `_{}_call` method implemented.", className, mode)
             : fmt::format("Layer {} has the policy '{}' but weights of the mode '{}'", className,
                           resolvedPolicy().name(), quantizedMode));
}

void LayerImpl::holdMode() {
  const std::optional<DTypePolicyMap> map = policy.as_map();
  heldMode = map && !quantizedMode.empty() ? PolicyAccess::holdMode(*map, path, quantizedMode) : nullptr;
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

ModeRefusal refusalOfMode(const LayerMode &layer, std::string_view mode) {
  constexpr ErrorKind kind = ErrorKind::not_implemented_error;
  if (layer.hasLora && classQuantizes(layer.className, mode)) // LoRA disables the mode
    return {kind, fmt::format("LoRA is not supported under {} quantization.", mode)};
  if (classQuantizes(layer.className, "int8"))
    return {kind,
            fmt::format("Invalid quantization mode. Expected one of ('int8', 'int4'). Received: quantization_mode={}",
                        mode)};
  return {kind, fmt::format("Layer {} does not have a `quantize` method implemented.", layer.className)};
}

std::optional<ModeRefusal> refusalOfPolicy(const LayerMode &layer, const DTypePolicy &policy, bool quantizes) {
  const std::string mode = policy.quantization_mode().value_or("");
  if (mode == layer.weights)
    return std::nullopt;
  if (!layer.weights.empty())
    return ModeRefusal{
        ErrorKind::value_error,
        fmt::format("Layer '{}' is already quantized: its weights have the mode '{}'. Received: dtype_policy='{}'",
                    layer.name, layer.weights, policy.name())};
  if (mode == "gptq" || mode == "awq")
    return ModeRefusal{
        ErrorKind::value_error,
        fmt::format("Implicitly enabling {} quantization by setting `dtype_policy` to '{}' is not supported: it needs "
                    "calibration data and a config.",
                    mode == "gptq" ? "GPTQ" : "AWQ", policy.name())};
  return quantizes ? std::nullopt : std::optional(refusalOfMode(layer, mode));
}

LayerMode modeOf(const LayerImpl &layer) {
  const auto *adapted = dynamic_cast<const LoraBody *>(layer.body.get());
  return {layer.name, layer.className, layer.quantizedMode, adapted && adapted->delta().isOn()};
}

void refuseMode(const LayerImpl &layer, const std::string &mode) {
  const ModeRefusal refusal = refusalOfMode(modeOf(layer), mode);
  refuse(refusal.kind, layer, refusal.message);
}

QuantizationConfig quantizationOf(const DTypePolicy &policy, const QuantizationConfig &given) {
  const std::optional<std::string> mode = policy.quantization_mode();
  if (!mode)
    return {};
  if (given.mode == *mode)
    return given;
  return {
      .mode = *mode, .quantizes_activations = *mode == "int8", .block_size = *mode == "int4" ? blockOf(policy) : -1};
}

QuantizationConfig quantizationBy(const DTypePolicy &policy, const LayerImpl &layer) {
  const std::string mode = policy.quantization_mode().value_or("");
  if (!layer.built || mode == layer.quantizedMode)
    return {};
  if (const auto refusal = refusalOfPolicy(modeOf(layer), policy, layer.body->quantizes(mode)))
    refuse(refusal->kind, layer, refusal->message);
  return quantizationOf(policy, {});
}

void LayerImpl::quantize(const QuantizationConfig &config) {
  const std::vector<Variable> given = weights;
  try {
    BuildContext context(*this);
    body->quantize(context, config);
    quantizedMode = config.mode;
  } catch (...) {
    weights = given;
    throw;
  }
}

} // namespace halftone::detail
