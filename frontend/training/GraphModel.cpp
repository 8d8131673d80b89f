// Models as graphs of layers: functional, Sequential and custom.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProgressBar.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/HostSteps.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/GraphOrder.h"
#include "frontend/layers/HostBody.h"
#include "frontend/layers/KeyValueCache.h"
#include "frontend/layers/RecordedCall.h"
#include "frontend/training/ModelState.h"
#include "halftone/Ops.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/ConfigurationEpoch.h"
#include "runtime/base/Half.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace halftone {
using namespace detail;

namespace {

/// The call of a graph: checks the inputs, casts them to the Inputs' dtypes and replays the recorded calls.
class GraphBody final : public LayerBody, public GraphCalled {
public:
  void attach(LayerImpl &layer, ModelState &state) {
    layer_ = &layer;
    state_ = &state;
  }
  void build(BuildContext &, const std::vector<Shape> &shapes) override;
  Values call(const Values &inputs, const CallContext &) override;
  std::vector<std::string> inputNames() const override;
  std::optional<std::vector<ValueSpec>> recordedSpecs(const std::vector<ValueSpec> &inputs) const override;

private:
  LayerImpl *layer_ = nullptr;
  ModelState *state_ = nullptr;
};

/// Checks that layer names are unique: a path, and so a key of a policy map, must denote one layer.
void checkNames(const LayerImpl &model, Where where) {
  std::map<std::string, int> uses;
  for (const Layer &layer : model.children)
    ++uses[layer.name()];
  for (const Layer &layer : model.children)
    if (int count = uses[layer.name()]; count > 1)
      throw Error(ErrorKind::value_error,
                  fmt::format("The name \"{}\" is used {} times in the model. All operation names should be unique.",
                              layer.name(), count),
                  model.name, where);
}

/// Returns true if the shape of an input matches the expected shape. With an open key-value cache, axis 1 may have any
/// number of steps.
bool fits(const Shape &given, const Shape &expected) {
  if (given.rank() != expected.rank())
    return false;
  for (int64_t i = 0; i < given.rank(); ++i)
    if (!(i == 1 && OpenCache::current()) && expected[i] >= 0 && given[i] >= 0 && given[i] != expected[i])
      return false;
  return true;
}

/// The name of the input of a Sequential without an InputLayer.
constexpr const char *nameOfInput = "input_layer";

void buildSequence(LayerImpl &layer, const Value &input) {
  ModelState &state = *layer.model;
  CallTransaction::onFailure([self = layer.shared_from_this(), &state, inputs = state.inputs, outputs = state.outputs,
                              names = state.outputNames] {
    state.inputs = inputs;
    state.outputs = outputs;
    state.outputNames = names;
  });
  const uint64_t epoch = configurationEpoch();
  std::vector<Value> values{input};
  for (const Layer &each : std::vector<Layer>(state.sequence)) // a copy, since a layer's code may change the list
    values = each.impl()->call(values, {});
  state.inputs = {input};
  state.outputs = values;
  state.recordedEpoch = epoch;
  state.outputNames.clear();
  for (size_t i = 0; i < values.size(); ++i)
    state.outputNames.push_back(state.sequence.empty() ? input.node()->name : state.sequence.back().name());
}

/// Warns if the first layer looks up ids in a table with more rows than `dtype`, that of the model's input, represents
/// exactly.
static void warnOfRoundedIds(const std::string &model, const Layer &first, DType dtype) {
  const std::string &kind = first.impl()->className;
  if (kind != "Embedding" && kind != "ReversibleEmbedding")
    return;
  const auto rows = static_cast<double>(first.get_config().get_int("input_dim"));
  double limit = 1.0; // up to which `dtype` represents every integer
  while (limit < rows && roundTo(dtype, limit + 1.0) == limit + 1.0)
    limit *= 2.0;
  if (rows - 1.0 > limit)
    writeOutput(
        fmt::format("warning: the Sequential '{}' has no Input, so its input is cast to {}, the compute dtype of "
                    "layer '{}': ids above {} are rounded, and the table has {} rows. Begin the model with an "
                    "Input of dtype int32\n",
                    model, name(dtype), first.name(), limit, rows));
}

void GraphBody::build(BuildContext &, const std::vector<Shape> &shapes) {
  if (!state_->isSequential || !state_->inputs.empty())
    return;
  if (shapes.size() != 1)
    throw Error(ErrorKind::value_error, fmt::format("a Sequential takes one input, got {}", shapes.size()));
  // Keras's rule: without an Input, the input has the first layer's compute dtype.
  DType dtype = state_->sequence.empty() ? floatxDtype() : state_->sequence.front().compute_dtype();
  if (!state_->sequence.empty())
    if (const auto *host = dynamic_cast<const HostBody *>(state_->sequence.front().impl()->body.get()))
      dtype = host->inputDType();
  if (!state_->sequence.empty())
    warnOfRoundedIds(layer_->name, state_->sequence.front(), dtype);
  buildSequence(*layer_, symbolicInput(shapes[0], dtype, nameOfInput));
}

/// As in Keras, adds or removes a trailing axis of extent 1 to match the expected rank.
static Value ofRank(const Value &x, const Shape &expected) {
  std::vector<int64_t> dims = x.shape().dims();
  if (x.rank() == expected.rank() + 1 && x.shape()[-1] == 1)
    dims.pop_back();
  else if (x.rank() + 1 == expected.rank() && expected[-1] == 1)
    dims.push_back(1);
  else
    return x;
  return x.dtype() == DType::string ? feedOfShape(x, Shape(dims)) : ops::reshape(x, Shape(dims));
}

Values GraphBody::call(const Values &inputs, const CallContext &) {
  if (inputs.size() != state_->inputs.size())
    throw Error(ErrorKind::value_error, fmt::format("Model '{}' expects {} inputs, but it received {}", layer_->name,
                                                    state_->inputs.size(), inputs.size()));
  std::vector<Value> values;
  const std::vector<Value> from = state_->inputs, to = state_->outputs; // layer code may change the graph
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value &expected = state_->inputs[i], given = ofRank(inputs[i], expected.shape());
    if (!fits(given.shape(), expected.shape()))
      throw Error(ErrorKind::value_error,
                  fmt::format("Invalid input shape for input '{}' of model '{}'. Expected shape {}, but input has "
                              "incompatible shape {}",
                              expected.node()->name, layer_->name, expected.shape().str(), inputs[i].shape().str()));
    if ((given.dtype() == DType::string) != (expected.dtype() == DType::string))
      throw Error(ErrorKind::type_error,
                  fmt::format("Input '{}' of model '{}' takes {}, but it received {}", expected.node()->name,
                              layer_->name, name(expected.dtype()), name(given.dtype())));
    values.push_back(asDtype(given, expected.dtype(), "model input"));
    values.back().node()->mask = inputs[i].node()->mask; // a cast preserves the mask
    values.back().node()->feed = inputs[i].node()->feed;
  }
  GraphMasks masks(values);
  const std::vector<Value> outputs = replay(from, to, values);
  masks.leaveBy(outputs);
  return Values(outputs);
}

std::vector<std::string> GraphBody::inputNames() const {
  std::vector<std::string> names;
  for (const Value &input : state_->inputs)
    names.push_back(input.node()->name);
  const nlohmann::ordered_json &forms = ConfigAccess::json(state_->endForms);
  if (forms.contains("inputs") && forms["inputs"].is_object() && !isInputReference(forms["inputs"]))
    for (const auto &[key, reference] : forms["inputs"].items())
      if (isInputReference(reference))
        names.at(reference["input"].get<size_t>()) = key;
  return names;
}

std::optional<std::vector<ValueSpec>> GraphBody::recordedSpecs(const std::vector<ValueSpec> &inputs) const {
  if (state_->inputs.empty() || state_->recordedEpoch != configurationEpoch() || specsOf(state_->inputs) != inputs)
    return std::nullopt;
  return specsOf(state_->outputs);
}

std::unique_ptr<LayerBody> graphBody() { return std::make_unique<GraphBody>(); }

void makeGraphModel(LayerImpl &layer) {
  makeModel(layer);
  layer.transparent = true;
  static_cast<GraphBody &>(*layer.body).attach(layer, *layer.model);
}

/// The input of a Sequential, if its InputLayer or its first layer determines it; otherwise undefined.
Value inputOfSequence(const ModelState &state) {
  if (state.sequenceInput)
    return dynamic_cast<const InputShown &>(*state.sequenceInput->impl()->body).shown();
  const std::shared_ptr<ModelState> first = state.sequence.empty() ? nullptr : state.sequence.front().impl()->model;
  if (!first || first->inputs.size() != 1)
    return {};
  return symbolicInput(first->inputs[0].shape(), first->inputs[0].dtype(), nameOfInput);
}

/// Makes the layers of a graph that is rebuilt forget its calls, so that their first calls are those of the new graph.
void forgetCalls(const std::vector<Value> &outputs) {
  for (const std::shared_ptr<Call> &call : callsInOrder(outputs))
    if (call->layer && call->layer->firstCall.lock() == call)
      call->layer->firstCall.reset();
}

void rebuildSequential(LayerImpl &layer) {
  ModelState &state = *layer.model;
  forgetCalls(state.outputs);
  state.inputs.clear();
  state.outputs.clear();
  layer.setChildren(state.sequence);
  layer.built = false;
  layer.inputSpecs.clear();
  layer.outputSpecs.clear();
  const Value input = inputOfSequence(state);
  if (!input.defined() || state.sequence.empty())
    return;
  layer.path = NameScope::prefix() + layer.name;
  const NameScope scope = NameScope::ofLayer(layer.path);
  buildSequence(layer, input);
  layer.built = true;
}

/// Calls `added`, the last layer of the sequence, on the current outputs, or only lists it if the input is not known
/// yet. Returns false if all layers must be called again.
bool extendSequential(LayerImpl &layer, const Layer &added) {
  ModelState &state = *layer.model;
  if (state.inputs.empty() && state.sequence.size() > 1 && !inputOfSequence(state).defined()) {
    layer.adopt(added);
    return true;
  }
  if (!state.sequenceInput || state.outputs.empty() || state.sequence.size() < 2 ||
      layer.path != NameScope::prefix() + layer.name)
    return false;
  const NameScope scope = NameScope::ofLayer(layer.path);
  const std::vector<Value> values = added.impl()->call(state.outputs, {});
  layer.adopt(added);
  layer.inputSpecs.clear();
  layer.outputSpecs.clear();
  state.outputs = values;
  state.outputNames.assign(values.size(), added.name());
  return true;
}

std::set<std::string> namesIn(const ModelState &state) {
  std::set<std::string> names;
  for (const Layer &layer : state.sequence)
    names.insert(layer.name());
  if (state.sequenceInput)
    names.insert(state.sequenceInput->name());
  return names;
}

void appendLayer(LayerImpl &layer, const Layer &added) {
  ModelState &state = *layer.model;
  if (!state.sequenceNames.insert(added.name()).second && std::ranges::count(state.sequence, added) == 0)
    throw Error(ErrorKind::value_error,
                fmt::format("All layers added to a Sequential model should have unique names. Name '{}' is already the "
                            "name of a layer in this model. Update the `name` argument to pass a unique name.",
                            added.name()));
  if (dynamic_cast<const InputShown *>(added.impl()->body.get())) {
    if (state.sequenceInput || !state.sequence.empty())
      throw Error(
          ErrorKind::value_error,
          fmt::format("Sequential model '{}' has already been configured to use an input: an Input must come first",
                      layer.name));
    state.sequenceInput = added;
    return;
  }
  state.sequence.push_back(added);
}

} // namespace

namespace detail {
ModelState &stateOf(const Layer &model) {
  if (!model.impl()->model)
    throw Error(ErrorKind::type_error,
                fmt::format("layer '{}' of class {} is not a model", model.name(), model.class_name()), model.path());
  return *model.impl()->model;
}

void makeModel(LayerImpl &layer) { layer.model = std::make_shared<ModelState>(); }
} // namespace detail

Model::Model(std::unique_ptr<LayerBody> body, std::string className, const ModelArgs &args, Where where)
    : Layer(std::move(body), std::move(className), {.trainable = args.trainable, .name = args.name}, where) {
  makeModel(*impl_);
}

Model::Model(const Layer &layer) : Layer(layer) { stateOf(layer); }

Model::Model(const Values &inputs, const Values &outputs, const ModelArgs &args, Where where)
    : Layer(graphBody(), "Functional", {.trainable = args.trainable, .name = args.name}, where) {
  makeGraphModel(*impl_);
  ModelState &state = *impl_->model;
  auto fail = [&](std::string message) { throw Error(ErrorKind::value_error, std::move(message), impl_->name, where); };
  if (inputs.size() == 0 || outputs.size() == 0)
    fail("a functional model needs inputs and outputs");
  for (const Value &input : inputs) {
    if (!input.defined() || input.node()->isTraced() || input.node()->call)
      fail("the inputs of a functional model must be Inputs");
    state.inputs.push_back(input);
  }
  for (const Value &output : outputs) {
    if (!output.defined() || output.node()->isTraced())
      fail("the outputs of a functional model must be computed from its Inputs");
    state.outputs.push_back(output);
  }
  state.recordedEpoch = configurationEpoch();
  for (const std::shared_ptr<Call> &call : callsInOrder(state.outputs)) {
    if (call->epoch != state.recordedEpoch)
      state.recordedEpoch = ModelState::severalEpochs;
    for (const Value &operand : call->inputs) {
      bool known =
          operand.node()->call != nullptr || std::any_of(state.inputs.begin(), state.inputs.end(),
                                                         [&](const Value &v) { return v.node() == operand.node(); });
      if (!known)
        fail(fmt::format(
            "`inputs` not connected to `outputs`: the graph depends on Input '{}', which is not among the inputs",
            operand.node()->name));
    }
  }
  for (const GraphMember &member : membersInOrder(state.inputs, state.outputs))
    if (member.input.defined() || member.layer)
      impl_->adopt(member.layer ? Layer(member.layer) : inputLayer(member.input));
  checkNames(*impl_, where);
  for (const Value &output : outputs)
    state.outputNames.push_back(output.node()->call && output.node()->call->layer
                                    ? output.node()->call->layer->name
                                    : fmt::format("output_{}", state.outputNames.size()));
  impl_->path = NameScope::prefix() + impl_->name;
  impl_->built = true;
}

Sequential::Sequential(std::initializer_list<Layer> layers, const ModelArgs &args, Where where)
    : Sequential(std::vector<Layer>(layers), args, where) {}

Sequential::Sequential(std::vector<Layer> layers, const ModelArgs &args, Where where)
    : Model(graphBody(), "Sequential", args, where) {
  makeGraphModel(*impl_);
  impl_->model->isSequential = true;
  CallTransaction transaction; // a rejected list leaves its layers unbuilt
  try {
    for (const Layer &layer : layers)
      appendLayer(*impl_, layer);
    rebuildSequential(*impl_);
    transaction.commit();
  } catch (const Error &error) {
    rethrowWithLayer(error, *impl_);
  }
}

void Sequential::add(const Layer &layer) const {
  ModelState &state = *impl_->model;
  const size_t count = state.sequence.size();
  const std::optional<Layer> inputBefore = state.sequenceInput;
  const bool wasBuilt = !state.inputs.empty(); // otherwise no program has traced the model
  try {
    CallTransaction transaction; // a rejected layer stays unbuilt
    appendLayer(*impl_, layer);
    if (!extendSequential(*impl_, layer))
      rebuildSequential(*impl_);
    transaction.commit();
  } catch (const Error &error) { // the model stays unchanged
    state.sequence.resize(std::min(count, state.sequence.size()), layer);
    state.sequenceInput = inputBefore;
    state.sequenceNames = namesIn(state);
    rebuildSequential(*impl_);
    rethrowWithLayer(error, *impl_);
  }
  if (!wasBuilt)
    return;
  const uint64_t epoch = configurationEpoch(), changes = configurationChanges();
  bumpConfigurationEpoch();
  if (state.recordedEpoch == epoch &&
      configurationChanges() == changes + 1) // nothing that this graph reads has changed
    state.recordedEpoch = configurationEpoch();
}
void Sequential::pop() const {
  if (impl_->model->sequence.empty())
    throw Error(ErrorKind::type_error, "There are no layers in the model.", impl_->name, impl_->where);
  impl_->model->sequence.pop_back();
  impl_->model->sequenceNames = namesIn(*impl_->model);
  rebuildSequential(*impl_);
  bumpConfigurationEpoch();
}

/// As in Keras: the dtype of the Input of a Sequential, which is the first layer's compute dtype if the user gave none.
/// (Defined here since it needs the graph.)
DType Layer::input_dtype() const {
  const std::shared_ptr<ModelState> &model = impl_->model;
  return model && model->isSequential && !model->inputs.empty() ? model->inputs[0].dtype() : compute_dtype();
}

/// An input or output of the graph of a layer that is a graph itself, or otherwise of its first call.
static Value endOf(const LayerImpl &layer, size_t index, bool isOutput) {
  const char *const end = isOutput ? "output" : "input";
  const auto fail = [&](ErrorKind kind, const std::string &message) {
    throw Error(kind, message, layer.path.empty() ? layer.name : layer.path, layer.where);
  };
  const auto requireIndex = [&](size_t count) {
    if (index >= count)
      fail(ErrorKind::value_error, fmt::format("layer '{}' has {} {}{}, but {}({}) was requested", layer.name, count,
                                               end, count == 1 ? "" : "s", end, index));
  };
  if (const auto *input = dynamic_cast<const InputShown *>(layer.body.get())) {
    requireIndex(1);
    return input->shown();
  }
  if (layer.model && layer.transparent) {
    const std::vector<Value> &ends = isOutput ? layer.model->outputs : layer.model->inputs;
    if (ends.empty())
      fail(ErrorKind::attribute_error,
           fmt::format("Sequential model '{}' has no defined {} yet: it is built at its first call", layer.name, end));
    requireIndex(ends.size());
    return ends[index];
  }
  const std::shared_ptr<Call> call = layer.firstCall.lock();
  if (!call && layer.recordedCalls > 0)
    fail(ErrorKind::attribute_error, fmt::format("The graph in which layer '{}' was called no longer exists, nor does "
                                                 "the layer's {}: keep a model or a Value of the graph",
                                                 layer.name, end));
  if (!call)
    fail(ErrorKind::attribute_error,
         fmt::format("The layer {} has never been called on an Input and thus has no defined {}.", layer.name, end));
  requireIndex(isOutput ? call->outputs : call->inputs.size());
  if (!isOutput)
    return call->inputs[index];
  auto node = std::make_shared<Node>();
  node->shape = layer.outputSpecs.at(index).shape;
  node->dtype = layer.outputSpecs.at(index).dtype;
  node->layerPath = layer.path;
  node->call = call;
  node->index = index;
  return Value(std::move(node));
}
Value Layer::output(size_t index) const { return endOf(*impl_, index, true); }
Value Layer::input(size_t index) const { return endOf(*impl_, index, false); }

std::vector<Value> Model::inputs() const { return stateOf(*this).inputs; }
std::vector<Value> Model::outputs() const { return stateOf(*this).outputs; }
Layer Model::get_layer(std::string_view name) const {
  std::string names;
  for (const Layer &layer : layers()) {
    if (layer.name() == name)
      return layer;
    names += (names.empty() ? "" : ", ") + layer.name();
  }
  throw Error(ErrorKind::value_error, fmt::format("No such layer: {}. Existing layers are: [{}].", name, names),
              this->name());
}

} // namespace halftone
