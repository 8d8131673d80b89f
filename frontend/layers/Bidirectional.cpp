// Bidirectional: a recurrent layer forward over a sequence, and a copy of it backward.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/Recurrent.h"
#include "frontend/layers/Wrapped.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

using Mode = std::optional<Choice<MergeMode>>;

RecurrentBody &bodyOf(const Layer &layer) { return dynamic_cast<RecurrentBody &>(*layer.impl()->body); }

class BothBody final : public LayerBody, public RecurrentCalled {
public:
  BothBody(Layer forward, Layer backward, const Mode &mode)
      : forward_(std::move(forward)), backward_(std::move(backward)), mode_(mode) {}
  const Layer &forward() const { return forward_; }
  const Layer &backward() const { return backward_; }

  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    buildPart(context, forward_, shapes.at(0));
    buildPart(context, backward_, shapes.at(0));
  }
  Values call(const Values &inputs, const CallContext &context) override { return run(inputs[0], {}, context); }
  Values run(const Value &x, const Values &initialState, const CallContext &context) override {
    const size_t half = initialState.size() / 2;
    if (initialState.size() != 2 * half)
      throw Error(
          ErrorKind::value_error,
          fmt::format("initial_state of a Bidirectional must have the states of both directions. Received: {} Values",
                      initialState.size()));
    const auto part = [&](size_t begin) {
      return Values(std::vector<Value>(initialState.begin() + begin, initialState.begin() + begin + half));
    };
    const std::vector<Value> first = callRecurrent(forward_, x, {.initial_state = part(0)});
    const std::vector<Value> second = callRecurrent(backward_, x, {.initial_state = part(half)});
    const Value y = asDtype(first[0], context.compute_dtype(), "layer output");
    Value reversed = asDtype(second[0], context.compute_dtype(), "layer output");
    if (bodyOf(backward_).options().sequences)
      reversed = ops::flip(reversed, 1);
    std::vector<Value> outputs = merged(y, reversed);
    outputs.insert(outputs.end(), first.begin() + 1, first.end());
    outputs.insert(outputs.end(), second.begin() + 1, second.end());
    return Values(outputs);
  }
  Value mask(const Values &, const std::vector<Value> &masks) override {
    return bodyOf(forward_).options().sequences && !masks.empty() ? masks.front() : Value();
  }
  size_t masked_outputs() const override { return mode_ ? 1 : 2; }
  size_t most_inputs() const override { return 1; }
  nlohmann::ordered_json stateForm(size_t first) const override {
    nlohmann::ordered_json form = bodyOf(forward_).stateForm(first);
    const size_t count = cellOf(bodyOf(forward_).cell()).state_sizes().size();
    for (nlohmann::ordered_json &each : bodyOf(backward_).stateForm(first + count))
      form.push_back(each);
    return form;
  }
  void resetState() override {
    bodyOf(forward_).resetState();
    bodyOf(backward_).resetState();
  }
  void get_config(Config &config) const override {
    if (mode_)
      config.set("merge_mode", mode_->word());
    else
      config.set_null("merge_mode");
    config.set("layer", serialize(forward_));
    config.set("backward_layer", serialize(backward_));
  }

private:
  std::vector<Value> merged(const Value &y, const Value &reversed) const {
    if (!mode_)
      return {y, reversed};
    switch (static_cast<MergeMode>(*mode_)) {
    case MergeMode::sum:
      return {y + reversed};
    case MergeMode::mul:
      return {y * reversed};
    case MergeMode::concat:
      return {ops::concatenate({y, reversed}, -1)};
    case MergeMode::ave:
      return {(y + reversed) / 2};
    }
    return {};
  }

  Layer forward_, backward_;
  Mode mode_;
};

BothBody &bothOf(const Layer &layer) { return dynamic_cast<BothBody &>(*layer.impl()->body); }

void requireRecurrent(const Layer &layer, Where where) {
  if (!dynamic_cast<const RecurrentBody *>(layer.impl()->body.get()))
    throw Error(
        ErrorKind::value_error,
        fmt::format("Bidirectional takes a recurrent layer, which has `go_backwards`. Received: '{}' of class {}",
                    layer.name(), layer.class_name()),
        {}, where);
}

/// A copy of the layer from its config, with a name that begins with `prefix`.
Layer copied(const Layer &layer, const std::string &prefix, bool backwards) {
  Config object = serialize(layer), config = object.get_object("config");
  const std::string name = layer.name();
  config.set("name", prefix + (name.starts_with(prefix) ? name.substr(prefix.size()) : name));
  if (backwards)
    config.set("go_backwards", true);
  object.set("config", config);
  const Layer copy = deserialize(object);
  copy.impl()->where = layer.impl()->where;
  return copy;
}

/// Keras's Bidirectional zeroes both outputs of a masked step if it returns all outputs.
Layer withZeroMasked(const Layer &layer) {
  RecurrentBody &body = bodyOf(layer);
  body.setZeroMasked(body.options().sequences);
  return layer;
}

std::unique_ptr<LayerBody> both(const Layer &layer, const BidirectionalArgs &args, Where where) {
  requireRecurrent(layer, where);
  if (args.backward_layer)
    requireRecurrent(*args.backward_layer, where);
  const Layer forward = copied(layer, "forward_", false);
  const Layer backward = args.backward_layer ? *args.backward_layer : copied(layer, "backward_", true);
  return std::make_unique<BothBody>(withZeroMasked(forward), withZeroMasked(backward), args.merge_mode);
}

const char *word(bool value) { return value ? "True" : "False"; }

/// value_error with Keras's message if the directions are incompatible.
void check(const Layer &layer, const RunOptions &forward, const RunOptions &backward, Where where) {
  if (forward.backwards == backward.backwards)
    throw Error(ErrorKind::value_error,
                fmt::format("Forward layer and backward layer should have different `go_backwards` value. Received: "
                            "forward_layer.go_backwards {}, backward_layer.go_backwards={}",
                            word(forward.backwards), word(backward.backwards)),
                layer.name(), where);
  const auto same = [&](const char *attribute, bool first, bool second) {
    if (first != second)
      throw Error(ErrorKind::value_error,
                  fmt::format("Forward layer and backward layer are expected to have the same value for attribute "
                              "\"{}\", got \"{}\" for forward layer and \"{}\" for backward layer",
                              attribute, word(first), word(second)),
                  layer.name(), where);
  };
  same("stateful", forward.stateful, backward.stateful);
  same("return_sequences", forward.sequences, backward.sequences);
  same("return_state", forward.state, backward.state);
}

} // namespace

Bidirectional::Bidirectional(const Layer &layer, const BidirectionalArgs &args, Where where)
    : Layer(both(layer, args, where), "Bidirectional", layerArgs(args), where) {
  check(*this, bodyOf(forward_layer()).options(), bodyOf(backward_layer()).options(), where);
}
Value Bidirectional::operator()(const Value &x, const RNNCallArgs &args) const {
  return onlyOutput(*this, outputs(x, args));
}
Tensor Bidirectional::operator()(const Tensor &x, const CallArgs &args) const { return Layer::operator()(x, args); }
Values Bidirectional::outputs(const Value &x, const RNNCallArgs &args) const {
  return Values(callRecurrent(*this, x, args));
}
Layer Bidirectional::forward_layer() const { return bothOf(*this).forward(); }
Layer Bidirectional::backward_layer() const { return bothOf(*this).backward(); }
void Bidirectional::reset_state() const { bothOf(*this).resetState(); }

} // namespace halftone::layers
