// TensorFlow 2.0's policies as Keras 3 dtype policies.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Legacy.h"
#include "runtime/policy/PolicyRep.h"
#include <optional>

namespace halftone {

/// The policy that an 'infer' policy becomes in a layer whose first input has this dtype; nullopt for every other
/// policy.
std::optional<DTypePolicy> inferredPolicy(const DTypePolicy &policy, DType input);

/// The loss scale that a TensorFlow 2.0 policy requests. The inner nullopt means that the policy requests none; the
/// outer nullopt, that it is a policy of Keras 3, which has no such setting.
std::optional<std::optional<legacy::LossScale>> legacyLossScale(const DTypePolicy &policy);

/// Which component scales the loss of a model.
enum class LossScaler : uint8_t {
  none,
  factor, // the optimizer's argument `loss_scale_factor`
  given,  // a LossScaleOptimizer passed to compile()
  added,  // a LossScaleOptimizer that compile() adds
};
/// The component that scales the loss after compile(), for a model whose own policy is `own` and whose optimizer scales
/// the loss by `given`. The policies of its layers are ignored. compile(), its warning, and the tools all use this
/// function.
LossScaler lossScaler(const DTypePolicy &own, LossScaler given, bool isAutomatic = true);

/// The legacy policy of a config {"name", "loss_scale"}. value_error or type_error for any other config.
std::shared_ptr<PolicyAccess::Rep> legacyRep(const Config &config);

/// Looks up a policy by its name in IR. The name of a plain policy takes precedence over a mode ("int8" is the dtype),
/// and a policy of TensorFlow 2.0 comes last. value_error if no policy has that name.
DTypePolicy policyNamed(const std::string &name);

/// The policy's name in IR, which policyNamed() accepts. It differs from the policy's own name if that name does not
/// state the source, as in "int4/64_from_None".
std::string nameInIR(const DTypePolicy &policy);

} // namespace halftone
