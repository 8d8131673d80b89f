// Reads the layers of a model from its config.json, without building any.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Config.h"
#include "halftone/Policy.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

/// A layer that computes under a policy. Inputs, Sequential and functional models only hold layers and have no record.
struct LayerRecord {
  std::string path;                  // in the model that this config makes; an inner model is made first
  std::string className;             // Keras's class name, without the package
  std::string activation;            // "" when the config has none
  std::optional<DTypePolicy> policy; // nullopt: not recorded; the global policy decides when the model is loaded
  bool isOutput = false;             // whether it gives an output of the model
};

struct ModelRecord {
  std::string name, className;
  std::optional<DTypePolicy> policy;  // of the model itself; a functional model records none
  bool hasLossScaleOptimizer = false; // false for an optimizer that compile() adds, which is not recorded
  std::vector<LayerRecord> layers;    // in the config's order, each layer once; inner layers follow their layer
};

/// Reads the object in config.json. Names and dtypes of null mean the global policy. value_error or type_error with the
/// place in the file and the expected value.
ModelRecord modelRecord(const Config &config);

} // namespace halftone::detail
