// A model's layers with the dtypes that its file records.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Policy.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::tools {

struct RecordedLayer {
  std::string path, className;
  DTypePolicy policy;             // never a map: the entry of a map for the path
  std::optional<std::string> key; // the key of a map that decided
  DType variable = DType::float32;
  bool isOutput = false, isSoftmax = false;
};

struct RecordedModel {
  std::string description;           // "Sequential 'net', 3 layers, written by Keras 3.16.0"
  std::optional<DTypePolicy> policy; // the model's own; a module has none
  bool policyIsRecorded = false;     // else it is the global one
  bool scalesLoss = false;           // under any policy: it has a loss scale already
  bool trains = false;               // a module that takes gradients
  std::vector<RecordedLayer> layers; // in the model's order
  std::vector<std::string> mapKeys;  // of all maps in the file
};

/// Reads a .keras archive, or a .mlir module in a stage from graph to kernel. The global policy fills in whatever the
/// file leaves open. Errors name the file, the fault and the expected value; value_error with the layer's path when two
/// keys of a map in the file match it.
RecordedModel readModel(const std::string &path);

} // namespace halftone::tools
