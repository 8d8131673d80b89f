// Recording, shape inference by tracing, and replay.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Graph.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace halftone::detail {

namespace {

thread_local bool training = false;
thread_local int inferenceDepth = 0;

// Any two sizes would do that no layer has by itself; Keras's JAX backend uses these.
constexpr int64_t probes[] = {83, 89};

std::vector<ValueSpec> traceSpecs(const std::vector<ValueSpec> &inputs, const Function &f, int64_t probe) {
  struct Depth {
    Depth() { ++inferenceDepth; }
    ~Depth() { --inferenceDepth; }
  } depth;
  std::shared_ptr<Trace> trace = Trace::create("shapes");
  Trace::Scope scope(trace);
  std::vector<Value> values;
  for (const ValueSpec &input : inputs) {
    std::vector<int64_t> dims = input.shape.dims();
    std::replace(dims.begin(), dims.end(), int64_t{-1}, probe);
    values.push_back(trace->feed("x", Shape(dims), input.dtype));
  }
  std::vector<ValueSpec> specs;
  for (const Value &value : f(values))
    specs.push_back({value.shape(), value.dtype()});
  return specs;
}

} // namespace

std::vector<ValueSpec> inferSpecs(const std::vector<ValueSpec> &inputs, const Function &f) {
  std::vector<ValueSpec> first = traceSpecs(inputs, f, probes[0]);
  bool known = std::none_of(inputs.begin(), inputs.end(), [](const ValueSpec &input) {
    std::vector<int64_t> dims = input.shape.dims();
    return std::find(dims.begin(), dims.end(), -1) != dims.end();
  });
  if (known)
    return first;
  std::vector<ValueSpec> second = traceSpecs(inputs, f, probes[1]);
  for (size_t i = 0; i < first.size(); ++i) {
    std::vector<int64_t> dims = first[i].shape.dims(), other = second[i].shape.dims();
    for (size_t d = 0; d < dims.size(); ++d)
      if (dims[d] != other[d])
        dims[d] = -1;
    first[i].shape = Shape(dims);
  }
  return first;
}

std::vector<Value> apply(const std::string &name, const std::vector<Value> &inputs, const Function &f,
                         const std::shared_ptr<LayerImpl> &layer) {
  bool symbolic = false, traced = false;
  for (const Value &input : inputs) {
    if (!input.defined())
      throw Error(ErrorKind::value_error, fmt::format("an undefined Value was given to {}", name));
    (input.node()->isTraced() ? traced : symbolic) = true;
  }
  if (!symbolic) // a call without inputs belongs to the trace that is open
    return f(inputs);
  if (traced)
    throw Error(
        ErrorKind::value_error,
        fmt::format("{} mixes a Value of the function being traced with a symbolic Value of another graph", name));
  std::vector<ValueSpec> specs;
  for (const Value &input : inputs)
    specs.push_back({input.shape(), input.dtype()});
  specs = inferSpecs(specs, f);
  auto call = std::make_shared<Call>(Call{name, layer, inputs, specs.size(), f});
  std::vector<Value> outputs;
  for (size_t i = 0; i < specs.size(); ++i) {
    auto node = std::make_shared<Node>();
    node->shape = specs[i].shape;
    node->dtype = specs[i].dtype;
    node->call = call;
    node->index = i;
    outputs.emplace_back(std::move(node));
  }
  return outputs;
}

Value applyOne(const std::string &name, const std::vector<Value> &inputs,
               const std::function<Value(const std::vector<Value> &)> &f) {
  return apply(name, inputs, [f](const std::vector<Value> &values) { return std::vector<Value>{f(values)}; }).front();
}

Value symbolicInput(const Shape &shape, DType dtype, const std::string &name) {
  auto node = std::make_shared<Node>();
  node->shape = shape;
  node->dtype = dtype;
  node->name = name;
  return Value(std::move(node));
}

std::vector<std::shared_ptr<Call>> callsInOrder(const std::vector<Value> &outputs) {
  std::vector<std::shared_ptr<Call>> order;
  std::set<const Call *> seen;
  // Depth first with an explicit stack: graphs may be thousands of layers deep.
  std::vector<std::pair<std::shared_ptr<Call>, size_t>> stack;
  for (const Value &output : outputs) {
    if (std::shared_ptr<Call> call = output.node()->call; call && seen.insert(call.get()).second)
      stack.emplace_back(call, 0);
    while (!stack.empty()) {
      auto &[call, next] = stack.back();
      if (next == call->inputs.size()) {
        order.push_back(call);
        stack.pop_back();
        continue;
      }
      std::shared_ptr<Call> input = call->inputs[next++].node()->call;
      if (input && seen.insert(input.get()).second)
        stack.emplace_back(input, 0);
    }
  }
  return order;
}

std::vector<Value> replay(const std::vector<Value> &inputs, const std::vector<Value> &outputs,
                          const std::vector<Value> &values) {
  std::map<const Node *, Value> known;
  std::map<const Call *, std::vector<Value>> results;
  for (size_t i = 0; i < inputs.size(); ++i)
    known[inputs[i].node().get()] = values[i];
  auto find = [&](const Value &value) -> Value {
    const Node *node = value.node().get();
    if (auto it = known.find(node); it != known.end())
      return it->second;
    if (!node->call)
      throw Error(
          ErrorKind::value_error,
          fmt::format("the graph depends on the Input '{}', which is not among the model's inputs", node->name));
    return results.at(node->call.get()).at(node->index);
  };
  for (const std::shared_ptr<Call> &call : callsInOrder(outputs)) {
    std::vector<Value> operands;
    for (const Value &input : call->inputs)
      operands.push_back(find(input));
    results[call.get()] = call->replay(operands);
  }
  std::vector<Value> found;
  for (const Value &output : outputs)
    found.push_back(find(output));
  return found;
}

bool trainingNow() { return training; }
TrainingScope::TrainingScope(bool now) : saved_(training) { training = now; }
TrainingScope::~TrainingScope() { training = saved_; }
bool inferringShapes() { return inferenceDepth > 0; }

} // namespace halftone::detail
