// Keras's order of the operations of a functional model.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Graph.h"
#include <memory>
#include <vector>

namespace halftone::detail {

/// An Input, a layer with its calls, or one call of an operation.
struct GraphMember {
  Value input{}; // undefined otherwise
  std::shared_ptr<LayerImpl> layer{};
  std::vector<std::shared_ptr<Call>> calls{}; // of this graph, in recording order
};

/// The members of a graph, without constants that only calls use, in the order of Keras's `model.layers` and of its
/// config: by the longest path to an output, then by a depth-first search from the outputs. Variables, including the
/// optimizer's, and groups in files follow this order.
std::vector<GraphMember> membersInOrder(const std::vector<Value> &inputs, const std::vector<Value> &outputs);

} // namespace halftone::detail
