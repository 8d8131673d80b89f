// Computes Keras's order of a graph: keras.src.ops.function.map_graph.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/GraphOrder.h"
#include "frontend/layers/LayerImpl.h"
#include <algorithm>
#include <map>
#include <set>

namespace halftone::detail {

namespace {

/// A call, or the Input itself if no call produces the value.
const void *nodeOf(const Value &value) {
  const std::shared_ptr<Node> &node = value.node();
  return node->call ? static_cast<const void *>(node->call.get()) : node.get();
}
/// The operation that produces a value; all calls of a layer are a single operation.
const void *operationOf(const Value &value) {
  const std::shared_ptr<Call> &call = value.node()->call;
  return call && call->layer ? static_cast<const void *>(call->layer.get()) : nodeOf(value);
}

class Search {
public:
  /// Visits the paths from an output to Inputs with an explicit stack: graphs may be thousands of layers deep.
  void visit(const Value &output) {
    enter(output);
    while (!stack_.empty()) {
      auto &[value, next] = stack_.back();
      const std::shared_ptr<Call> call = value.node()->call;
      if (call && next < call->inputs.size()) {
        if (const Value &input = call->inputs[next++]; !isConstant(input))
          enter(input);
        continue;
      }
      finished_.push_back(value);
      stack_.pop_back();
    }
  }

  /// Adds an Input on which no output depends; it comes before all others of its depth.
  void addUnused(const Value &input) {
    if (memberOf_.contains(operationOf(input)))
      return;
    place(input, -1);
  }

  std::vector<GraphMember> sorted() {
    std::map<const void *, int64_t> nodeDepths, depths;
    for (auto value = finished_.rbegin(); value != finished_.rend(); ++value) {
      int64_t &ofOperation = depths[operationOf(*value)], &own = nodeDepths[nodeOf(*value)];
      own = ofOperation = std::max(own, ofOperation);
      if (const std::shared_ptr<Call> &call = value->node()->call)
        for (const Value &input : call->inputs) {
          int64_t &before = nodeDepths[nodeOf(input)];
          before = std::max(before, own + 1);
        }
    }
    for (Placed &member : members_) {
      member.depth = depths[member.operation];
      std::ranges::sort(member.member.calls, {}, [](const std::shared_ptr<Call> &call) { return call->index; });
    }
    std::ranges::sort(members_, [](const Placed &a, const Placed &b) {
      return std::pair(-a.depth, a.traversal) < std::pair(-b.depth, b.traversal);
    });
    std::vector<GraphMember> order;
    for (Placed &member : members_)
      order.push_back(std::move(member.member));
    return order;
  }

private:
  struct Placed {
    GraphMember member;
    const void *operation;
    int64_t traversal, depth = 0;
  };

  Placed &place(const Value &value, int64_t traversal) {
    const auto [found, isNew] = memberOf_.emplace(operationOf(value), members_.size());
    const std::shared_ptr<Call> &call = value.node()->call;
    if (isNew)
      members_.push_back({{call ? Value() : value, call ? call->layer : nullptr, {}}, found->first, traversal});
    return members_[found->second];
  }
  void enter(const Value &value) {
    if (!seen_.insert(nodeOf(value)).second)
      return;
    Placed &member = place(value, std::ssize(members_));
    if (value.node()->call)
      member.member.calls.push_back(value.node()->call);
    stack_.emplace_back(value, 0);
  }

  std::vector<std::pair<Value, size_t>> stack_;
  std::set<const void *> seen_;
  std::vector<Value> finished_; // one per node, in topological order
  std::vector<Placed> members_;
  std::map<const void *, size_t> memberOf_;
};

} // namespace

std::vector<GraphMember> membersInOrder(const std::vector<Value> &inputs, const std::vector<Value> &outputs) {
  Search search;
  for (const Value &output : outputs)
    search.visit(output);
  for (const Value &input : inputs)
    search.addUnused(input);
  return search.sorted();
}

} // namespace halftone::detail
