// A model's layers with the dtypes that its file records.
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
  DTypePolicy policy;             // never a map: for a map, its policy for the path
  std::optional<std::string> key; // the key that decided, if the layer has a map
  DType variable = DType::float32;
  bool isOutput = false, isSoftmax = false;
  detail::LayerMode mode{}; // when the model is loaded, which reads weights of GPTQ and AWQ as floats
};

struct RecordedModel {
  std::string description;              // "Sequential 'net', 3 layers, written by Keras 3.15.1"
  std::optional<DTypePolicy> policy;    // the model's own policy; a module has none
  bool policyIsRecorded = false;        // false: the global policy stands in for it
  LossScaler scaler = LossScaler::none; // of the optimizer in the file, or of a module that has a loss scale
  bool trains = false;                  // whether a module takes gradients
  std::vector<RecordedLayer> layers;    // in the model's order
  std::vector<std::string> mapKeys;     // the keys of all maps in the file
};

/// Why a layer that is loaded cannot be given the policy, as Model::apply_policy() says; nullopt if it can.
std::optional<detail::ModeRefusal> refusalOf(const RecordedLayer &layer, const DTypePolicy &policy);

/// Reads a .keras archive, or a .mlir module in a stage from graph to kernel. The global policy replaces each policy
/// that the file does not record. Errors name the file, the fault and the expected value; value_error with the layer's
/// path when two keys of a map in the file match it.
RecordedModel readModel(const std::string &path);

} // namespace halftone::tools
