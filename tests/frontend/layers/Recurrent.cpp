// RNN, SimpleRNN, LSTM and GRU: weights, states, masks, dropout, training, files, and rejected arguments.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/RecordedJson.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

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

/// A user-defined cell: a SimpleRNNCell without activation, which counts its steps in a second state.
struct CountingCell {
  int64_t units = 0;
  Variable kernel{}, recurrent{};
  void build(BuildContext &context, const Shape &input) {
    kernel = context.add_weight({.shape = {input[-1], units}, .name = "kernel"});
    recurrent = context.add_weight({.shape = {units, units}, .name = "recurrent_kernel"});
  }
  std::vector<Shape> state_size() const { return {{units}, {1}}; }
  Values call(const Value &x, const Values &states) const {
    const Value h = ops::matmul(x, kernel) + ops::matmul(states[0], recurrent);
    return {h, h, states[1] + 1};
  }
  void get_config(Config &config) const { config.set("units", units); }
  static CountingCell from_config(const Config &config) { return {.units = config.get_int("units")}; }
};
struct NarrowCell { // one state, given by a number; the output has another width
  int64_t state_size = 2;
  int64_t output_size = 3;
  Values call(const Value &x, const Values &states) const {
    return {ops::concatenate({states[0], ops::sum(x, -1, true)}), states[0] + 1};
  }
};

/// A SimpleRNN that passes its inputs through, so that its outputs show the dropout mask.
SimpleRNN passing(const SimpleRNNArgs &args) {
  SimpleRNNArgs all = args;
  all.activation = "linear";
  all.kernel_initializer = initializers::Identity();
  all.recurrent_initializer = "zeros";
  all.return_sequences = true;
  return SimpleRNN(4, all);
}

Sequential everyRecurrent() {
  return Sequential({Input({4, 3}), Masking(), Bidirectional(LSTM(2, {.dropout = 0.25, .return_sequences = true})),
                     RNN({LSTMCell(2), GRUCell(3), SimpleRNNCell(2)}, {.return_sequences = true}),
                     TimeDistributed(Sequential({Input({2}), Dense(4), Reshape({2, 2})})),
                     ConvLSTM1D(2, 2, {.padding = "same", .return_sequences = true}), TimeDistributed(Flatten()),
                     GRU(3, {.recurrent_dropout = 0.5, .return_sequences = true}),
                     RNN(Custom(CountingCell{.units = 2})), Dense(1)},
                    {.name = "net"});
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
  const std::string policy = GENERATE("float32", "mixed_float16", "mixed_bfloat16", "bfloat16");
  const PolicyScope scope(policy);
  const double tolerance = policy == "float32" ? 1e-6 : 1e-2;
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
    CHECK(distance(numbers(halves(half(4))), numbers(expected)) < tolerance);
  }
  CHECK(halves.states().size() == 2);
  CHECK(halves.states()[0].dtype() == (policy == "bfloat16" ? bfloat16 : float32));
  CHECK(halves.states()[0].path() == "halves/rnn_state");
  CHECK(halves.variables().size() == 4);
}

TEST_CASE("Dropout of a recurrent layer has one mask for all steps of a call, and another one in the next call") {
  set_random_seed(3);
  const SimpleRNN layer = passing({.dropout = 0.5});
  const Tensor ones = Tensor::ones({8, 5, 4});
  const std::vector<double> first = numbers(layer(ones, {.training = true}));
  size_t kept = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    CHECK((first[i] == 0.0 || first[i] == 2.0));
    CHECK(first[i] == first[i / 20 * 20 + i % 4]);
    kept += first[i] != 0.0;
  }
  CHECK(kept > 0);
  CHECK(kept < first.size());
  CHECK(numbers(layer(ones, {.training = true})) != first);
  CHECK(numbers(layer(ones)) == std::vector<double>(160, 1.0));
}

TEST_CASE("A dropout rate of 1 drops all in a SimpleRNN, and nothing in an LSTM, as in Keras") {
  const Tensor ones = Tensor::ones({2, 3, 4});
  CHECK(numbers(passing({.dropout = 7.0})(ones, {.training = true})) == std::vector<double>(24, 0.0));
  const LSTM layer(2, {.dropout = 1.0});
  CHECK(numbers(layer(ones, {.training = true})) == numbers(layer(ones)));
}

TEST_CASE("A mask lets a sequence end early: the output is that of its last step that counts") {
  const LSTM layer(3);
  const Tensor x = waves({1, 6, 2}), mask({true, true, true, true, false, false}, {1, 6});
  const std::vector<float> elements = x.to_vector<float>();
  const Tensor begin(std::vector<float>(elements.begin(), elements.begin() + 8), {1, 4, 2});
  const Tensor expected = layer(begin);
  const Tensor masked = runOnce(Run::compiled, {x, mask}, [&](const std::vector<Value> &v) {
    return std::vector<Value>{layer(v[0], {.mask = v[1]})};
  })[0];
  CHECK(distance(numbers(masked), numbers(expected)) < 1e-6);
}

TEST_CASE("A struct with call(x, states) and state_size is a cell") {
  const RNN layer(Custom(CountingCell{.units = 3}), {.return_state = true, .name = "rnn"});
  const SimpleRNN same(3, {.activation = "linear", .use_bias = false});
  const Tensor x = waves({2, 5, 4});
  (void)same(x);
  const auto results = runOnce(Run::compiled, {x}, [&](const std::vector<Value> &v) {
    const Values all = layer.outputs(v[0]);
    return std::vector<Value>(all.begin(), all.end());
  });
  same.set_weights(layer.get_weights());
  CHECK(distance(numbers(results[0]), numbers(same(x))) < 1e-6);
  CHECK(numbers(results[2]) == std::vector<double>{5, 5});
  CHECK(pathsOf(layer.weights()) ==
        std::vector<std::string>{"rnn/counting_cell/kernel", "rnn/counting_cell/recurrent_kernel"});
  const Tensor wide = RNN(Custom(NarrowCell{}))(x);
  CHECK(wide.shape() == Shape{2, 3});
  CHECK(numbers(wide)[0] == 4.0);
}

TEST_CASE("Activations, regularizers, constraints and biases of a recurrent layer are those of its arguments") {
  set_random_seed(4);
  const LSTM layer(2, {.recurrent_activation = "hard_sigmoid",
                       .unit_forget_bias = false,
                       .recurrent_regularizer = regularizers::L2(0.5),
                       .recurrent_constraint = constraints::MaxNorm(0.25),
                       .return_sequences = true,
                       .zero_output_for_mask = true});
  const Sequential model({Input({3, 4}), Masking(), layer});
  CHECK(numbers(layer.get_weights()[2]) == std::vector<double>(8, 0.0));
  double squares = 0;
  for (const double weight : numbers(layer.get_weights()[1]))
    squares += weight * weight;
  Tensor x = waves({1, 3, 4});
  std::vector<float> values = x.to_vector<float>();
  std::fill(values.begin() + 4, values.begin() + 8, 0.0f); // step 1 is masked
  x = Tensor(values, {1, 3, 4});
  const std::vector<double> y = numbers(model.predict(x, {.verbose = 0}));
  CHECK((y[2] == 0.0 && y[3] == 0.0));
  CHECK((y[0] != 0.0 && y[4] != 0.0));
  model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse"});
  const Tensor target(std::vector<float>(y.begin(), y.end()), {1, 3, 2});
  CHECK(model.train_on_batch(x, target)["loss"] == Approx(0.5 * squares).epsilon(1e-4));
  const std::vector<double> recurrent = numbers(layer.get_weights()[1]); // (2, 8): MaxNorm limits its columns
  for (size_t column = 0; column < 8; ++column)
    CHECK(std::hypot(recurrent[column], recurrent[8 + column]) < 0.2501);
  CHECK_THAT(model.to_json(), Contains(R"("recurrent_activation":"hard_sigmoid")"));
}

// policies 11.12
TEST_CASE("A policy map reaches the cell of a layer by its path") {
  const DTypePolicyMap map("float32", {{"lstm/lstm_cell", "mixed_float16"}});
  const LSTM layer(2, {.return_state = true, .dtype = map, .name = "lstm"});
  const auto results = runOnce(Run::compiled, {waves({2, 3, 4})}, [&](const std::vector<Value> &v) {
    const Values all = layer.outputs(v[0]);
    return std::vector<Value>(all.begin(), all.end());
  });
  CHECK(layer.cell().compute_dtype() == float16);
  CHECK(layer.compute_dtype() == float32);
  for (const Tensor &each : results) {
    CHECK(each.dtype() == float32);
    CHECK(numbers(each) == numbers(each.astype(float16)));
  }
}

TEST_CASE("Files of every recurrent layer give the same model again") {
  register_custom<CountingCell>("tests");
  set_random_seed(5);
  const Sequential model = everyRecurrent();
  model.compile({.optimizer = optimizers::Adam(0.01), .loss = "mse"});
  const Tensor x = waves({4, 4, 3}), y = waves({4, 1});
  (void)model.fit(x, y, {.epochs = 2, .verbose = 0});
  const std::vector<double> predicted = numbers(model.predict(x, {.verbose = 0}));
  const TemporaryFolder folder;
  model.save(folder / "net.keras");
  const Model loaded = load_model(folder / "net.keras");
  CHECK(loaded.to_json() == model.to_json());
  CHECK(numbers(loaded.predict(x, {.verbose = 0})) == predicted);
  model.save_weights(folder / "net.weights.h5");
  const Sequential other = everyRecurrent();
  other.load_weights(folder / "net.weights.h5");
  CHECK(numbers(other.predict(x, {.verbose = 0})) == predicted);
  Checkpoint(model).save(folder / "net.safetensors");
  const Sequential resumed = everyRecurrent();
  resumed.compile({.optimizer = optimizers::Adam(0.01), .loss = "mse"});
  Checkpoint(resumed).restore(folder / "net.safetensors");
  CHECK(numbers(resumed.predict(x, {.verbose = 0})) == predicted);
  const History first = model.fit(x, y, {.epochs = 1, .verbose = 0, .shuffle = false});
  const History second = resumed.fit(x, y, {.epochs = 1, .verbose = 0, .shuffle = false});
  CHECK(first["loss"] == second["loss"]);
}

TEST_CASE("Sequences without a step give zeros and the initial states") {
  const auto results =
      runOnce(Run::compiled, {Tensor::zeros({2, 0, 3}), waves({2, 2})}, [](const std::vector<Value> &v) {
        const GRU last(2, {.return_state = true}), all(2, {.return_sequences = true});
        const Values ends = last.outputs(v[0], {.initial_state = v[1]});
        return std::vector<Value>{ends[0], ends[1], all(v[0])};
      });
  CHECK(numbers(results[0]) == std::vector<double>(4, 0.0));
  CHECK(numbers(results[1]) == numbers(waves({2, 2})));
  CHECK(results[2].shape() == Shape{2, 0, 2});
}

TEST_CASE("Arguments and calls that a recurrent layer cannot take are one error each") {
  const Input x({5, 3}), open({none, 3});
  const auto calls = [&](const RNN &layer, const RNNCallArgs &args, const Value &on) {
    return errorOf([&] { (void)layer.outputs(on, args); });
  };
  CHECK_THAT(errorOf([] { (void)LSTM(0); }), Contains("ValueError: Received an invalid value for argument `units`, "
                                                      "expected a positive integer, got 0."));
  CHECK_THAT(errorOf([] { (void)RNN(Dense(3)); }), Contains("ValueError: state_size must be specified"));
  CHECK_THAT(errorOf([] { (void)StackedRNNCells(std::vector<Layer>{}); }), Contains("ValueError: `cells`"));
  for (const Layer &cell : {Layer(LSTMCell(2)), Layer(StackedRNNCells({GRUCell(2), GRUCell(3)}))})
    CHECK_THAT(errorOf([&] { (void)cell.outputs(Input({3})); }),
               Contains("ValueError: A cell of 2 states takes 3 inputs, x and each state. Received: 1"));
  CHECK_THAT(errorOf([] { (void)GRUCell(2).outputs({Input({3}), Input({2}), Input({2})}); }),
             Contains("ValueError: A cell of 1 state takes 2 inputs, x and each state. Received: 3"));
  CHECK_THAT(calls(LSTM(2), {}, Input({3})), Contains("ValueError: Input 0 is incompatible with the layer: expected "
                                                      "ndim=3, found ndim=2. Full shape received: (None, 3)"));
  CHECK_THAT(calls(LSTM(2), {.initial_state = Input({2})}, x),
             Contains("ValueError: initial_state has 1 Values; the cell 'lstm_cell' has 2 states"));
  CHECK_THAT(calls(GRU(2), {.initial_state = Input({3})}, x),
             Contains("ValueError: initial_state 0 has the shape (None, 3); expected (None, 2)"));
  CHECK_THAT(calls(GRU(2), {.mask = Input({4}, {.dtype = bool_})}, x),
             Contains("ValueError: The mask of a recurrent layer must have the shape (batch, steps)"));
  CHECK_THAT(calls(GRU(2), {.mask = Input({5, 1}, {.dtype = bool_})}, x),
             Contains("ValueError: The mask of a recurrent layer must have the shape (batch, steps)"));
  CHECK_THAT(calls(LSTM(2, {.stateful = true}), {}, x),
             Contains("ValueError: When using `stateful=True` in a RNN, the batch size must be static."));
  CHECK_THAT(calls(LSTM(2, {.unroll = true}), {}, open),
             Contains("ValueError: Cannot unroll a RNN if the time dimension"));
  CHECK_THAT(errorOf([] { (void)LSTM(2, {.unroll = true})(Tensor::zeros({2, 0, 3})); }),
             Contains("ValueError: Unrolling requires a fixed number of timesteps."));
  const LSTM layer(2, {.stateful = true});
  (void)layer(waves({3, 4, 2}));
  CHECK_THAT(errorOf([&] { (void)layer(waves({4, 4, 2})); }),
             Contains("- Expected batch size: 3\n- Received batch size: 4"));
  CHECK(layer.states()[0].shape() == Shape{3, 2});
}

TEST_CASE("Layers that a Bidirectional or a TimeDistributed cannot wrap are one error each") {
  CHECK_THAT(errorOf([] { (void)Bidirectional(Dense(3)); }),
             Contains("ValueError: Bidirectional takes a recurrent layer, which has `go_backwards`"));
  CHECK_THAT(errorOf([] { (void)Bidirectional(LSTM(2), {.backward_layer = GRU(2)}); }),
             Contains("ValueError: Forward layer and backward layer should have different `go_backwards` value."));
  CHECK_THAT(errorOf([] {
               (void)Bidirectional(LSTM(2),
                                   {.backward_layer = GRU(2, {.return_sequences = true, .go_backwards = true})});
             }),
             Contains("ValueError: Forward layer and backward layer are expected to have the same value for attribute "
                      "\"return_sequences\", got \"False\" for forward layer and \"True\" for backward layer"));
  CHECK_THAT(errorOf([] { (void)Bidirectional(LSTM(2)).outputs(Input({5, 3}), {.initial_state = Input({2})}); }),
             Contains("ValueError: initial_state of a Bidirectional must have the states of both directions"));
  CHECK_THAT(
      errorOf([] { (void)TimeDistributed(Dense(2))(Input({3})); }),
      Contains("ValueError: `TimeDistributed` Layer should be passed an `input_shape` with at least 3 dimensions"));
}

TEST_CASE("Arguments that a ConvLSTM cannot take are one error each") {
  CHECK_THAT(errorOf([] { (void)ConvLSTM2D(2, 3, {.strides = 2, .dilation_rate = 2}); }),
             Contains("ValueError: Specifying `strides > 1` is not compatible with `dilation_rate > 1`."));
  CHECK_THAT(errorOf([] { (void)ConvLSTM1D(0, 3); }), Contains("ValueError") && Contains("filters"));
  CHECK_THAT(errorOf([] { (void)ConvLSTM1D(2, 3, {.padding = "causal"}); }), Contains("{'valid', 'same'}"));
  CHECK_THAT(errorOf([] { (void)ConvLSTM1D(2, 3)(Input({4, none, 2})); }),
             Contains("ValueError: ConvLSTM layers only support static input shapes for the spatial dimension."));
  CHECK_THAT(errorOf([] { (void)ConvLSTM1D(2, 3)(Input({4, 2, 2})); }),
             Contains("ValueError: Computed output size would be zero or negative."));
}

TEST_CASE("A cell between layers is written with its states as Keras nests them, and read again") {
  const Input x({4}, {.name = "x"}), h({2}, {.name = "h"}), c({2}, {.name = "c"}), other({3}, {.name = "other"});
  const auto check = [](const Layer &cell, const std::vector<Value> &inputs, const char *nested) {
    CAPTURE(cell.name());
    const Model model(Values(inputs), cell.outputs(Values(inputs)));
    const std::string text = model.to_json();
    const Model again = Model::from_config(Config::parse(text));
    CHECK(again.to_json() == text);
    std::vector<Tensor> feeds;
    for (const Value &input : inputs)
      feeds.push_back(waves({2, input.shape()[1]}));
    again.set_weights(model.get_weights());
    const Tensors expected = model.predict_all(Tensors(feeds), {.verbose = 0}),
                  found = again.predict_all(Tensors(feeds), {.verbose = 0});
    REQUIRE(found.size() == expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      CHECK(numbers(found[i]) == numbers(expected[i]));
    const Json call = Json::parse(text)["config"]["layers"].back()["inbound_nodes"][0];
    const std::function<std::string(const Json &)> names = [&](const Json &json) {
      if (!json.is_array())
        return json["config"]["keras_history"][0].get<std::string>();
      std::string list = "[";
      for (const Json &each : json)
        list += (list.size() > 1 ? " " : "") + names(each);
      return list + "]";
    };
    CHECK(names(call["args"]) == nested);
  };
  check(LSTMCell(2), {x, h, c}, "[x [h c]]");
  check(GRUCell(3), {x, other}, "[x [other]]");
  check(SimpleRNNCell(3), {x, other}, "[x [other]]");
  check(StackedRNNCells({LSTMCell(2), GRUCell(3)}), {x, h, c, other}, "[x [[h c] [other]]]");
}

TEST_CASE("A config whose cell has an unknown class is an error that names it") {
  CHECK_THAT(errorOf([] {
               Config config = layers::serialize(RNN(GRUCell(2)));
               (void)layers::deserialize(Config::parse([&] {
                 std::string text = config.dump();
                 return text.replace(text.find("GRUCell"), 7, "FooCell");
               }()));
             }),
             Contains("ValueError: Could not locate class 'FooCell'"));
}
