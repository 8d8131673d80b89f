// The graph of a model as pictures show it: layers, operations and nested models, with facts as text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

struct ModelGraph {
  struct Node {
    std::string name, className, path;
    std::string inputShape, outputShape; // "?" if not known
    std::string computeDtype;            // of a layer: of its policy; of an operation: of its result
    std::string activation;              // "" if the layer has none
    std::string trainable;               // "Y", "N", or "-" for nodes without weights
    bool isOperation = false;
    std::shared_ptr<const ModelGraph> inside; // of a nested model that is shown as a box around its layers
  };
  using Edge = std::pair<size_t, size_t>; // from the node that gives a value to the node that takes it; each once
  std::string name, className;
  /// In Keras's order. Only edges of layers that are called again go from a node to an earlier one.
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::string note; // if the connections are not known, the reason; else ""
};

/// The graph of `model`. With `expandNested`, a nested model with layers has its own graph inside its node.
ModelGraph modelGraph(const Layer &model, bool expandNested);

} // namespace halftone::detail
