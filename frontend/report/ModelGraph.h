// The graph of a model for drawing: layers, operations and nested models, with their facts as text.
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
    std::string inputShape, outputShape; // "?" if unknown
    std::string computeDtype;            // of a layer's policy; of an operation's result
    std::string activation;              // "" if the layer has none
    std::string trainable;               // "Y", "N", or "-" for nodes without weights
    bool isOperation = false;
    std::shared_ptr<const ModelGraph> inside; // of a nested model, drawn as a box around its layers
  };
  using Edge = std::pair<size_t, size_t>; // from producer to consumer, without duplicates
  std::string name, className;
  /// In Keras's order. Only layers that are called again have edges to an earlier node.
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::string note; // the reason if the connections are unknown; otherwise ""
};

/// The graph of `model`. With `expandNested`, the node of a nested model with layers contains its graph.
ModelGraph modelGraph(const Layer &model, bool expandNested);

} // namespace halftone::detail
