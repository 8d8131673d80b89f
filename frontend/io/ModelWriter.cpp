// Writes config.json as Keras does.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/ModelWriter.h"
#include "frontend/base/UniqueNames.h"
#include "frontend/graph/CompiledFunction.h"
#include "frontend/graph/Literals.h"
#include "frontend/io/CompileConfig.h"
#include "frontend/io/ModelReader.h"
#include "frontend/layers/GraphOrder.h"
#include "frontend/layers/RecordedCall.h"
#include "frontend/layers/Recurrent.h"
#include "frontend/training/ModelState.h"
#include "frontend/training/StepContext.h"
#include "frontend/training/Trainer.h"
#include "halftone/Layers.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/StackRoom.h"
#include <fmt/format.h>
#include <map>
#include <set>

namespace halftone::detail {

namespace {

using Json = nlohmann::ordered_json;

Json jsonOf(const Config &config) { return ConfigAccess::json(config); }
Json jsonOf(const Shape &shape) {
  Json dims = Json::array();
  for (const int64_t dim : shape)
    dims.push_back(dim < 0 ? Json() : Json(dim));
  return dims;
}

Json objectOf(const char *module, const char *className, Json config) {
  Json object = ConfigAccess::object();
  object["module"] = module;
  object["class_name"] = className;
  object["config"] = std::move(config);
  object["registered_name"] = nullptr;
  return object;
}

Json layerObject(const Layer &layer);

/// Replaces each Value of `form` by its shape.
Json withShapes(const Json &form, const Json &shapes) {
  if (isInputReference(form))
    return shapes[form["input"].get<size_t>()];
  Json nested = Json::array();
  for (const Json &each : form)
    nested.push_back(withShapes(each, shapes));
  return nested;
}

/// The shapes with which Keras builds the layer before reading weights; null if it has no weights of its own. For the
/// model of a struct also the dtypes, which Keras ignores.
Json buildConfigOf(const LayerImpl &layer) {
  if (layer.inputSpecs.empty() || (layer.weights.empty() && layer.children.empty() && !layer.model))
    return nullptr;
  Json shapes = Json::array(), dtypes = Json::array(), build;
  for (const ValueSpec &spec : layer.inputSpecs) {
    shapes.push_back(jsonOf(spec.shape));
    dtypes.push_back(std::string(name(spec.dtype)));
  }
  if (layer.model)
    build[inputDTypesKey] = std::move(dtypes);
  if (layer.className == "MultiHeadAttention" || layer.className == "GroupedQueryAttention")
    build["shapes_dict"] = {{"query_shape", shapes[0]}, {"value_shape", shapes[1]}, {"key_shape", shapes[2]}};
  else if (const auto *recurrent = dynamic_cast<const RecurrentCalled *>(layer.body.get());
           recurrent && shapes.size() > 1)
    build["shapes_dict"] = {{"sequences_shape", shapes[0]},
                            {"initial_state_shape", withShapes(recurrent->stateForm(1), shapes)}};
  else if (dynamic_cast<const CellBody *>(layer.body.get())) // its state shapes follow from its arguments
    build["input_shape"] = shapes[0];
  else
    build["input_shape"] = shapes.size() == 1 ? shapes[0] : shapes;
  return build;
}

Json sequentialObject(const Layer &model) {
  const ModelState &state = stateOf(model);
  Json config = ConfigAccess::object(), layers = Json::array();
  config["name"] = model.name();
  config["trainable"] = model.trainable();
  config["dtype"] = jsonOf(dtype_policies::serialize(model.dtype_policy()));
  if (state.sequenceInput) // otherwise the enclosing model builds the layers, under its own path
    layers.push_back(layerObject(*state.sequenceInput));
  for (const Layer &layer : state.sequence)
    layers.push_back(layerObject(layer));
  config["layers"] = std::move(layers);
  if (!state.inputs.empty())
    config["build_input_shape"] = jsonOf(state.inputs[0].shape());
  Json object = objectOf("keras", "Sequential", std::move(config));
  if (!state.inputs.empty())
    object["build_config"] = {{"input_shape", jsonOf(state.inputs[0].shape())}};
  return object;
}

/// The names with which the calls of a functional model refer to each other.
class GraphWriter {
public:
  explicit GraphWriter(const Layer &model) : model_(model), state_(stateOf(model)) {
    members_ = membersInOrder(state_.inputs, state_.outputs);
    for (const GraphMember &member : members_)
      if (member.layer || member.input.defined())
        used_.insert(member.layer ? member.layer->name : member.input.node()->name);
    for (const GraphMember &member : members_) {
      const std::string name = nameOf(member);
      names_.push_back(name);
      for (size_t i = 0; i < member.calls.size(); ++i)
        locations_[member.calls[i].get()] = {name, static_cast<int64_t>(i)};
    }
  }

  Json config() const {
    Json config = ConfigAccess::object(), layers = Json::array();
    config["name"] = model_.name();
    config["trainable"] = model_.trainable();
    for (size_t i = 0; i < members_.size(); ++i) {
      Json object = memberObject(members_[i], names_[i]), nodes = Json::array();
      object["name"] = names_[i];
      for (const std::shared_ptr<Call> &call : members_[i].calls)
        nodes.push_back(withValues(ConfigAccess::json(call->form.arguments), *call));
      object["inbound_nodes"] = std::move(nodes);
      layers.push_back(std::move(object));
    }
    config["layers"] = std::move(layers);
    config["input_layers"] = ends(state_.inputs, "inputs");
    config["output_layers"] = ends(state_.outputs, "outputs");
    return config;
  }

private:
  /// A layer's name; for an operation, which has none, the operation's word and a number that makes it unique.
  std::string nameOf(const GraphMember &member) {
    if (member.input.defined())
      return member.input.node()->name;
    if (member.layer)
      return member.layer->name;
    const std::string word = snakeCase(member.calls[0]->form.className);
    std::string name = word;
    for (int64_t &count = numbers_[word]; !used_.insert(name).second;)
      name = fmt::format("{}_{}", word, ++count);
    return name;
  }

  Json memberObject(const GraphMember &member, const std::string &name) const {
    if (member.input.defined())
      return layerObject(inputLayer(member.input));
    if (member.layer)
      return layerObject(Layer(member.layer));
    const CallForm &form = member.calls[0]->form;
    if (member.calls[0]->isConstant)
      throw Error(ErrorKind::value_error,
                  fmt::format("a file cannot hold a model whose output is the constant of '{}': compute it in a layer, "
                              "or save only the weights",
                              member.calls[0]->name),
                  model_.name());
    if (form.className.empty())
      throw Error(ErrorKind::value_error,
                  fmt::format("a file cannot hold the operation '{}' between layers: put it into a layer of its own, "
                              "or save only the weights",
                              member.calls[0]->name),
                  model_.name());
    Json config = ConfigAccess::json(form.config);
    Json named;
    named["name"] = name;
    named.update(config);
    Json object = objectOf(form.module.c_str(), form.className.c_str(), std::move(named));
    object["registered_name"] = form.className;
    return object;
  }

  Json history(const Value &value) const {
    const std::shared_ptr<Call> &call = value.node()->call;
    if (!call)
      return Json::array({value.node()->name, 0, 0});
    const auto &[name, index] = locations_.at(call.get());
    return Json::array({name, index, value.node()->index});
  }
  /// A constant argument of an operation.
  Json constantFor(const Value &value, const Call &call) const {
    if (call.layer)
      throw Error(ErrorKind::value_error,
                  fmt::format("a file cannot hold the call of layer '{}' on a constant, which Keras's files support "
                              "only for operations: make it a weight of the layer",
                              call.layer->name),
                  model_.name());
    return arrayForRecord(fmt::format("the operation '{}' of the model '{}'", call.name, model_.name()),
                          elementsOfConstant(value));
  }
  /// Replaces each {"input": i} by Keras's description of the Value.
  Json withValues(const Json &json, const Call &call) const {
    if (isInputReference(json)) {
      const Value &value = call.inputs[json["input"].get<size_t>()];
      if (isConstant(value))
        return constantFor(value, call);
      Json tensor, config;
      config["shape"] = jsonOf(value.shape());
      config["dtype"] = std::string(name(value.dtype()));
      config["keras_history"] = history(value);
      tensor["class_name"] = "__keras_tensor__";
      tensor["config"] = std::move(config);
      return tensor;
    }
    Json result = json;
    for (Json &each : result)
      if (each.is_structured())
        each = withValues(Json(each), call);
    return result;
  }
  /// Inputs or outputs in the structure recorded in the file they came from; otherwise a single value as it is, several
  /// as a list.
  Json ends(const std::vector<Value> &values, const char *which) const {
    const Json &forms = ConfigAccess::json(state_.endForms);
    return endsAs(forms.contains(which) ? forms[which] : jsonOf(listArguments(values.size()))["args"][0], values);
  }
  Json endsAs(const Json &form, const std::vector<Value> &values) const {
    if (isInputReference(form))
      return end(values[form["input"].get<size_t>()]);
    Json structure = form;
    for (Json &each : structure)
      each = endsAs(Json(each), values);
    return structure;
  }
  /// Like history(), but Keras counts the graph of an inner functional model as a call.
  Json end(const Value &value) const {
    Json entry = history(value);
    if (const std::shared_ptr<Call> &call = value.node()->call)
      if (call->layer && call->layer->className == "Functional")
        entry[1] = entry[1].get<int64_t>() + 1;
    return entry;
  }

  const Layer &model_;
  const ModelState &state_;
  std::vector<GraphMember> members_;
  std::vector<std::string> names_;
  std::set<std::string> used_;
  std::map<std::string, int64_t> numbers_;
  std::map<const Call *, std::pair<std::string, int64_t>> locations_;
};

Json functionalObject(const Layer &model) {
  Json object = objectOf("keras.src.models.functional", "Functional", GraphWriter(model).config());
  object["registered_name"] = "Functional";
  object["build_config"] = {{"input_shape", nullptr}};
  return object;
}

Json layerObject(const Layer &layer) {
  requireStack("the config of a model");
  const LayerImpl &impl = *layer.impl();
  if (impl.model && impl.transparent) {
    Json object = impl.model->isSequential ? sequentialObject(layer) : functionalObject(layer);
    object["compile_config"] = Json::object();
    return ConfigAccess::take(withMarkOfName(layer, ConfigAccess::make(std::move(object))));
  }
  try {
    Json object = jsonOf(layers::serialize(layer));
    if (Json build = buildConfigOf(impl); !build.is_null())
      object["build_config"] = std::move(build);
    return object;
  } catch (const Error &error) {
    rethrowWithLayer(error, impl);
  }
}

/// Rejects a model in which a layer occurs at two places, which a file would duplicate: in two nested or adjacent
/// models, or twice in a Sequential. A layer that one functional model calls several times occurs once.
class LayerPaths {
public:
  void visit(const Layer &model, const std::string &path) {
    requireStack("the config of a model");
    std::vector<Layer> members = model.layers();
    if (const ModelState &state = stateOf(model); state.isSequential)
      members = state.sequence;
    for (const Layer &member : members) {
      if (member.class_name() == "InputLayer")
        continue;
      if (const auto [found, isNew] = locations_.emplace(member.impl().get(), path); !isNew)
        refuse(member, found->second, path);
      if (member.impl()->model && member.impl()->transparent)
        visit(member, fmt::format("{}/{}", path, member.name()));
    }
  }

private:
  [[noreturn]] static void refuse(const Layer &layer, const std::string &first, const std::string &second) {
    const std::string where = first == second ? fmt::format("twice in the Sequential '{}'", first)
                                              : fmt::format("in '{}' and in '{}'", first, second);
    throw Error(ErrorKind::value_error,
                fmt::format("the layer '{}' occurs {}. A file would store it as two layers with separate weights, as "
                            "Keras's does: save only the weights, or call the layer in one functional model",
                            layer.name(), where),
                layer.path());
  }
  std::map<const LayerImpl *, std::string> locations_;
};

} // namespace

/// Rejects a config that load_model() would reject: a policy whose mode differs from that of the layer's weights.
static void requireModes(const Layer &model) {
  for (const Layer &layer : computingLayers(model))
    if (layer.built())
      layer.impl()->requireMode();
}

/// Rejects the model of a struct that call() and the shapes of its inputs do not recreate.
static void requireRecreation(const Model &model) {
  const LayerImpl &impl = *model.impl();
  const char *reason = nullptr;
  if (hasHooks(impl))
    reason = "has a training or test step that may have layers of its own";
  else if (model.built() && impl.inputSpecs.empty())
    reason = "has not been called";
  if (!impl.transparent && reason)
    throw Error(ErrorKind::value_error,
                fmt::format("no file can hold the model '{0}': the struct {1} {2}. Save only the weights, with "
                            "save_weights(), or wrap the struct: Sequential({{Input(...), Custom({1}(...))}})",
                            model.name(), model.class_name(), reason),
                model.name(), impl.where);
}

Config writeModel(const Model &model) {
  requireRecreation(model);
  requireModes(model);
  if (model.impl()->transparent)
    LayerPaths().visit(model, model.name());
  Json object = layerObject(model);
  if (const std::shared_ptr<CompiledModel> compiled = compiledIfAny(model))
    object["compile_config"] = jsonOf(writeCompileConfig(compiled->args, stateOf(model).outputs.size()));
  return ConfigAccess::make(std::move(object));
}

} // namespace halftone::detail
