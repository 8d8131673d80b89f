// Builds the graph of a model from its recorded calls.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/ModelGraph.h"
#include "frontend/base/ReportWords.h"
#include "frontend/layers/GraphOrder.h"
#include "frontend/training/ModelState.h"
#include "halftone/Error.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/StackRoom.h"
#include <algorithm>
#include <map>

namespace halftone::detail {

namespace {

using Node = ModelGraph::Node;

/// The name of the activation in the layer's config; "" if there is no activation or no config.
std::string activationOf(const Layer &layer) {
  try {
    const Config config = layer.get_config();
    const nlohmann::ordered_json &json = ConfigAccess::json(config);
    const auto found = json.find("activation");
    return found != json.end() && found->is_string() && *found != "linear" ? found->get<std::string>() : "";
  } catch (const Error &) {
    return "";
  }
}

Node layerNode(const Layer &layer, bool expandNested) {
  requireStack("the graph of a model");
  const LayerImpl &impl = *layer.impl();
  Node node;
  node.name = layer.name();
  node.className = layer.class_name();
  node.path = layer.path().empty() ? layer.name() : layer.path();
  node.inputShape = shapesText(impl.inputSpecs);
  node.outputShape = shapesText(impl.outputSpecs);
  node.computeDtype = name(layer.compute_dtype());
  node.activation = activationOf(layer);
  node.trainable = layer.weights().empty() ? "-" : layer.trainable() ? "Y" : "N";
  if (expandNested && impl.model && !layer.layers().empty())
    node.inside = std::make_shared<const ModelGraph>(modelGraph(layer, true));
  return node;
}

Node operationNode(const Call &call) {
  Node node;
  node.name = node.path = call.name;
  node.className = call.form.className.empty() ? call.name : call.form.className;
  std::vector<ValueSpec> inputs;
  for (const Value &input : call.inputs)
    inputs.push_back({input.shape(), input.dtype()});
  node.inputShape = shapesText(inputs);
  node.outputShape = "?";
  node.trainable = "-";
  node.isOperation = true;
  return node;
}

/// A graph of the layers alone: a chain of calls if `areChain`, otherwise without edges.
ModelGraph listOf(const std::vector<Layer> &layers, bool areChain, bool expandNested) {
  ModelGraph graph;
  for (const Layer &layer : layers)
    graph.nodes.push_back(layerNode(layer, expandNested));
  for (size_t i = 1; areChain && i < layers.size(); ++i)
    graph.edges.emplace_back(i - 1, i);
  return graph;
}

class RecordedGraph {
public:
  explicit RecordedGraph(bool expandNested) : expandNested_(expandNested) {}

  ModelGraph read(const std::vector<Value> &inputs, const std::vector<Value> &outputs) {
    const std::vector<GraphMember> members = membersInOrder(inputs, outputs);
    for (const GraphMember &member : members)
      add(member);
    for (size_t to = 0; to < members.size(); ++to)
      for (const std::shared_ptr<Call> &call : members[to].calls)
        for (const Value &input : call->inputs)
          if (!detail::isConstant(input))
            graph_.edges.emplace_back(sourceOf(input), to);
    for (const Value &output : outputs)
      sourceOf(output);
    std::ranges::sort(graph_.edges);
    graph_.edges.erase(std::ranges::unique(graph_.edges).begin(), graph_.edges.end());
    return std::move(graph_);
  }

private:
  void add(const GraphMember &member) {
    const size_t index = graph_.nodes.size();
    if (member.layer || member.input.defined())
      graph_.nodes.push_back(layerNode(member.layer ? Layer(member.layer) : inputLayer(member.input), expandNested_));
    else
      graph_.nodes.push_back(operationNode(*member.calls.at(0)));
    if (member.input.defined())
      nodeOf_[member.input.node().get()] = index;
    for (const std::shared_ptr<Call> &call : member.calls)
      nodeOf_[call.get()] = index;
  }
  /// The node that produces `value`. It learns its output shape here, since an operation's call does not record it.
  size_t sourceOf(const Value &value) {
    const detail::Node &symbolic = *value.node();
    const size_t source = nodeOf_.at(symbolic.call ? static_cast<const void *>(symbolic.call.get())
                                                   : static_cast<const void *>(&symbolic));
    if (Node &node = graph_.nodes[source]; node.isOperation && node.outputShape == "?") {
      node.outputShape = value.shape().str();
      node.computeDtype = name(value.dtype());
    }
    return source;
  }

  bool expandNested_;
  ModelGraph graph_;
  std::map<const void *, size_t> nodeOf_; // keyed by the call, or by the node of the Input
};

} // namespace

ModelGraph modelGraph(const Layer &model, bool expandNested) {
  const ModelState &state = stateOf(model);
  ModelGraph graph;
  if (!state.outputs.empty()) {
    graph = RecordedGraph(expandNested).read(state.inputs, state.outputs);
  } else if (state.isSequential) {
    std::vector<Layer> layers = state.sequence;
    if (state.sequenceInput)
      layers.insert(layers.begin(), *state.sequenceInput);
    graph = listOf(layers, true, expandNested);
  } else {
    graph = listOf(model.layers(), false, expandNested);
    graph.note = model.layers().empty() ? "The model has not been called yet: its layers are not known."
                                        : "The model's own code calls these layers: it has no graph of connections.";
  }
  graph.name = model.name();
  graph.className = model.class_name();
  return graph;
}

} // namespace halftone::detail
