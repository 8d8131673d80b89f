// Reads the layers of a model from its config.json, one by one: the model itself need not be one that can be made.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Config.h"
#include "halftone/Policy.h"
#include "runtime/policy/LegacyPolicy.h"
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
  bool hasLora = false;
};

struct ModelRecord {
  std::string name, className;
  /// Of the model that is read: nullopt for a functional model and a Sequential, which take the global policy then, as in
  /// Keras. A Sequential's config has a policy, and nothing reads it.
  std::optional<DTypePolicy> policy;
  LossScaler scaler = LossScaler::none; // of the optimizer that is recorded: not one that compile() adds
  std::vector<LayerRecord> layers;      // in the config's order, each layer once; inner layers follow their layer
};

/// Reads the object in config.json. Names and dtypes of null mean the global policy. value_error or type_error with the
/// place in the file and the expected value.
///
/// A config does not show the layers that another layer makes when it is built, such as the projections of an attention
/// layer. So each layer of a known class is made and built for the shapes that the file records, and the layers that it
/// then has are recorded after it.
ModelRecord modelRecord(const Config &config);

} // namespace halftone::detail
