// Reads the arguments of recorded calls.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/RecordedCall.h"
#include "frontend/layers/AttentionCall.h"
#include "frontend/layers/ReversibleEmbedding.h"
#include "runtime/base/ConfigAccess.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <span>

namespace halftone::detail {

namespace {

using Json = nlohmann::ordered_json;

/// The arguments of one call, by name. null stands for one that is not given.
class Arguments {
public:
  /// `names`: of Keras's call, in its order.
  Arguments(const Layer &layer, const std::vector<Value> &inputs, const Config &arguments,
            std::span<const char *const> names)
      : layer_(layer), inputs_(inputs) {
    const Json &json = ConfigAccess::json(arguments);
    const Json args = json.value("args", Json::array()), keywords = json.value("kwargs", Json::object());
    if (!args.is_array() || !keywords.is_object())
      refuse(json);
    for (size_t i = 0; i < args.size(); ++i)
      add(i < names.size() ? names[i] : fmt::format("{}", i), args[i], names);
    for (const auto &[name, value] : keywords.items())
      add(name, value, names);
  }

  const Json &at(const char *name) const {
    static const Json null;
    const auto found = given_.find(name);
    return found == given_.end() ? null : found->second;
  }
  Value value(const char *name) const { return valueOf(at(name)); }
  Value valueOf(const Json &json) const {
    if (json.is_null())
      return {};
    const auto place = json.is_object() ? json.find("input") : json.end();
    if (place == json.end() || !place->is_number_unsigned() || place->get<size_t>() >= inputs_.size())
      refuse(json);
    return inputs_[place->get<size_t>()];
  }
  /// A Value, or a list of Values.
  std::vector<Value> values(const char *name) const {
    const Json &json = at(name);
    if (!json.is_array())
      return {value(name)};
    std::vector<Value> list;
    for (const Json &each : json)
      list.push_back(valueOf(each));
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
    throw Error(ErrorKind::value_error, fmt::format("the call of layer '{}' has the argument {}, which it cannot take",
                                                    layer_.name(), json.dump()));
  }

private:
  void add(const std::string &name, const Json &value, std::span<const char *const> names) {
    const bool known = std::ranges::any_of(names, [&](std::string_view each) { return each == name; });
    if (!known && !value.is_null())
      throw Error(ErrorKind::not_implemented_error,
                  fmt::format("the call of layer '{}' has the argument `{}` = {}; a {} takes: {}", layer_.name(), name,
                              value.dump(), layer_.class_name(), fmt::join(names, ", ")));
    if (!value.is_null())
      given_[name] = value;
  }

  const Layer &layer_;
  const std::vector<Value> &inputs_;
  std::map<std::string, Json, std::less<>> given_;
};

constexpr const char *plainNames[] = {"inputs", "training", "mask"};
constexpr const char *reversibleNames[] = {"inputs", "reverse", "training"};
constexpr const char *maskedNames[] = {"inputs", "mask"}; // of Softmax, whose second Value is a mask
constexpr const char *apartNames[] = {"query",
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

std::vector<Value> callAttending(const Layer &layer, const Arguments &arguments, AttentionCall call) {
  call.causal = arguments.flag("use_causal_mask").value_or(false);
  call.scores = arguments.flag("return_attention_scores").value_or(false);
  return callAttention(layer, std::move(call), arguments.flag("training"));
}

std::vector<Value> callApart(const Layer &layer, const Arguments &arguments) {
  AttentionCall call;
  call.query = arguments.value("query");
  call.value = arguments.value("value");
  call.key = arguments.value("key");
  call.queryMask = arguments.value("query_mask");
  call.valueMask = arguments.value("value_mask");
  call.keyMask = arguments.value("key_mask");
  call.attentionMask = arguments.value("attention_mask");
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
  }
  return callAttending(layer, arguments, std::move(call));
}

/// Calls a layer whose first input has the mask `mask`, which Keras records as an argument. The layer is built and noted
/// as a layer of its inputs alone.
std::vector<Value> callUnderMask(const Layer &layer, std::vector<Value> inputs, const Value &mask, const CallArgs &args,
                                 const Config &arguments) {
  LayerImpl &impl = *layer.impl();
  const size_t count = inputs.size();
  impl.buildFor(inputs);
  inputs.push_back(mask);
  const auto how = [count](LayerBody &body, const Values &given, const CallContext &context) {
    std::vector<Value> own(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(count));
    own.front().node()->mask = given[count];
    return body.call(Values(own), context);
  };
  std::vector<Value> outputs = impl.call(inputs, args, how, arguments);
  impl.inputSpecs.resize(std::min(impl.inputSpecs.size(), count));
  return outputs;
}

} // namespace

std::vector<Value> callAsRecorded(const Layer &layer, const std::vector<Value> &inputs, const Config &arguments) {
  if (const auto *attending = dynamic_cast<const AttendingBody *>(layer.impl()->body.get())) {
    const bool apart = attending->takesValuesApart();
    const Arguments named(layer, inputs, arguments,
                          apart ? std::span<const char *const>(apartNames) : std::span<const char *const>(listNames));
    return apart ? callApart(layer, named) : callWithLists(layer, named);
  }
  if (dynamic_cast<const ReversibleBody *>(layer.impl()->body.get())) {
    const Arguments named(layer, inputs, arguments, reversibleNames);
    const Value x = named.value("inputs");
    if (named.flag("reverse").value_or(false))
      return {callBack(layer, x, named.flag("training"))};
    return layer.impl()->call({x}, {.training = named.flag("training")});
  }
  const bool masked = layer.class_name() == "Softmax";
  const Arguments named(layer, inputs, arguments,
                        masked ? std::span<const char *const>(maskedNames) : std::span<const char *const>(plainNames));
  std::vector<Value> values = named.values("inputs");
  const Value mask = named.value("mask");
  if (mask.defined() && !masked)
    return callUnderMask(layer, values, mask, {.training = named.flag("training")}, arguments);
  if (mask.defined())
    values.push_back(mask);
  return layer.impl()->call(values, {.training = named.flag("training")}, {},
                            masked ? std::optional(arguments) : std::nullopt);
}

} // namespace halftone::detail
