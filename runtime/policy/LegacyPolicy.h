// TensorFlow 2.0's policies as dtype policies of layers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Legacy.h"
#include "runtime/policy/PolicyRep.h"
#include <optional>

namespace halftone {

/// The policy that an 'infer' policy becomes in a layer whose first input has this dtype; nullopt for every other
/// policy.
std::optional<DTypePolicy> inferredPolicy(const DTypePolicy &policy, DType input);

/// The loss scale that a TensorFlow 2.0 policy asks for; the inner nullopt is a policy that asks for none. The outer
/// nullopt is a policy of Keras 3, which has no such setting.
std::optional<std::optional<legacy::LossScale>> legacyLossScale(const DTypePolicy &policy);

/// Who scales the loss of a model.
enum class LossScaler : uint8_t {
  none,
  factor, // the optimizer's argument `loss_scale_factor`
  given,  // a LossScaleOptimizer that compile() got
  added,  // a LossScaleOptimizer that compile() adds
};
/// Who scales the loss after compile(), of a model whose own policy is `own` and whose optimizer scales as `given` says. The
/// policies of its layers do not count. This decides for compile(), its warning, and the tools.
LossScaler lossScaler(const DTypePolicy &own, LossScaler given, bool isAutomatic = true);

/// The legacy policy of a config {"name", "loss_scale"}. value_error or type_error when the config is no such config.
std::shared_ptr<PolicyAccess::Rep> legacyRep(const Config &config);

/// The policy that IR names: the name of a plain policy comes before a mode ("int8" is the dtype), and a policy of
/// TensorFlow 2.0 after all others. value_error if it is no policy's name.
DTypePolicy policyNamed(const std::string &name);

/// The name by which IR names the policy: that of policyNamed(). It differs from the policy's own name if this does not
/// tell the source, as "int4/64_from_None".
std::string nameInIR(const DTypePolicy &policy);

} // namespace halftone
