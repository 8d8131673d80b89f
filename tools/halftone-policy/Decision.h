// The policy that each layer of a model receives.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "RecordedModel.h"

namespace halftone::tools {

/// Overrides a model's recorded policies by a single policy for all layers, or by a map. At most one of the two is set.
struct PolicyChoice {
  std::optional<DTypePolicy> policy{};
  std::optional<DTypePolicyMap> map{};
};

struct Decision {
  std::string path, className;
  std::optional<std::string> key; // nullopt: no key matched
  DTypePolicy policy;
  DType compute, variable;
};

struct Resolution {
  std::vector<Decision> layers;
  std::vector<std::string> unusedKeys; // of the map, or of the model's own maps
  bool lossScaling = false;            // whether compile() and fit() would scale the loss
};

/// With a map, decides as Model::apply_policy does: compute dtypes change, while weights keep their dtypes and the
/// model keeps its own policy. A single policy changes all of these. value_error with the layer's path if two keys
/// match it; the error of apply_policy() if a layer does not support its policy.
Resolution resolvePolicies(const RecordedModel &model, const PolicyChoice &choice);

} // namespace halftone::tools
