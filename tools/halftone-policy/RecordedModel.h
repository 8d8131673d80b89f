// The layers of a model with the dtypes recorded in its file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/QuantizedModes.h"
#include "halftone/Policy.h"
#include "runtime/policy/LegacyPolicy.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::tools {

struct RecordedLayer {
  std::string path, className;
  DTypePolicy policy;             // never a map: the policy that the map gives for the path
  std::optional<std::string> key; // the deciding key, if the layer has a map
  DType variable = DType::float32;
  bool isOutput = false, isSoftmax = false;
  detail::LayerMode mode{}; // after loading the model, which reads GPTQ and AWQ weights as floats
};

struct RecordedModel {
  std::string description;              // "Sequential 'net', 3 layers, written by Keras 3.15.1"
  std::optional<DTypePolicy> policy;    // the model's own policy; a module has none
  bool policyIsRecorded = false;        // false: the global policy is used instead
  LossScaler scaler = LossScaler::none; // of the optimizer in the file, or of a module with a loss scale
  bool trains = false;                  // whether a module computes gradients
  std::vector<RecordedLayer> layers;    // in the model's order
  std::vector<std::string> mapKeys;     // the keys of all maps in the file
};

/// The reason why a loaded layer does not support the policy, as Model::apply_policy() reports it; nullopt if it does.
std::optional<detail::ModeRefusal> refusalOf(const RecordedLayer &layer, const DTypePolicy &policy);

/// Reads a .keras archive, or a .mlir module in a stage from graph to kernel. The global policy is used wherever the
/// file records none. Errors name the file, the fault and the expected value; value_error with the layer's path if two
/// keys of a map in the file match it.
RecordedModel readModel(const std::string &path);

} // namespace halftone::tools
