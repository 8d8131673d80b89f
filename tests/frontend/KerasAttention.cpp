// Attention layers, compared with those of real Keras for recorded configs, weights, inputs and call arguments.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/KerasRows.h"

using namespace halftone;
using namespace halftone::test;

namespace {

/// A handle of class `LayerClass` to a layer that deserialize() has made.
template <class LayerClass> struct HandleOn : LayerClass {
  template <class... Arguments>
  explicit HandleOn(const Layer &layer, Arguments... arguments) : LayerClass(arguments...) {
    this->impl_ = layer.impl();
  }
};

/// The input that Keras names `name`; undefined if the row has none.
Value inputOf(const Json &row, const Values &inputs, const std::string &name) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (row.at("input_names")[i] == name)
      return inputs[i];
  return {};
}

template <class LayerClass, class Args>
Values call(const LayerClass &layer, const Values &inputs, const Json &row, const Args &args) {
  const Value query = inputOf(row, inputs, "query"), value = inputOf(row, inputs, "value");
  if (!row.at("call").value("return_attention_scores", false))
    return layer(query, value, args);
  const auto [output, scores] = layer.with_scores(query, value, args);
  return {output, scores};
}

bool isCausal(const Json &row) { return row.at("call").value("use_causal_mask", false); }

/// MultiHeadAttention and GroupQueryAttention. Keras takes their query_mask from the query alone.
template <class LayerClass, class... Arguments> Row::Call withHeads(Arguments... arguments) {
  return [=](const Layer &layer, const Values &inputs, const Json &row) {
    return call(HandleOn<LayerClass>(layer, arguments...), inputs, row,
                layers::AttentionCallArgs{.key = inputOf(row, inputs, "key"),
                                          .value_mask = inputOf(row, inputs, "value_mask"),
                                          .attention_mask = inputOf(row, inputs, "attention_mask"),
                                          .use_causal_mask = isCausal(row)});
  };
}

template <class LayerClass> Row::Call scored() {
  return [](const Layer &layer, const Values &inputs, const Json &row) {
    return call(HandleOn<LayerClass>(layer), inputs, row,
                layers::ScoredAttentionCallArgs{.key = inputOf(row, inputs, "key"),
                                                .query_mask = inputOf(row, inputs, "query_mask"),
                                                .value_mask = inputOf(row, inputs, "value_mask"),
                                                .use_causal_mask = isCausal(row)});
  };
}

int64_t checkAll(const std::string &layer, const Row::Call &call) {
  return checkRows("layers.jsonl", [&](const std::string &name) { return name == layer; }, call);
}

} // namespace

TEST_CASE("MultiHeadAttention gives Keras's outputs, scores and gradients for recorded rows") {
  CHECK(checkAll("MultiHeadAttention", withHeads<layers::MultiHeadAttention>(1, 1)) == 21);
}

TEST_CASE("GroupQueryAttention gives Keras's outputs, scores and gradients for recorded rows") {
  CHECK(checkAll("GroupedQueryAttention", withHeads<layers::GroupQueryAttention>(1, 1, 1)) == 10);
}

TEST_CASE("Attention gives Keras's outputs, scores and gradients for recorded rows") {
  CHECK(checkAll("Attention", scored<layers::Attention>()) == 8);
}

TEST_CASE("AdditiveAttention gives Keras's outputs, scores and gradients for recorded rows") {
  CHECK(checkAll("AdditiveAttention", scored<layers::AdditiveAttention>()) == 4);
}
