// The layers of a model as its config.json shows them, without building any.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Config.h"
#include "halftone/Policy.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

/// A layer that computes by a policy: neither an Input nor a Sequential or functional model, which only hold layers.
struct LayerRecord {
  std::string path;                  // of the model that this config makes; an inner model is made first
  std::string className;             // Keras's, without the package
  std::string activation;            // "" when the config has none
  std::optional<DTypePolicy> policy; // nullopt: not recorded, so the global policy when the model is loaded
  bool isOutput = false;             // gives an output of the model
};

struct ModelRecord {
  std::string name, className;
  std::optional<DTypePolicy> policy;  // the model's own; a functional model records none
  bool hasLossScaleOptimizer = false; // one that compile() adds is not recorded
  std::vector<LayerRecord> layers;    // in the config's order, each once; parts of a layer follow it
};

/// Reads the object in config.json. Names and dtypes of null are the global policy's. value_error or type_error with
/// the place in the file and the expected value.
ModelRecord modelRecord(const Config &config);

} // namespace halftone::detail
