// The public Layer handle.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Layer.h"
#include "frontend/base/UniqueNames.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/Fields.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/layers/RecordedCall.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/StackRoom.h"
#include "runtime/policy/PolicyRep.h"
#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <set>

namespace halftone {
using namespace detail;

namespace detail {

LayerBody::~LayerBody() = default;
Value LayerBody::mask(const Values &, const std::vector<Value> &) { return {}; }
size_t LayerBody::masked_outputs() const { return 1; }
size_t LayerBody::most_inputs() const { return 0; }
bool LayerBody::quantizes(std::string_view) const { return false; }

std::string class_name_of(std::string_view pretty) {
  // "... [T = ns::Name]" (clang) or "... [with T = ns::Name; ...]" (gcc)
  size_t begin = pretty.find("T = ");
  if (begin == std::string_view::npos)
    return "Custom";
  begin += 4;
  size_t end = pretty.find_first_of(";]", begin);
  std::string_view name = pretty.substr(begin, end - begin);
  size_t colon = name.rfind("::");
  return std::string(colon == std::string_view::npos ? name : name.substr(colon + 2));
}

namespace {

/// The body of an Input in a list of layers: returns its argument and has the Input's spec.
class InputBody final : public LayerBody, public InputShown {
public:
  InputBody(InputOptions options, Value shown) : options_(std::move(options)), shown_(std::move(shown)) {}
  Value shown() const override { return shown_; }
  Values call(const Values &inputs, const CallContext &) override { return inputs; }
  void get_config(Config &config) const override {
    config = Config();
    writeFields(config, options_, layerFields<InputOptions>);
  }

private:
  InputOptions options_;
  Value shown_;
};

/// Variables without duplicates in discovery order, and whether each is trainable.
struct Collected {
  std::vector<std::pair<Variable, bool>> variables;
  std::set<const VariableImpl *> known;
  std::set<const LayerImpl *> layers;
};

void collect(const LayerImpl &layer, bool parentTrainable, Collected &found) {
  requireStack("layers");
  if (!found.layers.insert(&layer).second)
    return;
  bool trainable = parentTrainable && layer.trainable;
  auto add = [&](const Variable &variable, bool isTrainable) {
    if (found.known.insert(variable.impl().get()).second)
      found.variables.emplace_back(variable, isTrainable);
  };
  for (bool own : {true, false}) // Keras lists a layer's trainable weights first
    for (const Variable &variable : layer.weights)
      if (variable.trainable() == own)
        add(variable, trainable && own);
  for (const Layer &child : layer.children)
    collect(*child.impl(), trainable, found);
}

/// The layer's policy or, if its components were quantized separately, a map with their policies.
DTypePolicy policyWithParts(const LayerImpl &layer) {
  std::vector<std::pair<std::string, DTypePolicy>> parts;
  if (!layer.transparent && !layer.policy.as_map())
    for (const Layer &part : layersBelow(layer))
      parts.emplace_back(part.path(), part.dtype_policy());
  std::erase_if(parts,
                [&](const auto &part) { return !part.second.quantization_mode() || part.second == layer.policy; });
  if (parts.empty())
    return layer.policy;
  const DTypePolicyMap map(PolicyArg(layer.policy), {});
  for (const auto &[path, policy] : parts)
    map.insert(path, policy);
  return map;
}

std::vector<Variable> select(const LayerImpl &layer, std::optional<bool> trainable) {
  Collected all;
  collect(layer, true, all);
  std::vector<Variable> chosen;
  for (const auto &[variable, isTrainable] : all.variables)
    if (!trainable || *trainable == isTrainable)
      chosen.push_back(variable);
  return chosen;
}

} // namespace
} // namespace detail

Value convert_input(const DTypePolicy &policy, const Value &x, bool autocast, DType dtype) {
  if (!autocast || !is_float(x.dtype()) || x.dtype() == dtype)
    return x;
  return applyOne("convert_input", {x},
                  [dtype](const std::vector<Value> &v) { return asDtype(v[0], dtype, "layer input"); });
}
Tensor convert_input(const DTypePolicy &policy, const Tensor &x, bool autocast, DType dtype) {
  return autocast && is_float(x.dtype()) && x.dtype() != dtype ? x.astype(dtype) : x;
}

Layer::Layer(const Layer &) = default;
Layer::Layer(Layer &&other) noexcept : impl_(other.impl_) {} // copies, so that a moved-from layer stays valid
Layer &Layer::operator=(const Layer &) & = default;
Layer &Layer::operator=(Layer &&other) & noexcept { return *this = static_cast<const Layer &>(other); }
Layer::~Layer() = default;
Layer::Layer(std::shared_ptr<LayerImpl> impl) : impl_(std::move(impl)) {}

Layer::Layer(std::unique_ptr<LayerBody> body, std::string className, const LayerArgs &args, Where where)
    : impl_(std::make_shared<LayerImpl>()) {
  impl_->body = std::move(body);
  impl_->className = std::move(className);
  impl_->hasOwnName = !args.name.empty();
  impl_->name = args.name.empty() ? uniqueName(impl_->className) : args.name;
  requireNameInUtf8("The name of a layer", impl_->name, where);
  if (impl_->name.find('/') != std::string::npos)
    throw Error(ErrorKind::value_error,
                fmt::format("Layer name '{}' must not contain '/', which separates paths", impl_->name), {}, where);
  impl_->policy = args.dtype.get();
  impl_->activityRegularizer = args.activity_regularizer;
  impl_->trainable = args.trainable;
  impl_->autocast = args.autocast;
  impl_->where = where;
  impl_->madeInCall = layerCallOpen();
}

Layer detail::inputLayer(const Value &input) {
  auto impl = std::make_shared<LayerImpl>();
  impl->body = std::make_unique<InputBody>(InputOptions{input.shape(), input.dtype(), input.node()->name}, input);
  impl->className = "InputLayer";
  impl->name = input.node()->name;
  impl->built = true;
  impl->transparent = true;
  impl->inputSpecs = impl->outputSpecs = {{input.shape(), input.dtype()}};
  return Layer(std::move(impl));
}

Config detail::withMarkOfName(const Layer &layer, Config object) {
  if (const LayerImpl &impl = *layer.impl(); impl.hasOwnName && isAutomaticName(impl.name, impl.className))
    object.set(markOfName, true);
  return object;
}
Layer detail::withNameOfConfig(const Layer &layer, bool isMarked) {
  LayerImpl &impl = *layer.impl();
  impl.hasOwnName = impl.hasOwnName && (!isAutomaticName(impl.name, impl.className) || isMarked);
  return layer;
}

std::vector<Layer> detail::layersBelow(const LayerImpl &root) {
  std::set<const LayerImpl *> known{&root};
  std::vector<Layer> layers;
  std::vector<std::pair<const LayerImpl *, size_t>> open{{&root, 0}}; // layers whose children are being visited
  while (!open.empty()) {
    auto &[parent, next] = open.back();
    if (next == parent->children.size()) {
      open.pop_back();
      continue;
    }
    const Layer &child = parent->children[next++];
    if (!known.insert(child.impl().get()).second)
      continue;
    layers.push_back(child);
    open.emplace_back(child.impl().get(), 0);
  }
  return layers;
}

std::vector<Layer> detail::computingLayers(const Layer &model) {
  std::vector<Layer> layers = layersBelow(*model.impl());
  std::erase_if(layers, [](const Layer &layer) { return layer.impl()->transparent; });
  return layers;
}

Layer::Layer(const Input &input) : Layer(inputLayer(input)) {}

Input::Input(const Shape &shape, const InputArgs &args) {
  std::vector<int64_t> dims = shape.dims();
  dims.insert(dims.begin(), args.batch_size.value_or(-1));
  std::string name = args.name.empty() ? uniqueName("InputLayer") : args.name;
  requireNameInUtf8("The name of an Input", name);
  Value::operator=(symbolicInput(Shape(dims), args.dtype.value_or(floatxDtype()), name));
}

std::vector<Value> Layer::losses() const {
  Trace *trace = Trace::current();
  if (!trace)
    throw Error(ErrorKind::runtime_error,
                fmt::format("losses() of layer '{}' is for functions being traced: use it inside a jit function, where "
                            "the layer is called",
                            name()),
                path().empty() ? name() : path(), impl_->where);
  trace->lossesRead = true;
  std::set<const LayerImpl *> own{impl_.get()};
  for (const Layer &layer : layersBelow(*impl_))
    own.insert(layer.impl().get());
  std::vector<Value> losses;
  for (const AddedLoss &loss : std::vector<AddedLoss>(trace->losses))
    if (own.contains(loss.layer))
      losses.push_back(scalarPenalty(loss.value));
  const AutocastScope inOwnDtypes(std::nullopt);
  for (const Value &penalty : weightRegularizers(trainable_variables()))
    losses.push_back(scalarPenalty(penalty));
  return losses;
}

Value Layer::operator()(const Value &x, const CallArgs &args) const { return (*this)(Values(x), args); }
Value Layer::operator()(const Values &xs, const CallArgs &args) const {
  const std::shared_ptr<LayerImpl> impl = impl_; // user code may destroy this handle
  std::vector<Value> all = impl->call(std::vector<Value>(xs.begin(), xs.end()), args);
  if (all.size() != 1)
    throw Error(ErrorKind::value_error, fmt::format("layer '{}' has {} outputs: use outputs()", impl->name, all.size()),
                impl->path, impl->where);
  return all[0];
}
Values Layer::outputs(const Values &xs, const CallArgs &args) const {
  const std::shared_ptr<LayerImpl> impl = impl_;
  return Values(impl->call(std::vector<Value>(xs.begin(), xs.end()), args));
}
Tensor Layer::operator()(const Tensor &x, const CallArgs &args) const { return (*this)(Tensors(x), args); }
Tensor Layer::operator()(const Tensors &xs, const CallArgs &args) const {
  const std::shared_ptr<LayerImpl> impl = impl_;
  Tensors all = impl->callOnData(xs, args);
  if (all.size() != 1)
    throw Error(ErrorKind::value_error, fmt::format("layer '{}' has {} outputs", impl->name, all.size()), impl->path,
                impl->where);
  return all[0];
}

std::string Layer::name() const { return impl_->name; }
std::string Layer::path() const { return impl_->path; }
std::string Layer::class_name() const { return impl_->className; }
bool Layer::built() const { return impl_->built; }
bool Layer::trainable() const { return impl_->trainable; }
void Layer::set_trainable(bool trainable) const {
  impl_->trainable = trainable;
  for (const Layer &layer : layersBelow(*impl_))
    layer.impl()->trainable = trainable;
  bumpConfigurationEpoch();
}
DTypePolicy Layer::dtype_policy() const { return impl_->policy; }
void Layer::set_dtype_policy(const PolicyArg &policy) const {
  const DTypePolicy given = policy.get(), old = impl_->policy;
  const std::optional<DTypePolicyMap> present = old.as_map(), map = given.as_map();
  const QuantizationConfig config = quantizationBy(map && !path().empty() ? (*map)[path()] : given, *impl_);
  if (present && !map && !path().empty()) { // changes the map entry for the path, for every layer that shares the map
    PolicyAccess::replace(*present, path(), given);
  } else {
    impl_->policy = given;
  }
  if (config.defined())
    impl_->quantize(config);
  impl_->holdMode();
  bumpConfigurationEpoch();
}
DType Layer::dtype() const { return variable_dtype(); }
DType Layer::compute_dtype() const { return impl_->resolvedPolicy().compute_dtype(); }
DType Layer::variable_dtype() const { return impl_->resolvedPolicy().variable_dtype(); }
std::optional<std::string> Layer::quantization_mode() const { return impl_->resolvedPolicy().quantization_mode(); }
std::vector<Layer> Layer::layers() const { return impl_->children; }
std::vector<Variable> Layer::variables() const { return select(*impl_, std::nullopt); }
std::vector<Variable> Layer::trainable_variables() const { return select(*impl_, true); }
std::vector<Variable> Layer::non_trainable_variables() const { return select(*impl_, false); }

std::vector<Variable> Layer::weights() const {
  std::vector<Variable> weights = variables();
  std::erase_if(weights, [](const Variable &variable) { return variable.impl()->role == VariableRole::seed; });
  return weights;
}
std::vector<Tensor> Layer::get_weights() const {
  std::vector<VariableHandle> memory;
  for (const Variable &variable : weights())
    memory.push_back(variable.impl()->memory);
  return readTogether(memory).valueOrThrow();
}
void Layer::set_weights(const std::vector<Tensor> &weights) const {
  std::vector<Variable> variables = this->weights();
  if (variables.size() != weights.size())
    throw Error(ErrorKind::value_error,
                fmt::format("You called `set_weights(weights)` on layer '{}' with a weight list of length {}, but the "
                            "layer was expecting {} weights.",
                            name(), weights.size(), variables.size()),
                path());
  for (size_t i = 0; i < weights.size(); ++i) // checks all before writing the first
    if (!weights[i].defined() || weights[i].shape() != variables[i].shape())
      throw Error(ErrorKind::value_error,
                  fmt::format("Layer {} weight shape {} is not compatible with provided weight shape {}.", name(),
                              variables[i].shape().str(),
                              weights[i].defined() ? weights[i].shape().str() : "(undefined)"),
                  path());
  std::vector<VariableHandle> memory;
  std::vector<Tensor> values;
  for (size_t i = 0; i < weights.size(); ++i) {
    memory.push_back(variables[i].impl()->memory);
    values.push_back(weights[i].astype(variables[i].impl()->dtype));
  }
  writeTogether(memory, values).orThrow();
}
int64_t Layer::count_params() const {
  if (!built())
    throw Error(ErrorKind::value_error,
                fmt::format("You tried to call `count_params` on layer '{}', but the layer isn't built.", name()),
                path());
  int64_t count = 0;
  for (const Variable &variable : weights())
    count += variable.shape().elements();
  return count;
}
Config Layer::get_config() const {
  requireStack("a config");
  Config config;
  const LayerArgs args{.activity_regularizer = impl_->activityRegularizer,
                       .trainable = trainable(),
                       .dtype = policyWithParts(*impl_),
                       .name = name()};
  writeFields(config, args, baseFields<LayerArgs>);
  if (args.activity_regularizer.defined())
    writeFields(config, args, activityField<LayerArgs>);
  impl_->body->get_config(config);
  return config;
}
Variable Layer::weight(std::string_view name) const {
  for (const Variable &variable : impl_->weights)
    if (variable.name() == name)
      return variable;
  throw Error(ErrorKind::attribute_error,
              impl_->built
                  ? fmt::format("layer '{}' has no weight '{}'", impl_->name, name)
                  : fmt::format("layer '{}' has no '{}' yet: it is created when the layer is built, at its first call",
                                impl_->name, name),
              impl_->path.empty() ? impl_->name : impl_->path, impl_->where);
}
LayerBody &Layer::body() const { return *impl_->body; }

std::ostream &operator<<(std::ostream &os, const Layer &layer) {
  return os << fmt::format("<{} name={}, built={}>", layer.class_name(), layer.name(),
                           layer.built() ? "True" : "False");
}

} // namespace halftone
