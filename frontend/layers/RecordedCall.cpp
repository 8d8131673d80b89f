// Parses the arguments of recorded calls.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/RecordedCall.h"
#include "frontend/layers/AttentionCall.h"
#include "frontend/layers/Recurrent.h"
#include "frontend/layers/Registered.h"
#include "frontend/layers/ReversibleEmbedding.h"
#include "runtime/base/ConfigAccess.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <span>

namespace halftone::detail {

using Json = nlohmann::ordered_json;

namespace {

/// Collects the leaves of nested lists and dicts in Keras's order: dicts by their sorted keys.
void collectLeaves(const Json &json, std::vector<const Json *> &leaves) {
  if (json.is_array())
    for (const Json &each : json)
      collectLeaves(each, leaves);
  else if (json.is_object() && !isInputReference(json)) {
    std::map<std::string_view, const Json *> sorted;
    for (const auto &[key, value] : json.items())
      sorted.emplace(key, &value);
    for (const auto &[key, value] : sorted)
      collectLeaves(*value, leaves);
  } else {
    leaves.push_back(&json);
  }
}
std::vector<const Json *> leavesOf(const Json &json) {
  std::vector<const Json *> leaves;
  collectLeaves(json, leaves);
  return leaves;
}

/// The arguments of one call, by name. at() is null for an absent or null argument.
class Arguments {
public:
  /// `names`: the parameters of Keras's call, in order.
  Arguments(const Layer &layer, const std::vector<Value> &inputs, const Config &arguments,
            std::span<const char *const> names)
      : layer_(layer), inputs_(inputs) {
    const Json &json = ConfigAccess::json(arguments);
    const Json args = json.value("args", Json::array()), keywords = json.value("kwargs", Json::object());
    if (!args.is_array() || !keywords.is_object())
      refuse(json);
    for (size_t i = 0; i < args.size(); ++i)
      add(nameAt(i, args[i], names), args[i], names);
    for (const auto &[name, value] : keywords.items())
      add(name, value, names);
  }

  const Json &at(const char *name) const {
    static const Json &null = *new Json;
    const auto found = given_.find(name);
    return found == given_.end() ? null : found->second;
  }
  /// Returns true if the call records null for the argument.
  bool isNull(const char *name) const {
    const auto found = given_.find(name);
    return found != given_.end() && found->second.is_null();
  }
  Value value(const char *name) const { return valueOf(at(name)); }
  Value valueOf(const Json &json) const { return json.is_null() ? Value() : inputs_[positionOf(json)]; }
  size_t positionOf(const Json &json) const {
    if (!isInputReference(json) || json["input"].get<int64_t>() < 0 || json["input"].get<size_t>() >= inputs_.size())
      refuse(json);
    return json["input"].get<size_t>();
  }
  /// The Values in a structure.
  std::vector<Value> values(const char *name) const {
    std::vector<Value> list;
    for (const Json *leaf : leavesOf(at(name)))
      list.push_back(inputs_[positionOf(*leaf)]);
    return list;
  }
  std::optional<bool> flag(const char *name) const {
    const Json &json = at(name);
    if (json.is_null())
      return std::nullopt;
    if (!json.is_boolean())
      refuse(json);
    return json.get<bool>();
  }
  [[noreturn]] void refuse(const Json &json) const {
    throw Error(ErrorKind::value_error,
                fmt::format("the call of layer '{}' has the argument {}, which it does not accept", layer_.name(),
                            json.dump()));
  }

private:
  /// The name of a positional argument. Some layers take a mask where others take `training`.
  std::string nameAt(size_t i, const Json &value, std::span<const char *const> names) const {
    if (i >= names.size())
      return fmt::format("{}", i);
    const bool isMask = isInputReference(value) && inputs_[positionOf(value)].dtype() == DType::bool_;
    return isMask && std::string_view(names[i]) == "training" ? "mask" : names[i];
  }
  void add(const std::string &name, const Json &value, std::span<const char *const> names) {
    const bool known = std::ranges::any_of(names, [&](std::string_view each) { return each == name; });
    if (!known && !value.is_null())
      throw Error(ErrorKind::not_implemented_error,
                  fmt::format("the call of layer '{}' has the argument `{}` = {}; a {} takes: {}", layer_.name(), name,
                              value.dump(), layer_.class_name(), fmt::join(names, ", ")));
    if (known)
      given_[name] = value;
  }

  const Layer &layer_;
  const std::vector<Value> &inputs_;
  std::map<std::string, Json, std::less<>> given_;
};

constexpr const char *plainNames[] = {"inputs", "training", "mask"};
constexpr const char *reversibleNames[] = {"inputs", "reverse", "training"};
constexpr const char *recurrentNames[] = {"sequences", "initial_state", "mask", "training"};
constexpr const char *cellNames[] = {"inputs", "states", "training"};
constexpr const char *maskedNames[] = {"inputs", "mask"};            // of Softmax, whose second Value is a mask
constexpr const char *weightedNames[] = {"inputs", "count_weights"}; // of CategoryEncoding
constexpr const char *separateNames[] = {"query",
                                         "value",
                                         "key",
                                         "query_mask",
                                         "value_mask",
                                         "key_mask",
                                         "attention_mask",
                                         "return_attention_scores",
                                         "training",
                                         "use_causal_mask"};
constexpr const char *listNames[] = {"inputs", "mask", "training", "return_attention_scores", "use_causal_mask"};

/// `training` of a call; nullopt, which leaves the choice to the run, for the argument's default, which Keras also
/// records.
std::optional<bool> trainingOf(const Layer &layer, const Arguments &arguments) {
  const std::optional<bool> given = arguments.flag("training");
  const std::string name = layer.class_name();
  const bool isOfImages = isLayerOfKeras(name) && isOfRandomImages(name);
  const bool hasNoDefault = name == "BatchNormalization" || dynamic_cast<const GraphCalled *>(layer.impl()->body.get());
  return !hasNoDefault && given == isOfImages ? std::nullopt : given;
}

std::vector<Value> callAttending(const Layer &layer, const Arguments &arguments, AttentionCall call) {
  call.causal = arguments.flag("use_causal_mask").value_or(false);
  call.scores = arguments.flag("return_attention_scores").value_or(false);
  return callAttention(layer, std::move(call), trainingOf(layer, arguments));
}

std::vector<Value> callWithSeparateValues(const Layer &layer, const Arguments &arguments) {
  AttentionCall call;
  call.query = arguments.value("query");
  call.value = arguments.value("value");
  call.key = arguments.value("key");
  call.queryMask = arguments.value("query_mask");
  call.valueMask = arguments.value("value_mask");
  call.keyMask = arguments.value("key_mask");
  call.attentionMask = arguments.value("attention_mask");
  constexpr std::array masks = {"query_mask", "value_mask", "key_mask"};
  for (size_t i = 0; i < masks.size(); ++i)
    if (arguments.isNull(masks[i]))
      call.carried[i] = RecordedMask::Kind::entered;
  return callAttending(layer, arguments, std::move(call));
}

std::vector<Value> callWithLists(const Layer &layer, const Arguments &arguments) {
  const std::vector<Value> inputs = arguments.values("inputs");
  if (inputs.size() < 2 || inputs.size() > 3)
    arguments.refuse(arguments.at("inputs"));
  AttentionCall call;
  call.query = inputs[0];
  call.value = inputs[1];
  if (inputs.size() == 3)
    call.key = inputs[2];
  if (const Json &masks = arguments.at("mask"); masks.is_array()) {
    if (masks.size() < 2)
      arguments.refuse(masks);
    call.queryMask = arguments.valueOf(masks[0]);
    call.valueMask = arguments.valueOf(masks[1]);
    for (size_t i = 0; i < call.carried.size(); ++i) // Keras uses a list unchanged
      if (i >= masks.size() || masks[i].is_null())
        call.carried[i] = RecordedMask::Kind::none;
  } else if (arguments.isNull("mask")) {
    call.carried.fill(RecordedMask::Kind::entered);
  }
  return callAttending(layer, arguments, std::move(call));
}

/// `arguments` with the indices of Values renumbered in the order `positions`.
Json renumbered(const Json &arguments, const std::vector<size_t> &positions) {
  if (isInputReference(arguments)) {
    const auto found = std::ranges::find(positions, arguments["input"].get<size_t>());
    return {{"input", found - positions.begin()}};
  }
  Json result = arguments;
  for (Json &each : result)
    if (each.is_structured())
      each = renumbered(Json(each), positions);
  return result;
}

/// The indices of the inputs of a call in the layer's order. `leaves`, of the argument `inputs`, are reordered
/// likewise.
std::vector<size_t> orderInputs(const Layer &layer, const Arguments &arguments, std::vector<const Json *> &leaves,
                                std::vector<const Json *> &masks) {
  const auto *graph = dynamic_cast<const GraphCalled *>(layer.impl()->body.get());
  const std::vector<std::string> names = graph ? graph->inputNames() : std::vector<std::string>();
  const Json &inputs = arguments.at("inputs");
  if (inputs.is_object() && !isInputReference(inputs) && !names.empty() &&
      std::ranges::all_of(inputs, isInputReference)) {
    const auto byName = [&](const Json &dict) {
      std::vector<const Json *> found;
      for (const std::string &name : names)
        if (dict.contains(name))
          found.push_back(&dict[name]);
      if (found.size() != names.size() || dict.size() != names.size())
        throw Error(ErrorKind::value_error,
                    fmt::format("the call of model '{}' has the dict {}; the model's inputs are {}", layer.name(),
                                dict.dump(), fmt::join(names, ", ")));
      return found;
    };
    leaves = byName(inputs);
    if (const Json &given = arguments.at("mask"); given.is_object() && !isInputReference(given))
      masks = byName(given);
  }
  std::vector<size_t> positions;
  for (const Json *leaf : leaves)
    positions.push_back(arguments.positionOf(*leaf));
  return positions;
}

/// Calls a layer with one Value or a structure of them, and with masks in the same structure.
std::vector<Value> callWithStructure(const Layer &layer, const Arguments &named, const std::vector<Value> &inputs,
                                     const Config &arguments) {
  using enum RecordedMask::Kind;
  std::vector<const Json *> leaves = leavesOf(named.at("inputs"));
  std::vector<const Json *> masks = leavesOf(named.at("mask"));
  std::vector<size_t> positions = orderInputs(layer, named, leaves, masks);
  const bool isGiven = !named.at("mask").is_null();
  if (isGiven && masks.size() != leaves.size())
    throw Error(ErrorKind::value_error, fmt::format("the call of layer '{}' has {} inputs and the mask {}",
                                                    layer.name(), leaves.size(), named.at("mask").dump()));
  RecordedMasks rules(leaves.size());
  for (size_t i = 0; i < rules.size(); ++i) {
    if (isGiven && !masks[i]->is_null()) {
      rules[i] = {.kind = given, .position = positions.size()};
      positions.push_back(named.positionOf(*masks[i]));
    } else if (isGiven || named.isNull("mask")) {
      rules[i].kind = entered;
    }
  }
  std::vector<Value> values;
  for (const size_t position : positions)
    values.push_back(inputs[position]);
  return layer.impl()->call(values, {.training = trainingOf(layer, named)}, {},
                            ConfigAccess::make(renumbered(ConfigAccess::json(arguments), positions)), rules);
}

} // namespace

bool isInputReference(const Json &json) {
  return json.is_object() && json.size() == 1 && json.contains("input") && json["input"].is_number_integer();
}

std::vector<Value> callAsRecorded(const Layer &layer, const std::vector<Value> &inputs, const Config &arguments) {
  if (const auto *attending = dynamic_cast<const AttendingBody *>(layer.impl()->body.get())) {
    const bool isSeparate = attending->takesSeparateValues();
    const Arguments named(layer, inputs, arguments,
                          isSeparate ? std::span<const char *const>(separateNames)
                                     : std::span<const char *const>(listNames));
    return isSeparate ? callWithSeparateValues(layer, named) : callWithLists(layer, named);
  }
  if (dynamic_cast<const ReversibleBody *>(layer.impl()->body.get())) {
    const Arguments named(layer, inputs, arguments, reversibleNames);
    const Value x = named.value("inputs");
    if (named.flag("reverse").value_or(false))
      return {callBack(layer, x, trainingOf(layer, named))};
    return layer.impl()->call({x}, {.training = trainingOf(layer, named)});
  }
  if (dynamic_cast<const RecurrentCalled *>(layer.impl()->body.get())) {
    const Arguments named(layer, inputs, arguments, recurrentNames);
    using enum RecordedMask::Kind;
    return callRecurrent(
        layer, named.value("sequences"),
        {.initial_state = named.at("initial_state").is_null() ? Values() : Values(named.values("initial_state")),
         .mask = named.value("mask"),
         .training = trainingOf(layer, named)},
        named.isNull("mask") ? entered : carried);
  }
  if (dynamic_cast<const CellBody *>(layer.impl()->body.get())) {
    const Arguments named(layer, inputs, arguments, cellNames);
    std::vector<Value> values = named.values("inputs");
    if (!named.at("states").is_null())
      std::ranges::copy(named.values("states"), std::back_inserter(values));
    return layer.impl()->call(values, {.training = trainingOf(layer, named)});
  }
  const std::string className = layer.class_name();
  const std::span<const char *const> names = className == "Softmax" ? std::span<const char *const>(maskedNames)
                                             : className == "CategoryEncoding"
                                                 ? std::span<const char *const>(weightedNames)
                                                 : std::span<const char *const>(plainNames);
  const Arguments named(layer, inputs, arguments, names);
  if (names.size() != 2 || named.at(names[1]).is_null())
    return callWithStructure(layer, named, inputs, arguments);
  std::vector<Value> values = named.values("inputs");
  values.push_back(named.value(names[1]));
  return layer.impl()->call(values, {}, {}, arguments);
}

} // namespace halftone::detail
