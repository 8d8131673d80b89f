// Calls of layers with the arguments that a file records.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Graph.h"
#include "halftone/Layer.h"
#include "runtime/base/ConfigAccess.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

/// The body of a graph of layers, beside its LayerBody.
class GraphCalled {
public:
  /// The names of the graph's inputs, by which a call with a dict and named tensors give them: the keys if the graph itself
  /// takes a dict of them. Empty before a Sequential is built.
  virtual std::vector<std::string> inputNames() const = 0;
  /// The specs of the graph's outputs, if `inputs` are those of its Inputs and no setting that traces read has changed since
  /// the graph was recorded. So a model of models is traced once for each level, not once for all levels below each.
  virtual std::optional<std::vector<ValueSpec>> recordedSpecs(const std::vector<ValueSpec> &inputs) const = 0;

protected:
  ~GraphCalled() = default;
};

/// The body of an InputLayer, beside its LayerBody.
class InputShown {
public:
  virtual Value shown() const = 0; // the Input that the layer shows among the layers of a model

protected:
  ~InputShown() = default;
};

/// Whether this is {"input": i}, the place of a Value in a CallForm.
bool standsForValue(const nlohmann::ordered_json &json);

/// Calls `layer` with the arguments of a CallForm (frontend/graph/Graph.h). not_implemented_error naming an argument that the
/// layer's call does not have here; value_error for arguments that are no call.
std::vector<Value> callAsRecorded(const Layer &layer, const std::vector<Value> &inputs, const Config &arguments);

} // namespace halftone::detail
