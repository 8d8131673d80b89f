// Finds policies under which a layer cannot or should not compute.
// SPDX-License-Identifier: Apache-2.0
#include "LayerChecks.h"
#include "frontend/layers/QuantizedModes.h"
#include "runtime/policy/LegacyPolicy.h"
#include <fmt/format.h>

namespace halftone::tools {
namespace {

using compiler::Target;

/// The dtypes that are slower than float32 on a CPU, with the reason. bfloat16 is not among them, since it is widened
/// by a shift.
struct SlowPolicy {
  bool (*applies)(const DTypePolicy &policy);
  bool (*isNative)(const Target &target);
  const char *why;
};
bool multipliesInt8(const Target &target) {
  compiler::MatmulTraits traits{DType::int8, DType::int8, DType::int32};
  traits.rows = 64;
  traits.tile = {64, 64};
  traits.lhsAlongDepth = true;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  return target.schedule(&context, traits).takesStoredFactors();
}

constexpr SlowPolicy slowPolicies[] = {
    {[](const DTypePolicy &policy) { return policy.compute_dtype() == DType::float16; },
     [](const Target &target) { return target.math.convertsF16; },
     "there are no conversions between float16 and float32 (F16C)"},
    {[](const DTypePolicy &policy) { return policy.quantization_mode() == "int8"; },
     [](const Target &target) { return multipliesInt8(target); }, "there are no int8 dot products (VNNI)"},
    {[](const DTypePolicy &policy) {
       return is_float(policy.compute_dtype()) && itemsize(policy.compute_dtype()) == 1;
     },
     [](const Target &) { return false; }, "there are no conversions between float8 and float32"},
    {[](const DTypePolicy &policy) { return policy.quantization_mode() == "float8"; },
     [](const Target &) { return false; }, "there are no conversions between float8 and float32"},
    {[](const DTypePolicy &policy) { return policy.compute_dtype() == DType::float64; },
     [](const Target &) { return false; }, "a vector holds half as many elements"},
};

bool isBelowFloat32(DType dtype) { return is_float(dtype) && itemsize(dtype) < itemsize(DType::float32); }

/// True for float16 and float8; bfloat16 has float32's range.
bool hasShortRange(DType dtype) { return isBelowFloat32(dtype) && dtype != DType::bfloat16; }

bool castsBeforeUpcast(const std::string &className) {
  return className == "BatchNormalization" || className == "RMSNormalization";
}

/// The reason why the loss is not scaled; "" if it is scaled or there is no loss.
std::string reasonUnscaled(const RecordedModel &model) {
  if (model.scaler != LossScaler::none || (!model.policy && !model.trains) ||
      (model.policy && lossScaler(*model.policy, model.scaler) != LossScaler::none))
    return "";
  if (!model.policy)
    return "the program has no loss scale";
  return fmt::format("the model's own policy is '{}'{}", model.policy->name(),
                     model.policyIsRecorded ? "" : " (--global: a loaded model has the global policy)");
}

} // namespace

std::vector<Finding> checkLayers(const MapFile &map, const RecordedModel &model, const Target &target) {
  PathGroups unquantized, otherMode, heads, unscaled, cast, slow;
  for (const RecordedLayer &layer : model.layers) {
    const std::vector<const MapEntry *> keys = map.matching(layer.path);
    const std::optional<DTypePolicy> policy = keys.empty() ? map.fallback : keys[0]->policy;
    if (keys.size() > 1 || !policy)
      continue;
    const DType compute = policy->compute_dtype();
    const auto dtypeName = name(compute);
    const std::string mode = policy->quantization_mode().value_or("");
    const bool isQuantized = !layer.mode.weights.empty() && layer.mode.weights != mode;
    if (isQuantized)
      otherMode.add(fmt::format("{}, but has weights of the mode {}", policy->name(), layer.mode.weights), layer.path);
    else if (const auto refusal = refusalOf(layer, *policy); refusal && layer.mode.hasLora)
      unquantized.add(fmt::format("{}: {}", policy->name(), refusal->message), layer.path);
    else if (refusal)
      unquantized.add(fmt::format("{}: {} has no {} path", policy->name(), layer.className, mode), layer.path);
    if (isBelowFloat32(compute) && (layer.isSoftmax || layer.isOutput))
      heads.add(fmt::format("{} in {}", layer.isSoftmax ? "a softmax" : "an output", dtypeName), layer.path);
    if (policy->name() == "mixed_float16")
      unscaled.add("", layer.path);
    if (hasShortRange(compute) && castsBeforeUpcast(layer.className))
      cast.add(
          fmt::format(
              "({}) casts its input to {} before it computes in float32, so values that {} cannot represent are lost",
              layer.className, dtypeName, dtypeName),
          layer.path);
    for (const SlowPolicy &row : slowPolicies)
      if (row.applies(*policy) && !row.isNative(target))
        slow.add(fmt::format("{}, slower than float32 on {}: {}", policy->name(), target.processor, row.why),
                 layer.path);
  }
  std::vector<Finding> findings;
  for (const auto &[paths, what] : unquantized.list())
    findings.push_back({true, "P008", fmt::format("{} would be {}", paths, what)});
  for (const auto &[paths, what] : otherMode.list())
    findings.push_back({true, "P016", fmt::format("{} would be {}", paths, what)});
  for (const auto &[paths, what] : heads.list())
    findings.push_back({false, "P009", fmt::format("{} would compute {}; float32 is safer there", paths, what)});
  if (const std::string why = reasonUnscaled(model); !why.empty())
    for (const auto &[paths, what] : unscaled.list())
      findings.push_back(
          {false, "P010", fmt::format("{} would be mixed_float16, but {}, so nothing scales the loss", paths, why)});
  for (const auto &[paths, what] : cast.list())
    findings.push_back({false, "P011", fmt::format("{} {}", paths, what)});
  for (const auto &[paths, what] : slow.list())
    findings.push_back({false, "P014", fmt::format("{} would be {}", paths, what)});
  return findings;
}

} // namespace halftone::tools
