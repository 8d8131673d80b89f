// Records calls, infers shapes by tracing, and replays graphs.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/base/InTurn.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/ConfigurationEpoch.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <atomic>
#include <cctype>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace halftone::detail {

namespace {

thread_local bool training = false;
thread_local bool entered = false;  // masksEntered()
thread_local int64_t inference = 0; // id of the innermost running inference, 0 for none
std::atomic<int64_t> inferences = 0;

// Primes that are far apart, so that pooling, windows and strides give a different extent for each, and that are large
// enough for them. The third prime identifies the digits of an error message that come from such an extent.
constexpr int64_t probes[] = {1031, 4099, 2053};

/// Infers the specs by a trace in which `probe` stands for None. `hasOpen` receives whether the trace requested an
/// extent of a host step, for which `probe` stands too.
std::vector<ValueSpec> traceSpecs(const std::vector<ValueSpec> &inputs, const Function &f, int64_t probe,
                                  bool *hasOpen = nullptr) {
  const FloatMode mode;
  std::shared_ptr<Trace> trace = Trace::create("shapes");
  trace->openExtent = probe;
  Trace::Scope scope(trace);
  std::vector<Value> values;
  for (const ValueSpec &input : inputs) {
    std::vector<int64_t> dims = input.shape.dims();
    std::replace(dims.begin(), dims.end(), int64_t{-1}, probe);
    values.push_back(trace->feed("x", Shape(dims), input.dtype));
    values.back().node()->feed = values.size() - 1;
  }
  std::vector<ValueSpec> specs;
  const OutsideForkGate users;
  for (const Value &value : f(values))
    specs.push_back({value.shape(), value.dtype()});
  if (hasOpen)
    *hasOpen = trace->hasOpenExtents;
  return specs;
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// `first` with None for every integer that differs in `second`, the same text for another extent; nullopt if the texts
/// differ in more than integers.
std::optional<std::string> withNone(const std::string &first, const std::string &second) {
  std::string result;
  size_t i = 0, j = 0;
  while (i < first.size() && j < second.size()) {
    size_t iEnd = i, jEnd = j;
    while (iEnd < first.size() && isDigit(first[iEnd]))
      ++iEnd;
    while (jEnd < second.size() && isDigit(second[jEnd]))
      ++jEnd;
    if (iEnd > i && jEnd > j) {
      std::string number = first.substr(i, iEnd - i);
      const char before = i == 0 ? ' ' : first[i - 1]; // keep digits of a name, such as dense_3
      const bool ofName = before == '_' || std::isalpha(static_cast<unsigned char>(before));
      result += ofName || number == second.substr(j, jEnd - j) ? number : "None";
      i = iEnd;
      j = jEnd;
    } else if (first[i] == second[j]) {
      result += first[i];
      ++i;
      ++j;
    } else {
      return std::nullopt;
    }
  }
  return i == first.size() && j == second.size() ? std::optional(result) : std::nullopt;
}

/// Rethrows `error` of a trace with the extent `probe`, with None in its message for every integer that comes from that
/// extent.
[[noreturn]] void rethrowWithNone(const Error &error, const std::vector<ValueSpec> &inputs, const Function &f,
                                  int64_t probe) {
  for (int64_t another : probes) {
    if (another == probe)
      continue;
    std::optional<std::string> message;
    try {
      traceSpecs(inputs, f, another);
    } catch (const Error &other) {
      message = withNone(error.message(), other.message());
    } catch (...) { // an exception from user code; the first error is reported
    }
    if (message == error.message())
      break;
    if (message)
      throw Error(error.kind(), *message, error.layer_path(), error.where());
  }
  throw error;
}

/// traceSpecs() of inputs with unknown extents.
std::vector<ValueSpec> probeSpecs(const std::vector<ValueSpec> &inputs, const Function &f, int64_t probe) {
  try {
    return traceSpecs(inputs, f, probe);
  } catch (const Error &error) {
    rethrowWithNone(error, inputs, f, probe);
  }
}

} // namespace

void mergeSpecs(std::vector<ValueSpec> &specs, const std::vector<ValueSpec> &other) {
  for (size_t i = 0; i < std::min(specs.size(), other.size()); ++i) {
    std::vector<int64_t> dims = specs[i].shape.dims(), otherDims = other[i].shape.dims();
    if (dims.size() != otherDims.size())
      continue;
    for (size_t d = 0; d < dims.size(); ++d)
      if (dims[d] != otherDims[d])
        dims[d] = -1;
    specs[i].shape = Shape(dims);
  }
}

std::vector<ValueSpec> inferSpecs(const std::vector<ValueSpec> &inputs, const Function &f) {
  struct Number {
    Number() : outer(std::exchange(inference, ++inferences)) {}
    ~Number() { inference = outer; }
    int64_t outer;
  } number;
  bool known = std::none_of(inputs.begin(), inputs.end(), [](const ValueSpec &input) {
    std::vector<int64_t> dims = input.shape.dims();
    return std::find(dims.begin(), dims.end(), -1) != dims.end();
  });
  if (known) {
    bool hasOpen = false;
    std::vector<ValueSpec> specs = traceSpecs(inputs, f, probes[0], &hasOpen);
    if (hasOpen)
      mergeSpecs(specs, traceSpecs(inputs, f, probes[1]));
    return specs;
  }
  std::vector<ValueSpec> specs = probeSpecs(inputs, f, probes[0]);
  mergeSpecs(specs, probeSpecs(inputs, f, probes[1]));
  return specs;
}

Call::~Call() {
  InTurn turn;
  for (const Value &input : inputs)
    turn.add(input.node());
  turn.add(std::move(layer));
  inputs.clear();
}

bool isConstant(const Value &value) {
  const std::shared_ptr<Call> &call = value.node()->call;
  return call && call->isConstant;
}

std::vector<ValueSpec> specsOf(const std::vector<Value> &values) {
  std::vector<ValueSpec> specs;
  for (const Value &value : values)
    specs.push_back({value.shape(), value.dtype()});
  return specs;
}

std::vector<Value> apply(const std::string &name, const std::vector<Value> &inputs, const Function &f,
                         const std::shared_ptr<LayerImpl> &layer, const CallForm &form,
                         std::optional<std::vector<ValueSpec>> known) {
  bool symbolic = false, traced = false;
  for (const Value &input : inputs) {
    if (!input.defined())
      throw Error(ErrorKind::value_error, fmt::format("an undefined Value was given to {}", name));
    (input.node()->isTraced() ? traced : symbolic) = true;
  }
  const bool recordsConstant = inputs.empty() && !layer && !Trace::current();
  if (!symbolic && !recordsConstant) // a call without inputs belongs to the current trace, if any
    return f(inputs);
  if (traced)
    throw Error(
        ErrorKind::value_error,
        fmt::format("{} mixes a Value of the function being traced with a symbolic Value of another graph", name));
  const uint64_t epoch = configurationEpoch();
  const std::vector<ValueSpec> specs = known ? *std::move(known) : inferSpecs(specsOf(inputs), f);
  const auto call = std::make_shared<Call>();
  call->name = name;
  call->layer = layer;
  call->inputs = inputs;
  call->outputs = specs.size();
  call->replay = f;
  call->form = form;
  call->epoch = epoch;
  call->isConstant = !layer && std::ranges::all_of(inputs, [](const Value &input) { return isConstant(input); });
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

Config listArguments(size_t count) {
  using Json = nlohmann::ordered_json;
  Json inputs = Json::array();
  for (size_t i = 0; i < count; ++i)
    inputs.push_back({{"input", i}});
  Json arguments;
  arguments["args"] = Json::array({count == 1 ? inputs[0] : inputs});
  arguments["kwargs"] = Json::object();
  return ConfigAccess::make(std::move(arguments));
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
  // Depth-first traversal with an explicit stack: graphs may be thousands of layers deep.
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

static bool anyMask(const std::vector<Value> &values) {
  return std::ranges::any_of(values, [](const Value &value) { return value.node()->mask.defined(); });
}
bool masksEntered() { return entered; }
GraphMasks::GraphMasks(const std::vector<Value> &inputs) : outer_(std::exchange(entered, anyMask(inputs))) {}
GraphMasks::~GraphMasks() { entered = outer_; }
void GraphMasks::leaveBy(const std::vector<Value> &outputs) { outer_ = outer_ || anyMask(outputs); }

bool trainingNow() { return training; }
TrainingScope::TrainingScope(bool now) : saved_(training) { training = now; }
TrainingScope::~TrainingScope() { training = saved_; }
bool inferringShapes() { return inference != 0; }
bool isNonePlaceholder(int64_t extent) {
  return inferringShapes() && std::ranges::find(probes, extent) != std::end(probes);
}
int64_t inferenceNumber() { return inference; }

} // namespace halftone::detail
