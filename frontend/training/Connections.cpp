// Computes the connections between layers of a functional model.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/Connections.h"
#include "frontend/training/ModelState.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace halftone::detail {

namespace {

/// Returns true if each call takes the result of the previous one, and no layer is called twice.
bool isChain(const std::vector<Value> &inputs, const std::vector<std::shared_ptr<Call>> &calls) {
  std::set<const LayerImpl *> called;
  const Call *before = nullptr;
  for (const std::shared_ptr<Call> &call : calls) {
    if (call->inputs.size() != 1 || call->inputs[0].node()->call.get() != before)
      return false;
    if (call->layer && !called.insert(call->layer.get()).second)
      return false;
    before = call.get();
  }
  return inputs.size() == 1;
}

/// The layers and Inputs that produce `value`, without duplicates. If an operation produces it, the producers of its
/// inputs.
std::vector<std::string> sourcesOf(const Value &value) {
  std::vector<std::string> sources;
  std::set<const Node *> seen;
  std::vector<const Node *> left{value.node().get()}; // an explicit stack: a chain of operations may be long
  while (!left.empty()) {
    const Node &node = *left.back();
    left.pop_back();
    if (!seen.insert(&node).second)
      continue;
    if (!node.call)
      sources.push_back(fmt::format("{}[0][0]", node.name));
    else if (node.call->layer)
      sources.push_back(fmt::format("{}[{}][{}]", node.call->layer->name, node.call->index, node.index));
    else
      for (auto operand = node.call->inputs.rbegin(); operand != node.call->inputs.rend(); ++operand)
        left.push_back(operand->node().get());
  }
  return sources;
}

} // namespace

std::map<const LayerImpl *, std::string> connectionsOf(const Layer &model) {
  std::map<const LayerImpl *, std::string> connections;
  const std::shared_ptr<ModelState> &state = model.impl()->model;
  if (!state || state->isSequential || state->outputs.empty())
    return connections;
  const std::vector<std::shared_ptr<Call>> calls = callsInOrder(state->outputs);
  if (isChain(state->inputs, calls))
    return connections;
  for (const Layer &layer : model.layers())
    connections[layer.impl().get()] = "-";
  for (const std::shared_ptr<Call> &call : calls) {
    if (!call->layer)
      continue;
    std::string &text = connections[call->layer.get()];
    for (const Value &operand : call->inputs)
      for (const std::string &source : sourcesOf(operand)) {
        if (text == "-")
          text.clear();
        text.append(text.empty() ? "" : ", ").append(source);
      }
  }
  return connections;
}

} // namespace halftone::detail
