// Records host steps in traces, and runs them on feeds.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/HostSteps.h"
#include "frontend/graph/Promotion.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

bool anyStrings(const std::vector<Tensor> &tensors) {
  return std::ranges::any_of(tensors,
                             [](const Tensor &tensor) { return tensor.defined() && tensor.dtype() == DType::string; });
}

/// Converts the feed to the shape and dtype of the Value that the step reads, which may differ in models.
static Tensor asValue(const Tensor &feed, const ValueSpec &spec) {
  const Tensor cast = feed.dtype() == spec.dtype ? feed : feed.astype(spec.dtype);
  return cast.shape() == spec.shape ? cast : cast.reshape(spec.shape);
}

Tensor computeOn(const HostStep &step, const std::vector<Tensor> &feeds) {
  std::vector<Tensor> inputs;
  for (const HostStep::Input &input : step.inputs)
    inputs.push_back(asValue(feeds.at(input.feed), input.spec));
  return step.compute(inputs);
}

/// The shape of the result: given by the data, or `shape` with an extent for each None.
static Shape shapeOf(Trace &trace, const HostStep &step, const std::string &caller, const Shape &shape) {
  if (trace.sharedBatch && std::ranges::any_of(shape.dims(), [](int64_t extent) { return extent < 0; }))
    throw Error(ErrorKind::value_error, fmt::format("{} pads to the longest of its texts, and processes that share a "
                                                    "batch have different texts: set `output_sequence_length`",
                                                    caller));
  if (!trace.hostFeeds.empty())
    return computeOn(step, trace.hostFeeds).shape();
  std::vector<int64_t> dims = shape.dims();
  for (int64_t &extent : dims)
    if (extent < 0)
      extent = trace.nextOpenExtent();
  return Shape(std::move(dims));
}

void refuseComputed(const std::string &caller) {
  throw Error(
      ErrorKind::not_implemented_error,
      fmt::format("{} reads its inputs on the host, before the program runs: each must be an Input of the model or "
                  "an argument of the function being traced, not a computed Value",
                  caller));
}

Value hostStep(const HostCall &call) {
  Trace &trace = tracing();
  HostStep step{.owner = call.owner, .compute = call.compute, .spec = call.result};
  for (const Value &input : call.inputs) {
    const Node &node = *input.node();
    if (!node.feed)
      refuseComputed(call.caller);
    step.inputs.push_back({*node.feed, {node.shape, node.dtype}});
  }
  for (const HostStep &known : trace.hostSteps)
    if (known.owner == step.owner && known.inputs == step.inputs)
      return known.result;
  const size_t number = trace.hostSteps.size();
  step.result = trace.feed(number ? fmt::format("{}_{}", call.caller, number) : call.caller,
                           shapeOf(trace, step, call.caller, call.result.shape), call.result.dtype);
  trace.hostSteps.push_back(step);
  return step.result;
}

Value feedOfShape(const Value &feed, const Shape &shape) {
  auto node = std::make_shared<Node>(*feed.node());
  node->shape = shape;
  return Value(std::move(node));
}

Value Trace::feed(const std::string &name, const Shape &shape, DType dtype) {
  if (dtype != DType::string)
    return feedOfNumbers(name, shape, dtype);
  static const char mark = 0; // placeholder handle of a traced Value that is never resolved
  auto node = std::make_shared<Node>();
  node->shape = shape;
  node->dtype = DType::string;
  node->trace = weak_from_this();
  node->handle = &mark;
  return Value(std::move(node));
}
void refuseStrings(const Shape &shape, DType dtype) {
  if (dtype == DType::string)
    throw Error(ErrorKind::type_error,
                fmt::format("a Value of strings, of shape {}, was given to an operation on numbers: StringLookup, "
                            "TextVectorization, Hashing and HashedCrossing convert strings to numbers",
                            shape.str()));
}

std::vector<Value> Trace::layer(const LayerScopeArgs &args, const std::vector<Value> &inputs,
                                const std::function<std::vector<Value>(const std::vector<Value> &)> &body) {
  std::vector<Value> numbers;
  for (const Value &input : inputs)
    if (input.dtype() != DType::string)
      numbers.push_back(input);
  return scope(args, numbers, [&](const std::vector<Value> &given) {
    std::vector<Value> arguments;
    auto next = given.begin();
    for (const Value &input : inputs) {
      arguments.push_back(input.dtype() == DType::string ? feedOfShape(input, input.shape()) : *next++);
      if (arguments.back().dtype() == input.dtype())
        arguments.back().node()->feed = input.node()->feed;
    }
    return body(arguments);
  });
}

int64_t Trace::nextOpenExtent() {
  hasOpenExtents = true;
  return openExtents.size() > takenExtents_ ? openExtents[takenExtents_++] : openExtent;
}

} // namespace halftone::detail
