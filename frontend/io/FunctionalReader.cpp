// Creates functional models: layers first, then calls in dependency order.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/PlacedError.h"
#include "frontend/graph/Graph.h"
#include "frontend/io/ModelReader.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/layers/RecordedCall.h"
#include "frontend/ops/Operations.h"
#include "frontend/training/ModelState.h"
#include "halftone/Model.h"
#include <map>
#include <optional>

namespace halftone::detail {

namespace {

using Json = ConfigNode::Json;

/// A reference to one output of one call: ["dense", 0, 0].
struct Reference {
  std::string layer;
  size_t call, output;
  std::string where;
};

Reference referenceOf(const ConfigNode &history) {
  const std::vector<ConfigNode> parts = history.elements();
  const auto isIndex = [](const ConfigNode &part) {
    return part.json.is_number_integer() && part.json.get<int64_t>() >= 0;
  };
  if (parts.size() < 3 || !isIndex(parts[1]) || !isIndex(parts[2]))
    history.fail("a layer's name, a call index and an output index");
  return {parts[0].text(), parts[1].json.get<size_t>(), parts[2].json.get<size_t>(), history.where};
}

/// A call recorded in a file: its arguments as a CallForm, and the Values that it takes.
struct CallRecord {
  std::vector<Reference> inputs;
  Json arguments;
};

/// Replaces each Value in `entry` by {"input": i} and appends its reference to `inputs`.
Json withoutValues(const ConfigNode &entry, std::vector<Reference> &inputs) {
  if (entry.json.is_array()) {
    Json list = Json::array();
    for (const ConfigNode &each : entry.elements())
      list.push_back(withoutValues(each, inputs));
    return list;
  }
  if (!entry.json.is_object())
    return entry.json;
  const ConfigNode kind = entry.at("class_name");
  if (kind.json == "__keras_tensor__") {
    inputs.push_back(referenceOf(entry.at("config").at("keras_history")));
    return {{"input", inputs.size() - 1}};
  }
  Json object = Json::object();
  for (const auto &[key, value] : entry.members())
    ConfigAccess::append(object, key, withoutValues(value, inputs));
  return object;
}

/// Parses {"args", "kwargs"}, or the older format: a list of ["dense", 0, 0, {keywords}].
CallRecord recordOf(const ConfigNode &node) {
  CallRecord record;
  Json arguments;
  if (node.json.is_object()) {
    arguments["args"] = withoutValues(node.at("args"), record.inputs);
    arguments["kwargs"] = withoutValues(node.at("kwargs"), record.inputs);
  } else {
    Json list = Json::array(), keywords = Json::object();
    for (const ConfigNode &input : node.elements()) {
      list.push_back({{"input", record.inputs.size()}});
      record.inputs.push_back(referenceOf(input));
      if (input.json.size() > 3 && !input.json[3].is_null())
        keywords = input.elements()[3].object().json;
    }
    arguments["args"] = Json::array({list.size() == 1 ? list[0] : list});
    arguments["kwargs"] = keywords;
  }
  record.arguments = std::move(arguments);
  return record;
}

/// A layer or an operation of the model, with its calls.
struct Member {
  ConfigNode entry;
  std::optional<Layer> layer; // empty for an operation
  std::vector<CallRecord> calls;
  std::vector<std::vector<Value>> results; // of the calls made so far
  bool isOpen = false;                     // whether the next call is waiting for its inputs
  bool isInput = false;
};

Config configOf(const ConfigNode &member) {
  const ConfigNode config = member.at("config");
  return config.isNull() ? Config() : ConfigAccess::make(config.object().json);
}

class GraphReader {
public:
  explicit GraphReader(const ConfigNode &config) {
    for (const ConfigNode &each : config.at("layers").elements())
      add(each);
    for (size_t i = 0; i < members_.size(); ++i)
      while (members_[i].results.size() < members_[i].calls.size())
        makeCall(i);
  }

  /// Appends the Values named by input_layers or output_layers to `all` and returns their structure. The JSON is ["x",
  /// 0, 0], or a list or an object of such lists.
  Json collect(const ConfigNode &entry, std::vector<Value> &all) {
    if (entry.json.is_array() && !entry.json.empty() && entry.json[0].is_string()) {
      Reference reference = referenceOf(entry);
      if (const size_t member = memberNamed(reference);
          members_[member].layer && members_[member].layer->class_name() == "Functional")
        reference.call -= reference.call > 0; // Keras counts the model's own graph as a call
      all.push_back(found(reference));
      return {{"input", all.size() - 1}};
    }
    if (entry.json.is_object()) { // Keras sorts the names
      std::map<std::string, ConfigNode> sorted;
      for (const auto &[key, value] : entry.members())
        sorted.emplace(key, value);
      Json object = Json::object();
      for (const auto &[key, each] : sorted)
        ConfigAccess::append(object, key, collect(each, all));
      return object;
    }
    Json list = Json::array();
    for (const ConfigNode &each : entry.elements())
      list.push_back(collect(each, all));
    return list;
  }

private:
  void add(const ConfigNode &entry) {
    const ConfigNode outer = entry.at("name");
    const std::string name = outer.isNull() ? entry.at("config").at("name").text() : outer.text();
    if (!indices_.emplace(name, members_.size()).second)
      entry.refuse(ErrorKind::value_error, fmt::format("the name \"{}\" is used twice in the model", name));
    const ConfigNode module = entry.at("module");
    const bool isOperation = !module.isNull() && isOperationModule(module.text());
    Member member{.entry = entry, .layer = std::nullopt, .calls = {}, .results = {}};
    if (!isOperation)
      member.layer = readLayer(entry);
    else if (const ConfigNode config = entry.at("config"); !config.isNull() && !config.at("name").isNull())
      (void)config.at("name").text();
    member.isInput = entry.at("class_name").text() == "InputLayer";
    if (member.isInput) {
      const ValueSpec spec = member.layer->impl()->outputSpecs.at(0);
      member.results.push_back({symbolicInput(spec.shape, spec.dtype, member.layer->name())});
    } else {
      for (const ConfigNode &node : entry.at("inbound_nodes").elements())
        member.calls.push_back(recordOf(node));
    }
    members_.push_back(std::move(member));
  }

  size_t memberNamed(const Reference &reference) const {
    const auto found = indices_.find(reference.layer);
    if (found == indices_.end())
      throw Error(ErrorKind::value_error,
                  fmt::format("{}: the model has no layer '{}'", reference.where, reference.layer));
    return found->second;
  }
  const Value &found(const Reference &reference) const {
    const Member &member = members_[memberNamed(reference)];
    if (reference.call >= member.results.size() || reference.output >= member.results[reference.call].size())
      throw Error(ErrorKind::value_error, fmt::format("{}: layer '{}' has no output {} of a call {}", reference.where,
                                                      reference.layer, reference.output, reference.call));
    return member.results[reference.call][reference.output];
  }

  /// Makes the next call of a member, after the calls on which it depends. Uses an explicit stack, since graphs may be
  /// thousands of layers deep.
  void makeCall(size_t first) {
    struct Waiting {
      size_t member, nextInput = 0;
    };
    std::vector<Waiting> stack{{first}};
    members_[first].isOpen = true;
    while (!stack.empty()) {
      Waiting &top = stack.back();
      Member &member = members_[top.member];
      const std::vector<Reference> &inputs = member.calls[member.results.size()].inputs;
      if (top.nextInput == inputs.size()) {
        perform(member);
        member.isOpen = false;
        stack.pop_back();
        continue;
      }
      const Reference &reference = inputs[top.nextInput];
      const size_t needed = memberNamed(reference);
      if (members_[needed].results.size() > reference.call) {
        ++top.nextInput;
        continue;
      }
      if (members_[needed].isOpen || members_[needed].calls.size() <= reference.call)
        throw Error(ErrorKind::value_error,
                    fmt::format("{}: {}", reference.where,
                                members_[needed].isOpen
                                    ? fmt::format("the calls form a cycle through '{}'", reference.layer)
                                    : fmt::format("layer '{}' has no call {}", reference.layer, reference.call)));
      members_[needed].isOpen = true;
      stack.push_back({needed});
    }
  }

  void perform(Member &member) {
    const CallRecord &call = member.calls[member.results.size()];
    std::vector<Value> inputs;
    for (const Reference &reference : call.inputs)
      inputs.push_back(found(reference));
    try {
      const Config arguments = ConfigAccess::make(call.arguments);
      member.results.push_back(member.layer ? callAsRecorded(*member.layer, inputs, arguments)
                                            : callOperation(member.entry.at("class_name").text(), inputs, arguments,
                                                            configOf(member.entry)));
    } catch (const Error &error) {
      rethrowAt(member.entry.where, error);
    }
  }

  std::vector<Member> members_;
  std::map<std::string, size_t> indices_;
};

} // namespace

Layer readFunctional(const ConfigNode &entry) {
  const ConfigNode config = entry.at("config");
  const LayerArgs args = readModelArgs(config);
  GraphReader reader(config);
  std::vector<Value> inputs, outputs;
  Json forms;
  forms["inputs"] = reader.collect(config.at("input_layers"), inputs);
  forms["outputs"] = reader.collect(config.at("output_layers"), outputs);
  Model model(Values(std::move(inputs)), Values(std::move(outputs)), {.name = args.name, .trainable = args.trainable});
  if (const Json &byName = forms["outputs"];
      byName.is_object() && !isInputReference(byName) && byName.size() == stateOf(model).outputs.size()) {
    stateOf(model).outputNames.clear();
    for (const auto &[key, value] : byName.items())
      stateOf(model).outputNames.push_back(key);
  }
  stateOf(model).endForms = ConfigAccess::make(std::move(forms));
  return model;
}

} // namespace halftone::detail
