// RNN, SimpleRNN, LSTM and GRU: weights, states, masks, dropout, training, files, and arguments that are refused.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/RecordedJson.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;

namespace {

Tensor waves(const Shape &shape, double step = 0.7) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(step * static_cast<double>(i) + 0.3));
  return Tensor(values, shape);
}

std::vector<std::string> pathsOf(const std::vector<Variable> &variables) {
  std::vector<std::string> paths;
  for (const Variable &variable : variables)
    paths.push_back(variable.path());
  return paths;
}

} // namespace

TEST_CASE("The weights of a recurrent layer stand in its cell, and the seed of its dropout behind them") {
  const LSTM layer(4, {.name = "lstm"});
  (void)layer(Input({5, 3}));
  CHECK(pathsOf(layer.variables()) == std::vector<std::string>{"lstm/lstm_cell/kernel",
                                                               "lstm/lstm_cell/recurrent_kernel", "lstm/lstm_cell/bias",
                                                               "lstm/lstm_cell/seed_generator/seed_generator_state"});
  CHECK(layer.weights()[0].shape() == Shape{3, 16});
  CHECK(layer.weights()[1].shape() == Shape{4, 16});
  CHECK(numbers(layer.weights()[2]) == std::vector<double>{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  const GRU gru(2, {.name = "gru"});
  (void)gru(Input({5, 3}));
  CHECK(gru.weights()[2].shape() == Shape{2, 6});
  const GRU before(2, {.reset_after = false});
  (void)before(Input({5, 3}));
  CHECK(before.weights()[2].shape() == Shape{6});
}

TEST_CASE("A model with an LSTM learns to tell sequences apart") {
  set_random_seed(1);
  const Sequential model({Input({12, 2}), LSTM(8), Dense(1, {.activation = "sigmoid"})});
  std::vector<float> x, y;
  for (int64_t i = 0; i < 64; ++i) {
    for (int64_t step = 0; step < 12; ++step)
      for (const double phase : {0.0, 0.5})
        x.push_back(static_cast<float>(std::sin((i % 2 ? 0.4 : 0.9) * static_cast<double>(step) + phase)));
    y.push_back(static_cast<float>(i % 2));
  }
  model.compile({.optimizer = optimizers::Adam(0.02), .loss = "binary_crossentropy"});
  const Tensor inputs(x, {64, 12, 2}), targets(y, {64, 1});
  const History history = model.fit(inputs, targets, {.epochs = 20, .verbose = 0});
  CHECK(history["loss"].back() < 0.1 * history["loss"].front());
}

TEST_CASE("A stateful layer begins each call with the states with which the last one ended") {
  const LSTM whole(3, {.name = "whole"}), halves(3, {.stateful = true, .name = "halves"});
  const Tensor x = waves({2, 8, 2});
  const Tensor expected = whole(x);
  const auto half = [&](int64_t begin) {
    std::vector<float> values;
    const std::vector<float> all = x.to_vector<float>();
    for (int64_t row = 0; row < 2; ++row)
      for (int64_t i = 0; i < 8; ++i)
        values.push_back(all[static_cast<size_t>(row * 16 + begin * 2 + i)]);
    return Tensor(values, {2, 4, 2});
  };
  (void)halves(half(0)); // builds it
  halves.set_weights(whole.get_weights());
  for (int64_t round = 0; round < 2; ++round) {
    halves.reset_state();
    for (const Variable &state : halves.states())
      CHECK(numbers(state) == std::vector<double>(6, 0.0));
    (void)halves(half(0));
    CHECK(distance(numbers(halves(half(4))), numbers(expected)) < 1e-6);
  }
  CHECK(halves.states().size() == 2);
  CHECK(halves.states()[0].path() == "halves/rnn_state");
  CHECK(halves.variables().size() == 4);
}
