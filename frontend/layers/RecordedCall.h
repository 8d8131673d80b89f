// Calls of layers with recorded arguments from a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Graph.h"
#include "halftone/Layer.h"
#include "runtime/base/ConfigAccess.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

/// The body of a graph of layers, a base in addition to LayerBody.
class GraphCalled {
public:
  /// The names of the graph's inputs for calls with a dict or named tensors: the keys if the graph itself takes a dict.
  /// Empty before a Sequential is built.
  virtual std::vector<std::string> inputNames() const = 0;
  /// The specs of the graph's outputs, if `inputs` are the specs of its Inputs and no setting that traces read has
  /// changed since the graph was recorded. So each level of nested models is traced once, not once for each level above
  /// it.
  virtual std::optional<std::vector<ValueSpec>> recordedSpecs(const std::vector<ValueSpec> &inputs) const = 0;

protected:
  ~GraphCalled() = default;
};

/// The body of an InputLayer, a base in addition to LayerBody.
class InputShown {
public:
  virtual Value shown() const = 0; // the Input that the layer represents among the layers of a model

protected:
  ~InputShown() = default;
};

/// Returns true for {"input": i}, which stands for a Value in a CallForm.
bool isInputReference(const nlohmann::ordered_json &json);

/// Calls `layer` with the arguments of a CallForm (frontend/graph/Graph.h). not_implemented_error naming an argument
/// that the layer's call does not support here; value_error for malformed arguments.
std::vector<Value> callAsRecorded(const Layer &layer, const std::vector<Value> &inputs, const Config &arguments);

/// Calls an attention layer whose call takes separate values on a list of query, value and optionally key, so that files
/// hold separate arguments. nullopt for another layer, or for another number of inputs.
std::optional<std::vector<Value>> callAttentionOnList(const std::shared_ptr<LayerImpl> &layer,
                                                      const std::vector<Value> &inputs, std::optional<bool> training);

} // namespace halftone::detail
