// Models as .keras files and weights as .weights.h5: loading restores the saved values; bad files change nothing.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/Trainer.h"
#include "halftone/Halftone.h"
#include "runtime/TensorAccess.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include "tests/frontend/io/Kills.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <sstream>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Catch::Matchers::Message;

namespace {

bool sameBits(const Tensor &a, const Tensor &b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(TensorAccess::data(a), TensorAccess::data(b), static_cast<size_t>(TensorAccess::bytes(a))) == 0;
}
void checkSame(const std::vector<Variable> &a, const std::vector<Variable> &b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO(a[i].path());
    CHECK(sameBits(a[i].value(), b[i].value()));
  }
}

Tensor ramp(const Shape &shape) {
  std::vector<float> data(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(i % 17) / 8.0f - 1.0f;
  return Tensor(std::move(data), shape);
}

Sequential net(int64_t units = 3) {
  return Sequential({Input({4}), Dense(units, {.activation = "relu", .kernel_regularizer = regularizers::L2(0.01)}),
                     BatchNormalization(), Dropout(0.25), Dense(2)},
                    {.name = "net"});
}

/// Two inputs and two outputs, a layer and an inner model that are called twice, attention with a mask, and a layer
/// with several outputs.
Model graph() {
  const Input left({6, 8}, {.name = "left"}), right({6, 8}, {.name = "right"});
  const Dense shared(8, {.activation = "tanh"});
  const Sequential inner({Input({6, 8}), Dense(8), LayerNormalization()}, {.name = "inner"});
  const Input innerInput({6, 8});
  const Model functional({innerInput}, {Dense(8)(innerInput)}, {.name = "functional"});
  const Value a = inner(shared(left)), b = functional(inner(shared(right)));
  const MultiHeadAttention attention(2, 4);
  const auto [attended, scores] = attention.with_scores(a, b, {.use_causal_mask = true});
  const Value sum = Add()({attended, a, b});
  const Value pooled = GlobalAveragePooling1D()(sum);
  return Model({left, right}, {Dense(3, {.name = "kind"})(pooled), functional(sum)}, {.name = "graph"});
}

std::string bytesOf(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

struct Scale {
  double shift = 0.0;
  Variable factor{};
  void build(BuildContext &context, const Shape &input) {
    factor = context.add_weight({.shape = {input[-1]}, .initializer = "ones", .name = "factor"});
  }
  Value call(const Value &x) const { return x * factor + shift; }
  void get_config(Config &config) const { config.set("shift", shift); }
  static Scale from_config(const Config &config) { return {.shift = config.get_double("shift")}; }
};

struct Plain : Scale {
  static Plain from_config(const Config &config) { return {Scale::from_config(config)}; }
};

/// A model of layers with automatic names, one of which is a graph.
struct Pair {
  Sequential body{{Dense(3)}};
  Dense head{2};
  Value call(const Value &x) const { return head(body(x)); }
};

struct Unregistered {
  Value call(const Value &x) const { return x; }
};

} // namespace

TEST_CASE(
    "A compiled Sequential comes back from its file with equal config, weights and optimizer, and trains on alike") {
  const TemporaryFolder folder;
  for (const char *policy : {"float32", "mixed_bfloat16", "mixed_float16", "bfloat16"}) {
    INFO(policy);
    const PolicyScope scope{DTypePolicy(policy)};
    const Model model = net();
    model.compile({.optimizer = optimizers::Adam(schedules::ExponentialDecay(0.01, 10, 0.9), {.clipnorm = 1.0}),
                   .loss = losses::Huber(0.5),
                   .metrics = {"mae", metrics::MeanSquaredError()}});
    const Tensor x = ramp({8, 4}), y = ramp({8, 2});
    model.fit(x, y, {.batch_size = 4, .epochs = 2, .verbose = 0});
    model.save(folder / "net.keras");
    const Model loaded = load_model(folder / "net.keras");
    CHECK(loaded.to_json() == model.to_json());
    checkSame(loaded.variables(), model.variables());
    checkSame(loaded.optimizer().variables(), model.optimizer().variables());
    CHECK(sameBits(loaded.predict(x, {.verbose = 0}), model.predict(x, {.verbose = 0})));
    for (int64_t step = 0; step < 3; ++step)
      CHECK(double(loaded.train_on_batch(x, y)["loss"]) == double(model.train_on_batch(x, y)["loss"]));
  }
}

TEST_CASE("Merges and activations come back from a file, and Muon and ScheduleFreeAdamW go on bit by bit") {
  const TemporaryFolder folder;
  for (const Optimizer &optimizer : {Optimizer(optimizers::Muon(0.01, {.exclude_layers = {"end"}})),
                                     Optimizer(optimizers::ScheduleFreeAdamW(0.01, {.warmup_steps = 3}))}) {
    INFO(optimizer.name());
    const Input left({4}), right({4});
    const Dense shared(6);
    const Value u = PReLU({.alpha_initializer = "ones"})(shared(left)), v = ELU(0.5)(shared(right));
    const Value merged = Concatenate()({Subtract()({u, v}), Average()({u, v}), Maximum()({u, v}), Minimum()({u, v}),
                                        Dot(1, {.normalize = true})({u, v})});
    const Model model({left, right}, {Dense(2, {.name = "end"})(LeakyReLU(0.1)(merged))});
    model.compile({.optimizer = optimizer, .loss = "mse"});
    const Tensors x{ramp({8, 4}), Tensor::ones({8, 4})};
    const Tensor y = ramp({8, 2});
    model.fit(x, y, {.batch_size = 4, .epochs = 2, .verbose = 0});
    model.save(folder / "net.keras");
    const Model loaded = load_model(folder / "net.keras");
    CHECK(loaded.to_json() == model.to_json());
    checkSame(loaded.variables(), model.variables());
    checkSame(loaded.optimizer().variables(), model.optimizer().variables());
    for (int64_t step = 0; step < 3; ++step)
      CHECK(double(loaded.train_on_batch(x, y)["loss"]) == double(model.train_on_batch(x, y)["loss"]));
    checkSame(loaded.variables(), model.variables());
  }
}

TEST_CASE("Metrics with counts, losses of areas and layers that draw noise come back from a file") {
  const TemporaryFolder folder;
  const std::vector<std::pair<Loss, std::vector<Metric>>> cases{
      {losses::Tversky({.alpha = 0.25, .axis = 1}),
       {metrics::AUC({.curve = metrics::AUCCurve::PR, .thresholds = {0.75, 0.25}}), metrics::Precision({.top_k = 1}),
        metrics::TruePositives({.thresholds = {0.25, 0.5}}), "recall", metrics::PrecisionAtRecall(0.5)}},
      {losses::CategoricalFocalCrossentropy({.alpha = {0.25, 0.75}}),
       {metrics::F1Score({.average = metrics::FScoreAverage::weighted}), metrics::R2Score(), metrics::OneHotMeanIoU(2),
        metrics::AUC({.multi_label = true, .label_weights = {1, 3}}), metrics::Recall()}}};
  for (const auto &[loss, metrics] : cases) {
    INFO(loss.name());
    const Sequential model({Input({4, 3}), AdaptiveMaxPooling1D(2), Flatten(), Identity(), GaussianDropout(0.25),
                            AlphaDropout(0.25), ActivityRegularization({.l1 = 0.01}),
                            Dense(2, {.activation = "sparsemax"})});
    model.compile({.optimizer = "sgd", .loss = loss, .metrics = metrics});
    const Tensor x = ramp({8, 4, 3}), y({1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1}, {8, 2});
    model.fit(x, y, {.batch_size = 4, .epochs = 1, .verbose = 0});
    model.save(folder / "net.keras");
    const Model loaded = load_model(folder / "net.keras");
    CHECK(loaded.to_json() == model.to_json());
    CHECK(loaded.evaluate(x, y, {.verbose = 0}).str() == model.evaluate(x, y, {.verbose = 0}).str());
    for (int64_t step = 0; step < 3; ++step)
      CHECK(loaded.train_on_batch(x, y).str() == model.train_on_batch(x, y).str());
  }
}

TEST_CASE("A loaded model computes with the numerics that load_model() was given") {
  const TemporaryFolder folder;
  net().save(folder / "plain.keras");
  const Model model = net();
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.save(folder / "net.keras");
  CHECK(detail::compiledIfAny(load_model(folder / "net.keras"))->args.numerics == Numerics::fast);
  CHECK(detail::compiledIfAny(load_model(folder / "net.keras", {.numerics = Numerics::strict}))->args.numerics ==
        Numerics::strict);
  CHECK_FALSE(detail::compiledIfAny(load_model(folder / "plain.keras", {.numerics = Numerics::strict})));
}

TEST_CASE("A functional model comes back from its file: shared and inner layers, keyword arguments, several ends") {
  const TemporaryFolder folder;
  const Model model = graph();
  model.compile({.optimizer = "sgd",
                 .loss = {"sparse_categorical_crossentropy", "mse"},
                 .loss_weights = {1.0, 0.5},
                 .metrics = {{"kind", {"accuracy"}}, {"functional", {"mae"}}}});
  model.save(folder / "graph.keras");
  const Model loaded = load_model(folder / "graph.keras");
  CHECK(loaded.to_json() == model.to_json());
  checkSame(loaded.variables(), model.variables());
  const Tensors x{ramp({2, 6, 8}), ramp({2, 6, 8})};
  const Tensors found = loaded.predict_all(x, {.verbose = 0}), expected = model.predict_all(x, {.verbose = 0});
  REQUIRE(found.size() == 2);
  CHECK(sameBits(found[0], expected[0]));
  CHECK(sameBits(found[1], expected[1]));
}

TEST_CASE("A policy map decides for a loaded Sequential as for the one that was saved") {
  const TemporaryFolder folder;
  const DTypePolicyMap map("mixed_bfloat16", {{"net/first", "float32"}, {"net/inner/.*", "mixed_float16"}});
  const auto dense = [&](const char *name) { return Dense(4, {.dtype = map, .name = name}); };
  const Sequential model({Input({4}), dense("first"), Sequential({dense("deep")}, {.name = "inner"}), dense("last")},
                         {.name = "net"});
  model.save(folder / "mapped.keras");
  const Model loaded = load_model(folder / "mapped.keras");
  const std::vector<Layer> found = loaded.layers(), expected = model.layers();
  REQUIRE(found.size() == 3);
  for (size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].path() == expected[i].path());
    CHECK(found[i].compute_dtype() == expected[i].compute_dtype());
  }
  CHECK(found[0].compute_dtype() == float32);
  CHECK(found[1].layers()[0].compute_dtype() == float16);
  CHECK(sameBits(loaded.predict(ramp({3, 4}), {.verbose = 0}), model.predict(ramp({3, 4}), {.verbose = 0})));
}

TEST_CASE("Operations between layers come back from a file with their numbers, axes and order; others are refused") {
  const TemporaryFolder folder;
  const Input x({6}, {.name = "x"});
  const Value hidden = Dense(4)(x);
  const Value sum = 1.5 - ops::relu(hidden) * 2.0 / (ops::exp(hidden) + 1.0);
  const Value scaled = sum + ops::mean(hidden, -1, true) - ops::max(hidden, {0, 1});
  const Model model({x}, {Dense(2)(scaled), ops::maximum(ops::tanh(scaled), hidden)});
  model.save(folder / "operations.keras");
  const Model loaded = load_model(folder / "operations.keras");
  CHECK(loaded.to_json() == model.to_json());
  const Tensor data = ramp({3, 6});
  const Tensors found = loaded.predict_all(data, {.verbose = 0}), expected = model.predict_all(data, {.verbose = 0});
  REQUIRE(found.size() == 2);
  CHECK(sameBits(found[0], expected[0]));
  CHECK(sameBits(found[1], expected[1]));
  const Model unknown({x}, {ops::nan_to_num(hidden)});
  CHECK_THROWS_WITH(unknown.save(folder / "unknown.keras"), Contains("'nan_to_num'") && Contains("a layer of its own"));
  CHECK(folder.entries() == 1);
}

TEST_CASE("clone_model gives the same layers with weights of their own, and no compile()") {
  const Model model = net(), clone = clone_model(model);
  CHECK(clone.to_json() == model.to_json());
  CHECK(clone.variables().size() == model.variables().size());
  CHECK(clone.variables()[0].impl() != model.variables()[0].impl());
  CHECK_THROWS_WITH(clone.optimizer(), Contains("compile"));
  const Model functional = graph(), other = clone_model(functional);
  CHECK(other.to_json() == functional.to_json());
  CHECK(other.variables().size() == functional.variables().size());
}

TEST_CASE(
    "A registered layer of the user's comes back from a file; one that is not registered is refused before writing") {
  const TemporaryFolder folder;
  register_custom<Scale>("tests");
  const Sequential model({Input({4}), Custom(Scale{.shift = 0.5}, {.name = "scaled"})});
  model.save(folder / "scaled.keras");
  const Model loaded = load_model(folder / "scaled.keras");
  CHECK(loaded.to_json() == model.to_json());
  CHECK(sameBits(loaded.predict(ramp({2, 4}), {.verbose = 0}), model.predict(ramp({2, 4}), {.verbose = 0})));
  const Sequential unknown({Input({4}), Custom(Unregistered{})});
  CHECK_THROWS_WITH(unknown.save(folder / "unknown.keras"), Contains("register_custom<Unregistered>"));
  CHECK(folder.entries() == 1);
  CHECK_THROWS_WITH(register_custom<Scale>("other"), Contains("tests>Scale"));
  CHECK_THROWS_WITH(register_layer("tests>", [](const Config &, const LayerArgs &args) { return Dense(1); }),
                    Contains("package>Class"));
}

TEST_CASE("A class without a package is read after register_custom<T>(), which the error names") {
  const TemporaryFolder folder;
  const Sequential model({Input({4}), Custom(Plain{{.shift = 0.5}})});
  Config config;
  {
    CHECK_THROWS_WITH(model.to_json(), Contains("register_custom<Plain>()"));
    const std::string scale =
        R"({"module":"__main__","class_name":"Plain","config":{"shift":0.5},"registered_name":"Plain"})";
    config = Config::parse(R"({"class_name":"Sequential","config":{"layers":[)" + scale + "]}}");
    CHECK_THROWS_WITH(Model::from_config(config), Contains("register_custom<Plain>()") && Contains("config.layers[0]"));
  }
  register_custom<Plain>();
  CHECK(Model::from_config(config).layers()[0].class_name() == "Plain");
  CHECK_THAT(model.to_json(), Contains(R"("registered_name":"Plain")"));
  model.save(folder / "plain.keras");
  CHECK(sameBits(load_model(folder / "plain.keras").predict(ramp({2, 4}), {.verbose = 0}),
                 model.predict(ramp({2, 4}), {.verbose = 0})));
  register_custom<Plain>("tests");
  CHECK_THAT(model.to_json(), Contains(R"("registered_name":"tests>Plain")"));
}

TEST_CASE("A second instance of a struct with layers reads the weights that the first one wrote") {
  const TemporaryFolder folder;
  const Model first{Pair()}, second{Pair()};
  const Tensor x = ramp({2, 4});
  (void)first(x);
  (void)second(x);
  CHECK(first.layers()[0].name() != second.layers()[0].name());
  first.save_weights(folder / "pair.weights.h5");
  second.load_weights(folder / "pair.weights.h5");
  CHECK(sameBits(second.predict(x, {.verbose = 0}), first.predict(x, {.verbose = 0})));
}

TEST_CASE("A layer may stand twice in a Sequential, whose file would make two layers of it") {
  const TemporaryFolder folder;
  const Dense twice(2, {.use_bias = false, .name = "twice"});
  const Sequential model({Input({2}), twice, twice});
  twice.set_weights({Tensor({1, 2, 3, 4}, {2, 2})});
  const Tensor x = Tensor::ones({1, 2});
  CHECK(numbers(model.predict(x, {.verbose = 0})) == std::vector<double>{22, 32});
  model.pop();
  model.add(twice);
  CHECK(numbers(model.predict(x, {.verbose = 0})) == std::vector<double>{22, 32});
  CHECK(model.count_params() == 4);
  CHECK_THROWS_WITH(model.add(Dense(2, {.name = "twice"})), Contains("unique names"));
  CHECK_THROWS_WITH(model.save(folder / "twice.keras"), Contains("'twice' occurs twice in the Sequential"));
  CHECK(folder.entries() == 0);
}

TEST_CASE("A layer that stands in two models is refused by save() and to_json(), which name both") {
  const TemporaryFolder folder;
  const Dense both(3, {.name = "both"});
  const Input i({3}), x({3});
  const Model inner({i}, {ReLU()(both(i))}, {.name = "inner"});
  const Model outer({x}, {inner(both(x))}, {.name = "outer"});
  CHECK_THROWS_WITH(outer.save(folder / "outer.keras"), Contains("'both' occurs in 'outer' and in 'outer/inner'"));
  CHECK_THROWS_WITH(outer.to_json(), Contains("'outer/inner'"));
  const Model wrapper({i}, {inner(i)}, {.name = "wrapper"});
  const Model wrapped({x}, {wrapper(x) - inner(x)}, {.name = "outer"});
  CHECK_THROWS_WITH(wrapped.save(folder / "outer.keras"), Contains("'inner' occurs in"));
  CHECK(folder.entries() == 0);
  outer.save_weights(folder / "outer.weights.h5");
  outer.load_weights(folder / "outer.weights.h5");
}

TEST_CASE("A Lambda takes one input, and the errors about its file and about get_config() say what can be done") {
  const Input a({3}), b({3});
  const Lambda lambda([](const Value &x) { return x * 2.0; });
  CHECK_THROWS_WITH(lambda({a, b}), Contains("takes one input, but it received 2 inputs") && Contains("Custom"));
  CHECK_THROWS_WITH(Dense(2)({a, b}), Contains("takes one input"));
  CHECK_THROWS_WITH(Model({a}, {lambda(a)}).to_json(),
                    Contains("A Lambda has no config") && !Contains("register_custom<Lambda>"));
  const std::string file = R"({"class_name":"Lambda","module":"keras.layers","config":{"function":{}}})";
  CHECK_THROWS_WITH(
      Model::from_config(Config::parse(R"({"class_name":"Sequential","config":{"layers":[)" + file + "]}}")),
      Contains("config.layers[0]") && Contains("Python code") && !Contains("register_custom<Lambda>"));
  CHECK_THROWS_WITH(Model::from_config(net().get_config()), Contains("Config::parse(model.to_json())"));
}

TEST_CASE(
    "Weights of layers whose shapes differ are refused together and change nothing; skip_mismatch loads the others") {
  const TemporaryFolder folder;
  const Model model = net(3), other = net(6);
  model.save_weights(folder / "net.weights.h5");
  std::vector<Tensor> before = other.get_weights();
  CHECK_THROWS_WITH(other.load_weights(folder / "net.weights.h5"),
                    Contains("must match") && Contains("A total of 3 objects could not be loaded") &&
                        Contains("net.weights.h5"));
  const std::vector<Tensor> after = other.get_weights();
  for (size_t i = 0; i < before.size(); ++i)
    CHECK(sameBits(before[i], after[i]));
  const Sequential longer({Input({4}), Dense(3), Dense(5)});
  CHECK_THROWS_WITH(longer.load_weights(folder / "net.weights.h5"), Contains("must match"));
  std::string warnings;
  set_output([&](std::string_view text) { warnings += text; });
  longer.load_weights(folder / "net.weights.h5", true);
  set_output({});
  CHECK_THAT(warnings, Contains("dense"));
  CHECK(sameBits(longer.get_weights()[0], model.get_weights()[0]));
  const Model same = net(3);
  same.load_weights(folder / "net.weights.h5");
  checkSame(same.weights(), model.weights());
}

TEST_CASE("A damaged file is an error that names it: cut off, a flipped bit, no weights, another format") {
  const TemporaryFolder folder;
  const Model model = net();
  model.save(folder / "net.keras");
  const std::string bytes = bytesOf(folder / "net.keras");
  for (const size_t size : {size_t{0}, size_t{10}, bytes.size() / 2, bytes.size() - 1}) {
    INFO(size);
    CHECK_THROWS_WITH(load_model(folder.write("cut.keras", bytes.substr(0, size))), Contains("cut.keras"));
  }
  std::string flipped = bytes;
  flipped[bytes.size() / 2] = static_cast<char>(flipped[bytes.size() / 2] ^ 4); // a bit of the weights
  CHECK_THROWS_WITH(load_model(folder.write("flipped.keras", flipped)), Contains("flipped.keras"));
  CHECK_THROWS_WITH(load_model(folder / "absent.keras"), Contains("absent.keras"));
  CHECK_THROWS_WITH(load_model(folder / "whole.h5"), Contains("keras.models.load_model"));
  CHECK_THROWS_WITH(model.load_weights(folder.write("no.weights.h5", "no HDF5")),
                    Contains("no.weights.h5") && Contains("no HDF5 file"));
}

TEST_CASE("save() refuses another ending, an unbuilt model and a file that it may not overwrite") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(net().save(folder / "net.h5"), Contains("Please add a `.keras` extension"));
  CHECK_THROWS_WITH(Sequential({Dense(2)}).save(folder / "net.keras"), Contains("built"));
  folder.write("net.keras", "old");
  CHECK_THROWS_WITH(net().save(folder / "net.keras", {.overwrite = false}), Contains("overwrite"));
  CHECK(bytesOf(folder / "net.keras") == "old");
  net().save(folder / "net.keras");
  const Model loaded = load_model(folder / "net.keras", {.compile = false, .device = Device::cpu()});
  CHECK(loaded.name() == "net");
}

TEST_CASE("A process that is killed while it saves a model leaves the old or the new .keras file, which loads") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.keras";
  const Sequential model({Input({200}), Dense(200, {.name = "a"})}, {.name = "killed"});
  model.compile({.optimizer = optimizers::SGD(0.1, {.momentum = 0.5}), .loss = "mse"});
  const auto write = [&](double value) {
    for (const Variable &variable : model.variables())
      variable.assign(Tensor::full(variable.shape(), value));
    model.save(path);
  };
  const auto read = [&] {
    const Model loaded = load_model(path);
    const double value = numbers(loaded.variables()[0])[0];
    for (const Variable &variable : loaded.variables())
      for (double each : numbers(variable))
        if (each != value)
          FAIL("values of two files");
    return value;
  };
  const int rounds = killCount(20);
  CHECK(killWriters(rounds, write, read) > rounds / 10);
}

TEST_CASE("Metrics of two outputs of one layer stay with their outputs in a file", "[files]") {
  const TemporaryFolder folder;
  const layers::Input x({3}), z({3});
  const layers::Dense shared(2, {.name = "shared"});
  const Model model({x, z}, {shared(x), shared(z)});
  model.compile({.loss = "mse", .metrics = {"mae"}});
  const Tensors inputs{counted({4, 3}), counted({4, 3}) * 0.1};
  const Tensors targets{counted({4, 2}), counted({4, 2}) * -3.0};
  const Logs expected = model.test_on_batch(inputs, targets);
  model.save(folder / "model.keras");
  const Model loaded = load_model(folder / "model.keras");
  CHECK(loaded.test_on_batch(inputs, targets).str() == expected.str());
  CHECK(expected["shared_mae"] != expected["shared_mae_1"]);
  loaded.save(folder / "again.keras");
  CHECK(load_model(folder / "again.keras").test_on_batch(inputs, targets).str() == expected.str());
}
