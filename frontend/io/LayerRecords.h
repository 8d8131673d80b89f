// Reads the layers of a model from its config.json, one by one, even if the model itself cannot be built.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Config.h"
#include "halftone/Policy.h"
#include "runtime/policy/LegacyPolicy.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

/// A layer that computes under a policy. Inputs and Sequential and functional models are only containers and have no
/// record.
struct LayerRecord {
  std::string path;                  // in the model built from this config; inner models are created first
  std::string className;             // Keras's class name, without the package
  std::string activation;            // "" if the config has none
  std::optional<DTypePolicy> policy; // nullopt: not recorded; the global policy at load time applies
  bool isOutput = false;             // whether it produces an output of the model
  bool hasLora = false;
};

struct ModelRecord {
  std::string name, className;
  /// The policy of the model itself. nullopt for functional and Sequential models, which take the global policy at load
  /// time, as in Keras. (A Sequential's config has a policy, but nothing reads it.)
  std::optional<DTypePolicy> policy;
  LossScaler scaler = LossScaler::none; // of the recorded optimizer; excludes a scaler that compile() adds
  std::vector<LayerRecord> layers;      // in config order, each layer once; sublayers follow their layer
};

/// Parses the object of config.json. A null name or dtype means the global policy. value_error or type_error with the
/// location in the file and the expected value.
///
/// A config does not list the layers that another layer creates when it is built, such as the projections of an
/// attention layer. So each layer of a known class is created and built for the recorded shapes, and the sublayers that
/// it then has are recorded after it.
ModelRecord modelRecord(const Config &config);

} // namespace halftone::detail
