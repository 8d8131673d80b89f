// The order in which Keras lists the operations of a functional model.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Graph.h"
#include <memory>
#include <vector>

namespace halftone::detail {

/// An Input, a layer with its calls, or one call of an operation.
struct GraphMember {
  Value input{}; // undefined for the others
  std::shared_ptr<LayerImpl> layer{};
  std::vector<std::shared_ptr<Call>> calls{}; // of this graph, in the order in which they were recorded
};

/// The members of a graph, without constants that only calls read, in the order of Keras's `model.layers` and of its config:
/// by the longest way to an output, then by a search from the outputs, depth first. Variables, the optimizer's among them, and
/// groups in files follow it.
std::vector<GraphMember> membersInOrder(const std::vector<Value> &inputs, const std::vector<Value> &outputs);

} // namespace halftone::detail
