// Builds and calls layers: paths, scopes, children.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/InTurn.h"
#include "frontend/base/RandomSeeds.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/HostSteps.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/CallProbe.h"
#include "frontend/layers/HookScope.h"
#include "frontend/layers/HostBody.h"
#include "frontend/layers/InitialZeros.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/layers/RecordedCall.h"
#include "frontend/layers/StackedCells.h"
#include "halftone/Ops.h"
#include "runtime/base/Environment.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/PerThread.h"
#include "runtime/base/StackRoom.h"
#include "runtime/policy/LegacyPolicy.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

namespace {

/// The parent path of layers being built.
struct OpenScope {
  const std::string *path = nullptr; // of a layer
  std::string prefix;                // otherwise
};
thread_local PerThread<std::vector<OpenScope>> nameScopes;
thread_local PerThread<std::vector<LayerImpl *>> callStack;
thread_local bool initialZeros = false;

struct CallFrame {
  explicit CallFrame(LayerImpl *layer) { callStack->push_back(layer); }
  ~CallFrame() { callStack->pop_back(); }
};

} // namespace

NameScope::NameScope(const std::string &name) { nameScopes->push_back({nullptr, prefix() + name + "/"}); }
NameScope::NameScope(const std::string &path, Whole) { nameScopes->push_back({&path, ""}); }
NameScope::~NameScope() { nameScopes->pop_back(); }
std::string NameScope::prefix() {
  if (nameScopes->empty())
    return "";
  const OpenScope &scope = nameScopes->back();
  return scope.path ? *scope.path + "/" : scope.prefix;
}

LayerImpl::~LayerImpl() {
  InTurn turn;
  for (const Layer &child : children)
    turn.add(child.impl());
  children.clear();
  turn.add(std::shared_ptr<const void>(std::move(body)));
  turn.add(std::move(model));
}

void rethrowWithLayer(const Error &error, const LayerImpl &layer) {
  // An error about an environment variable does not concern a layer.
  if (!error.layer_path().empty() || isOfEnvironment(error.message()))
    throw error;
  throw Error(error.kind(), error.message(), layer.path.empty() ? layer.name : layer.path, layer.where);
}

InitialZeros::InitialZeros() : outer_(initialZeros) { initialZeros = true; }
InitialZeros::~InitialZeros() { initialZeros = outer_; }
bool InitialZeros::isOpen() { return initialZeros; }

Shape withoutBatch(const Shape &shape) {
  std::vector<int64_t> dims = shape.dims();
  if (!dims.empty())
    dims[0] = -1;
  return Shape(dims);
}

void LayerImpl::build(const std::vector<Shape> &shapes) {
  requireStack("layers");
  CallTransaction transaction;
  CallTransaction::onFailure([self = shared_from_this(), givenPath = path, givenWeights = weights,
                              givenMode = quantizedMode, wasBuilt = built, seeds = seedSequence()] {
    self->path = givenPath;
    self->weights = givenWeights;
    self->quantizedMode = givenMode;
    self->built = wasBuilt;
    self->holdMode();
    setSeedSequence(seeds);
  });
  path = NameScope::prefix() + name;
  const NameScope scope = NameScope::ofLayer(path);
  requireMode();
  BuildContext context(*this);
  body->build(context, shapes);
  if (madeInCall && !weights.empty())
    throw Error(ErrorKind::value_error, fmt::format("layer '{}' has weights and was created inside the call of another "
                                                    "layer: they would be recreated at every call. Make it a member, "
                                                    "or create the weights in build()",
                                                    name));
  built = true;
  quantizedMode = transparent ? "" : resolvedPolicy().quantization_mode().value_or("");
  holdMode();
  transaction.commit();
}

void LayerImpl::adopt(const Layer &child) {
  if (!knownChildren.insert(child.impl().get()).second)
    return;
  children.push_back(child);
  if (weak_from_this().expired()) // the layer is being constructed
    return;
  CallTransaction::onFailure([self = shared_from_this(), child] {
    self->knownChildren.erase(child.impl().get());
    std::erase(self->children, child);
  });
}

void LayerImpl::setChildren(const std::vector<Layer> &layers) {
  children.clear();
  knownChildren.clear();
  for (const Layer &layer : layers)
    adopt(layer);
}

/// Runs a body in its own scope. The masks of its outputs leave the scope as additional results.
static std::vector<Value> inScopeWithMasks(const LayerScopeArgs &args, const std::vector<Value> &inputs,
                                           const LayerImpl::TracedBody &body) {
  std::vector<size_t> masked; // the outputs whose masks are additional results
  size_t count = 0;
  std::vector<Value> results = tracing().layer(args, inputs, [&](const std::vector<Value> &arguments) {
    std::vector<Value> outputs = body(arguments);
    count = outputs.size();
    for (size_t i = 0; i < count; ++i)
      if (outputs[i].node()->mask.defined()) {
        masked.push_back(i);
        outputs.push_back(outputs[i].node()->mask);
      }
    return outputs;
  });
  for (size_t i = 0; i < masked.size(); ++i)
    results[masked[i]].node()->mask = results[count + i];
  results.resize(count);
  return results;
}

std::vector<Value> LayerImpl::callTraced(const std::vector<Value> &inputs, const BodyCall &how) {
  requireStack("layers");
  LayerImpl *parent = callStack->empty() || callStack->back() == this ? nullptr : callStack->back(); // see HookScope
  const std::shared_ptr<LayerImpl> self = shared_from_this();
  CallTransaction transaction;
  try {
    const size_t most = how ? 0 : body->most_inputs();
    if (most > 0 && (inputs.empty() || inputs.size() > most))
      throw Error(ErrorKind::value_error,
                  fmt::format("Layer '{}' of class {} takes {}, but it received {}{}", name, className,
                              most == 1 ? "one input" : fmt::format("at most {} inputs", most),
                              inputs.empty() ? "none" : fmt::format("{} inputs", inputs.size()),
                              most == 1 && !inputs.empty()
                                  ? ": a Custom whose call() has a `const Values &` takes several"
                                  : ""));
    resolvePolicy(inputs);
    if (!built) {
      std::vector<Shape> shapes;
      for (const Value &input : inputs)
        shapes.push_back(withoutBatch(input.shape()));
      build(shapes);
    }
    if (parent && !madeInCall)
      parent->adopt(Layer(shared_from_this()));
    CallFrame frame(this);
    NameScope scope = NameScope::ofLayer(path); // the same path for every caller
    std::unique_ptr<AutocastScope> reads = autocastScope();
    CallContext context(*this, trainingNow());
    const auto run = [&](const std::vector<Value> &arguments) {
      for (size_t i = 0; i < arguments.size(); ++i) // a layer's scope has its own Values
        arguments[i].node()->mask = inputs[i].node()->mask;
      CallProbe::note(*this, arguments);
      Values results = how ? how(*body, Values(arguments), context) : body->call(Values(arguments), context);
      std::vector<Value> outputs(results.begin(), results.end());
      addPenalties(outputs, context);
      return outputs;
    };
    const bool again = isRematerialized(parent);
    std::vector<Value> outputs = transparent && !again ? run(inputs) : callInScope(inputs, again, run);
    noteCall(inputs, outputs);
    transaction.commit();
    return outputs;
  } catch (const Error &error) {
    rethrowWithLayer(error, *this);
  }
}

/// Adds the activity regularizer's penalties for the outputs of a call to the losses.
void LayerImpl::addPenalties(const std::vector<Value> &outputs, const CallContext &context) const {
  if (!activityRegularizer.defined())
    return;
  for (const Value &output : outputs)
    context.add_loss(detail::activity_penalty(activityRegularizer, asComputed(output, context)));
}

/// Calls a body in an IR scope. A graph of layers has a scope only if it is rematerialized (`again`): its inputs are
/// then unchanged, and its outputs keep their masks.
std::vector<Value> LayerImpl::callInScope(const std::vector<Value> &inputs, bool again, const TracedBody &run) {
  const DTypePolicy decided = resolvedPolicy();
  const DType compute = decided.compute_dtype();
  LayerScopeArgs args{path, className, nameInIR(decided), policyKey(), compute, autocast && !transparent, where};
  if (again)
    args.rematerializeAbove = remat->aboveElements;
  std::vector<Value> outputs;
  if (transparent) {
    outputs = inScopeWithMasks(args, inputs, run);
  } else {
    requireMode();
    std::vector<Value> converted = inputs;
    if (autocast && !is_float(compute)) // an integer policy also casts float inputs
      for (Value &input : converted)
        if (is_float(input.dtype()))
          input = asDtype(input, compute, "layer input");
    outputs = tracing().layer(args, converted, run);
    passMask(inputs, outputs);
  }
  for (const Value &output : outputs)
    output.node()->layerPath = path;
  return outputs;
}

/// As in Keras, the first outputs get the mask that the body computes from the inputs' masks.
void LayerImpl::passMask(const std::vector<Value> &inputs, const std::vector<Value> &outputs) const {
  std::vector<Value> masks;
  for (const Value &input : inputs)
    masks.push_back(input.node()->mask);
  if (outputs.empty())
    return;
  const Value mask = body->mask(Values(inputs), masks);
  for (size_t i = 0; i < std::min(outputs.size(), body->masked_outputs()); ++i)
    outputs[i].node()->mask = mask;
}

static std::vector<ValueSpec> specsOf(const std::vector<Value> &values, bool openBatch) {
  std::vector<ValueSpec> specs;
  for (const Value &value : values)
    specs.push_back({openBatch ? withoutBatch(value.shape()) : value.shape(), value.dtype()});
  return specs;
}

void LayerImpl::keepSpecsForFailure() {
  CallTransaction::onFailure([self = shared_from_this(), inputs = inputSpecs, outputs = outputSpecs,
                              inference = specsOfInference, calls = recordedCalls, first = firstCall] {
    self->inputSpecs = inputs;
    self->outputSpecs = outputs;
    self->specsOfInference = inference;
    self->recordedCalls = calls;
    self->firstCall = first;
  });
}

void LayerImpl::noteCall(const std::vector<Value> &inputs, const std::vector<Value> &outputs) {
  if (outputSpecs.empty()) {
    keepSpecsForFailure();
    inputSpecs = specsOf(inputs, true);
    outputSpecs = specsOf(outputs, true);
    specsOfInference = inferenceNumber();
  } else if (specsOfInference && specsOfInference == inferenceNumber()) {
    mergeSpecs(inputSpecs, specsOf(inputs, true));
    mergeSpecs(outputSpecs, specsOf(outputs, true));
  }
}

/// Takes the specs of the first call from the graph, since in a trace an extent stands for every None.
void LayerImpl::noteRecordedCall(const std::vector<Value> &inputs, const std::vector<Value> &outputs) {
  const std::shared_ptr<Call> &call = outputs[0].node()->call;
  keepSpecsForFailure();
  call->index = recordedCalls++;
  if (!firstCall.expired())
    return;
  firstCall = call; // there was none, or its graph was destroyed
  inputSpecs = specsOf(inputs, false);
  outputSpecs = specsOf(outputs, false);
}

/// Adds the argument `training` to the others of a call, as Keras records it.
static CallForm formOf(Config arguments, std::optional<bool> training) {
  if (training) {
    Config keywords = arguments.get_object("kwargs");
    keywords.set("training", *training);
    arguments.set("kwargs", keywords);
  }
  return {.arguments = std::move(arguments)};
}

void LayerImpl::buildFor(const std::vector<Value> &inputs) {
  if (built)
    return;
  try {
    resolvePolicy(inputs);
    std::vector<Shape> shapes;
    for (const Value &input : inputs)
      shapes.push_back(input.shape());
    build(shapes);
  } catch (const Error &error) {
    rethrowWithLayer(error, *this);
  }
}

/// The output specs of a recorded call, if it calls a graph of layers with known specs for these inputs.
std::optional<std::vector<ValueSpec>> LayerImpl::knownSpecs(const std::vector<Value> &inputs) const {
  const auto *graph = dynamic_cast<const GraphCalled *>(body.get());
  return graph ? graph->recordedSpecs(specsOf(inputs)) : std::nullopt;
}

/// The inputs of a call without the masks among them.
static std::vector<Value> withoutMasks(const std::vector<Value> &inputs, const RecordedMasks &masks) {
  std::set<size_t> given;
  for (const RecordedMask &mask : masks)
    if (mask.kind == RecordedMask::Kind::given)
      given.insert(mask.position);
  std::vector<Value> own;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!given.contains(i))
      own.push_back(inputs[i]);
  return own;
}

/// The inputs, each with its mask. A Value with another mask becomes a separate Value, since other calls use the
/// original too.
static std::vector<Value> underMasks(const std::vector<Value> &inputs, const RecordedMasks &masks) {
  std::vector<Value> own = withoutMasks(inputs, masks);
  for (size_t i = 0; i < masks.size(); ++i) {
    using enum RecordedMask::Kind;
    if (masks[i].kind == carried || (masks[i].kind == entered && masksEntered()))
      continue;
    own[i] = Value(std::make_shared<Node>(*own[i].node()));
    own[i].node()->mask = masks[i].kind == given ? inputs[masks[i].position] : Value();
  }
  return own;
}

/// Throws for a call of a host layer on a Value that a graph computes.
static void requireInputs(const LayerImpl &layer, const std::vector<Value> &inputs) {
  if (!dynamic_cast<const HostBody *>(layer.body.get()))
    return;
  for (const Value &input : inputs)
    if (input.defined() && input.node()->call)
      refuseComputed(layer.className);
}
/// The arguments of a call on `count` Values, if it has no others. In Keras, states of a cell and weights of categories
/// are not inputs.
static Config argumentsOf(const std::shared_ptr<LayerImpl> &layer, size_t count) {
  if (count > 1 && dynamic_cast<const CellBody *>(layer->body.get()))
    return cellArguments(Layer(layer));
  if (layer->className != "CategoryEncoding" || count != 2)
    return listArguments(count);
  Config arguments = listArguments(1), keywords, second;
  second.set("input", 1);
  keywords.set("count_weights", second);
  arguments.set("kwargs", keywords);
  return arguments;
}

std::vector<Value> LayerImpl::call(const std::vector<Value> &inputs, const CallArgs &args, const BodyCall &how,
                                   std::optional<Config> arguments, const RecordedMasks &masks) {
  std::shared_ptr<LayerImpl> self = shared_from_this();
  if (auto attended = how || arguments ? std::nullopt : callAttentionOnList(self, inputs, args.training))
    return *attended;
  CallTransaction transaction;
  bool symbolic =
      std::any_of(inputs.begin(), inputs.end(), [](const Value &v) { return v.defined() && !v.node()->isTraced(); });
  if (symbolic) {
    requireInputs(*this, inputs);
    buildFor(withoutMasks(inputs, masks));
  }
  std::optional<bool> training = args.training;
  const bool isPlain = symbolic && !how && !training && std::ranges::none_of(masks, [](const RecordedMask &mask) {
                         return mask.kind == RecordedMask::Kind::given || mask.kind == RecordedMask::Kind::none;
                       });
  std::vector<Value> outputs = apply(
      name, inputs,
      [self, training, how, masks](const std::vector<Value> &values) {
        TrainingScope scope(training.value_or(trainingNow()));
        return self->callTraced(underMasks(values, masks), how);
      },
      self, symbolic ? formOf(arguments ? *arguments : argumentsOf(self, inputs.size()), training) : CallForm(),
      isPlain ? knownSpecs(inputs) : std::nullopt);
  for (const Value &output : outputs)
    if (output.node()->layerPath.empty())
      output.node()->layerPath = path;
  if (symbolic && !outputs.empty())
    noteRecordedCall(withoutMasks(inputs, masks), outputs);
  transaction.commit();
  return outputs;
}

NameList inputsOf(const LayerImpl &layer) {
  NameList list{.kind = "input", .owner = fmt::format("'{}'", layer.name), .path = layer.path};
  if (const auto *graph = dynamic_cast<const GraphCalled *>(layer.body.get()))
    list.names = graph->inputNames();
  return list;
}

Value asComputed(const Value &x, const CallContext &context) {
  if (is_float(x.dtype()) || !is_float(context.compute_dtype()))
    return asFloat(x);
  return asDtype(x, context.compute_dtype(), "layer input");
}

bool layerCallOpen() { return !callStack->empty(); }

/// The layer itself or, if it is created anew at each call, the called layer that owns its children.
static const LayerImpl *ownerOfLosses(const LayerImpl *layer) {
  const LayerImpl *kept = layer->madeInCall ? calledLayer() : layer;
  return kept ? kept : layer;
}
struct HookScope::Frames {
  explicit Frames(LayerImpl &model) : call(&model), names(NameScope::ofLayer(model.path)) {}
  CallFrame call;
  NameScope names;
};
HookScope::HookScope(LayerImpl &model, const std::vector<Value> &x) {
  if (!model.built) {
    model.resolvePolicy(x);
    std::vector<Shape> shapes;
    for (const Value &input : x)
      shapes.push_back(withoutBatch(input.shape()));
    model.build(shapes);
  }
  frames_ = std::make_unique<Frames>(model);
}
HookScope::~HookScope() = default;

bool isActivationRematerialized() {
  return !callStack->empty() && callStack->back()->remat && callStack->back()->remat->isOfActivations;
}

LayerImpl *calledLayer() {
  const auto kept = std::find_if(callStack->rbegin(), callStack->rend(), [](auto *open) { return !open->madeInCall; });
  return kept == callStack->rend() ? nullptr : *kept;
}

std::vector<Value> weightRegularizers(const std::vector<Variable> &variables) {
  std::vector<Value> penalties;
  for (const Variable &variable : variables)
    if (variable.impl()->regularizer.defined() && variable.trainable())
      penalties.push_back(variable.impl()->regularizer(variable));
  return penalties;
}

Value scalarPenalty(const Value &penalty) {
  const Value value = asFloat(penalty);
  return value.rank() == 0 ? value : ops::sum(value);
}

} // namespace halftone::detail

namespace halftone {
using namespace detail;

Variable BuildContext::add_weight(const WeightArgs &args) {
  LayerImpl &layer = layer_;
  DType dtype = args.dtype.value_or(layer.resolvedPolicy().variable_dtype());
  for (int64_t dim : args.shape)
    if (dim < 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("weight '{}' cannot have the shape {}: every dimension must be known", args.name,
                              args.shape.str()));
  Initializer initializer =
      args.initializer.defined() ? args.initializer : Initializer(is_float(dtype) ? "glorot_uniform" : "zeros");
  std::string name = args.name.empty() ? fmt::format("variable_{}", layer.weights.size()) : args.name;
  checkMemoryFor(fmt::format("weight '{}'", name), args.shape, dtype);
  const int64_t seed = nextSeed();
  const VariableFacts facts{.name = name,
                            .path = layer.path + "/" + name,
                            .role = args.trainable ? VariableRole::weight : VariableRole::state,
                            .update = args.overwrite_with_gradient ? UpdateKind::overwrite
                                      : args.trainable             ? UpdateKind::gradient
                                                                   : UpdateKind::assign,
                            .trainable = args.trainable,
                            .autocast = args.autocast,
                            .regularizer = args.regularizer,
                            .constraint = args.constraint};
  Variable variable = InitialZeros::isOpen() ? makeZeros(args.shape, dtype, facts)
                                             : makeVariable(initializer(args.shape, dtype, seed), facts);
  layer.weights.push_back(variable);
  return variable;
}
DType BuildContext::compute_dtype() const { return layer_.resolvedPolicy().compute_dtype(); }
DType BuildContext::variable_dtype() const { return layer_.resolvedPolicy().variable_dtype(); }
std::string BuildContext::path() const { return layer_.path; }

bool CallContext::training() const { return training_; }
DType CallContext::compute_dtype() const { return layer_.resolvedPolicy().compute_dtype(); }
std::string CallContext::path() const { return layer_.path; }
void CallContext::add_loss(const Value &loss) const {
  const LayerImpl &owner = *ownerOfLosses(&layer_);
  tracing().losses.push_back({owner.path, loss, &owner});
}

} // namespace halftone
