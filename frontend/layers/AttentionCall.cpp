// Calls of attention layers.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/AttentionCall.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/RecordedCall.h"
#include "frontend/ops/Masks.h"
#include "frontend/ops/Operations.h"
#include "runtime/base/ConfigAccess.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

namespace {

[[noreturn]] void refuseCount(const char *layer, size_t count) {
  throw Error(
      ErrorKind::value_error,
      fmt::format("{} layer accepts inputs list of length 2 or 3, namely [query, value] or [query, value, key]. "
                  "Received length: {}.",
                  layer, count));
}

/// The optional members of a call.
using Masks = std::array<Value AttentionCall::*, 4>;
constexpr Masks masks = {&AttentionCall::queryMask, &AttentionCall::valueMask, &AttentionCall::keyMask,
                         &AttentionCall::attentionMask};

constexpr std::array maskNames = {"query_mask", "value_mask", "key_mask", "attention_mask"};

} // namespace

AttentionCall attentionCall(const char *layer, const Values &inputs) {
  if (inputs.size() < 2 || inputs.size() > 3)
    refuseCount(layer, inputs.size());
  AttentionCall call;
  call.query = inputs[0];
  call.value = inputs[1];
  call.key = inputs.size() == 3 ? inputs[2] : inputs[1];
  return call;
}

std::vector<Shape> shapesOfAttention(const char *layer, const std::vector<Shape> &shapes) {
  if (shapes.size() < 2)
    refuseCount(layer, shapes.size());
  std::vector<Shape> three{shapes[0], shapes[1], shapes.size() > 2 ? shapes[2] : shapes[1]};
  for (const Shape &shape : three)
    if (shape.rank() < 3)
      throw Error(
          ErrorKind::value_error,
          fmt::format("{} layer needs inputs of shape (batch, ..., features) with at least 3 axes. Received: {}", layer,
                      shape.str()));
  const std::vector<int64_t> value = three[1].dims(), key = three[2].dims();
  if (value.size() != key.size() || !std::equal(value.begin() + 1, value.end() - 1, key.begin() + 1))
    throw Error(ErrorKind::value_error,
                fmt::format("All dimensions of `value` and `key`, except the last one, must be equal. Received: "
                            "value_shape={} and key_shape={}",
                            three[1].str(), three[2].str()));
  return three;
}

namespace {

using Json = nlohmann::ordered_json;

/// The arguments of the call in Keras. `given`: references to query, value and key, and to the defined masks.
Config argumentsOf(const AttentionCall &call, bool isSeparate,
                   const std::vector<std::pair<const char *, Json>> &given) {
  Json args = Json::array(), keywords = Json::object();
  Json queryMask, valueMask;
  for (const auto &[name, reference] : given) {
    const std::string_view word = name;
    if (word == "query" || word == "value" || (word == "key" && !isSeparate))
      args.push_back(reference);
    else if (isSeparate)
      keywords[name] = reference;
    else
      (word == "query_mask" ? queryMask : valueMask) = reference;
  }
  using Kind = RecordedMask::Kind;
  if (!isSeparate) {
    args = Json::array({args});
    if (!queryMask.is_null() || !valueMask.is_null() || std::ranges::count(call.carried, Kind::none))
      keywords["mask"] = Json::array({queryMask, valueMask});
    else if (call.carried[0] == Kind::entered)
      keywords["mask"] = nullptr;
  }
  for (size_t i = 0; i < call.carried.size(); ++i)
    if (isSeparate && call.carried[i] == Kind::entered)
      keywords[maskNames[i]] = nullptr;
  if (call.scores)
    keywords["return_attention_scores"] = true;
  if (call.causal)
    keywords["use_causal_mask"] = true;
  Json arguments;
  arguments["args"] = args;
  arguments["kwargs"] = keywords;
  return ConfigAccess::make(std::move(arguments));
}

} // namespace

std::vector<Value> callAttention(const Layer &layer, AttentionCall call, std::optional<bool> training) {
  const bool ownKey = call.key.defined();
  if (!ownKey)
    call.key = call.value;
  std::vector<Value> inputs{call.query, call.value, call.key};
  std::vector<std::pair<const char *, Json>> given{{"query", {{"input", 0}}}, {"value", {{"input", 1}}}};
  if (ownKey)
    given.push_back({"key", {{"input", 2}}});
  for (size_t i = 0; i < masks.size(); ++i)
    if (const Value &mask = call.*masks[i]; mask.defined()) {
      given.push_back({maskNames[i], {{"input", inputs.size()}}});
      inputs.push_back(mask);
    }
  const auto how = [call](LayerBody &body, const Values &now, const CallContext &context) {
    AttentionCall traced = call;
    traced.query = now[0];
    traced.value = now[1];
    traced.key = now[2];
    size_t next = 3;
    for (Value AttentionCall::*mask : masks)
      if ((call.*mask).defined())
        traced.*mask = now[next++];
    return dynamic_cast<AttendingBody &>(body).attend(traced, context);
  };
  const bool isSeparate = dynamic_cast<const AttendingBody &>(*layer.impl()->body).takesSeparateValues();
  RecordedMasks rules;
  for (const RecordedMask::Kind kind : call.carried)
    rules.push_back({.kind = kind});
  return layer.impl()->call(inputs, {.training = training}, how, argumentsOf(call, isSeparate, given), rules);
}

std::optional<std::vector<Value>> callAttentionOnList(const std::shared_ptr<LayerImpl> &layer,
                                                      const std::vector<Value> &inputs, std::optional<bool> training) {
  const auto *attending = dynamic_cast<const AttendingBody *>(layer->body.get());
  if (!attending || !attending->takesSeparateValues() || inputs.size() < 2 || inputs.size() > 3)
    return std::nullopt;
  const Value key = inputs.size() == 3 ? inputs[2] : Value();
  return callAttention(Layer(layer), {.query = inputs[0], .value = inputs[1], .key = key}, training);
}

std::array<Value, 2> callWithScores(const Layer &layer, AttentionCall call, std::optional<bool> training) {
  call.scores = true;
  const std::vector<Value> both = callAttention(layer, std::move(call), training);
  return {both[0], both[1]};
}

namespace {

/// Returns true if inserting a head axis before the last two axes of each mask changes only its rank.
bool takesHeads(const AttentionCall &call, const PositionCounts &positions) {
  const auto isOf = [](const Value &mask, int64_t extent) {
    return !mask.defined() || (mask.rank() == 2 && mask.shape()[1] == extent);
  };
  const auto isOrOne = [](int64_t extent, int64_t whole) { return extent == whole || extent == 1; };
  const Value &own = call.attentionMask;
  return isOf(call.valueMask, positions.keys) && isOf(call.keyMask, positions.keys) &&
         isOf(call.queryMask, positions.queries) &&
         (!own.defined() ||
          (own.rank() == 3 && isOrOne(own.shape()[1], positions.queries) && isOrOne(own.shape()[2], positions.keys)));
}

} // namespace

Value seenKeys(const AttentionCall &call, const PositionCounts &positions, const SeenArgs &args) {
  const bool heads = args.heads && takesHeads(call, positions);
  Value seen;
  const auto add = [&](const Value &mask) {
    seen = bothMasks(seen, heads && mask.rank() == 3 ? ops::expand_dims(mask, 1) : mask);
  };
  if (call.valueMask.defined())
    add(ops::expand_dims(asMask(call.valueMask), -2));
  if (call.keyMask.defined() && call.keyMask.node() != call.valueMask.node())
    add(ops::expand_dims(asMask(call.keyMask), -2));
  if (args.causal || args.window) {
    const Shape shape =
        heads ? Shape{1, 1, positions.queries, positions.keys} : Shape{1, positions.queries, positions.keys};
    Value query = tracing().iota(shape.rank() - 2, shape, DType::int32);
    const Value key = tracing().iota(shape.rank() - 1, shape, DType::int32);
    if (positions.first.defined())
      query = query + positions.first;
    if (args.causal)
      add(ops::greater_equal(query, key));
    if (args.window)
      add(ops::less(ops::abs(query - key), *args.window));
  }
  if (call.attentionMask.defined())
    add(asMask(call.attentionMask));
  if (args.queries && call.queryMask.defined())
    add(ops::expand_dims(asMask(call.queryMask), -1));
  return seen;
}

void requireDropout(const Layer &layer, double dropout, Where where) {
  if (!(dropout >= 0.0 && dropout <= 1.0))
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid value received for argument `dropout`. Expected a float value between 0 and 1. "
                            "Received: dropout={}",
                            dropout),
                layer.name(), where);
}

} // namespace halftone::detail
