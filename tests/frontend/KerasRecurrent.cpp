// Outputs, states and gradients of recurrent layers, compared with those of real Keras for recorded rows.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/RecordedCall.h"
#include "tests/frontend/KerasRows.h"

using namespace halftone;
using namespace halftone::test;

namespace {

/// The call of a row: the sequence, then the states, then the mask.
Values called(const Layer &layer, const Values &inputs, const Json &row) {
  const Json &call = row.at("call");
  const size_t states = call.at("states");
  Json keywords{{"training", call.at("training")}};
  for (size_t i = 1; i <= states; ++i)
    keywords["initial_state"].push_back({{"input", i}});
  if (call.at("mask"))
    keywords["mask"] = {{"input", states + 1}};
  const Json arguments{{"args", Json::array({{{"input", 0}}})}, {"kwargs", keywords}};
  return Values(
      detail::callAsRecorded(layer, std::vector<Value>(inputs.begin(), inputs.end()), Config::parse(arguments.dump())));
}

/// The error of at most twenty roundings.
constexpr double float32Tolerance = 1e-5;

int64_t checkLayer(const std::string &prefix) {
  return checkRows(
      "recurrent_layers.jsonl", [&](const std::string &name) { return name.starts_with(prefix); }, called,
      float32Tolerance);
}

} // namespace

TEST_CASE("SimpleRNN gives Keras's outputs, states and gradients for recorded rows") {
  CHECK(checkLayer("SimpleRNN") == 30);
}

TEST_CASE("LSTM gives Keras's outputs, states and gradients for recorded rows") { CHECK(checkLayer("LSTM") == 36); }

TEST_CASE("GRU gives Keras's outputs, states and gradients for recorded rows") { CHECK(checkLayer("GRU") == 39); }

TEST_CASE("RNN gives Keras's outputs, states and gradients for recorded rows of stacked and single cells") {
  CHECK(checkLayer("RNN") == 15);
}

TEST_CASE("Bidirectional gives Keras's outputs, states and gradients for recorded rows") {
  CHECK(checkLayer("Bidirectional") == 42);
}

TEST_CASE("TimeDistributed gives Keras's outputs and gradients for recorded rows") {
  CHECK(checkLayer("TimeDistributed") == 21);
}

TEST_CASE("ConvLSTM gives Keras's outputs, states and gradients for recorded rows") {
  CHECK(checkLayer("ConvLSTM") == 18);
}
