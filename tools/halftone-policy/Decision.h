// The policy that each layer of a model gets.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "RecordedModel.h"

namespace halftone::tools {

/// Replaces the model's recorded policies by one policy for all layers, or by a map. At most one of the two is set.
struct PolicyChoice {
  std::optional<DTypePolicy> policy{};
  std::optional<DTypePolicyMap> map{};
};

struct Decision {
  std::string path, className;
  std::optional<std::string> key; // nullopt: no key decides
  DTypePolicy policy;
  DType compute, variable;
};

struct Resolution {
  std::vector<Decision> layers;
  std::vector<std::string> unusedKeys; // of the map, or of the model's own maps
  bool lossScaling = false;            // whether compile() and fit() would scale the loss
};

/// With a map, decides as Model::apply_policy does: compute dtypes change; weights keep their dtype, and the model its
/// own policy. One policy instead changes all of these. value_error with the layer's path when two keys match it, and the error
/// of apply_policy() when a layer cannot have its policy.
Resolution resolvePolicies(const RecordedModel &model, const PolicyChoice &choice);

} // namespace halftone::tools
