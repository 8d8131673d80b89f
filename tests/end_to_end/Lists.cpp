// Lists that users give to models by name and by count, with omitted entries.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

Tensor full(double value, int64_t rows = 4) { return Tensor::full({rows, 1}, value); }
Tensor weights(double value, int64_t rows = 4) { return Tensor::full({rows}, value); }

/// Two inputs; outputs b = 1, a = 2, c = 3 times the sum of left and twice right, for inputs of one feature.
Model net(size_t outputs = 2) {
  const Input left({1}, {.name = "left"}), right({1}, {.name = "right"});
  const Value sum = Lambda([](const Values &v) { return v[0] + v[1] * 2.0; })(Values{left, right});
  std::vector<Value> all;
  for (const char *name : {"b", "a", "c"})
    if (all.size() < outputs)
      all.push_back(Dense(1, {.use_bias = false,
                              .kernel_initializer = initializers::Constant(static_cast<double>(all.size() + 1)),
                              .name = name})(sum));
  return Model(Values{left, right}, Values(all));
}
const Tensors x = {{"right", full(0)}, {"left", full(1)}};
const Tensors y = {{"a", full(1)}, {"b", full(0)}}; // losses of 1 each

Model compiled(const CompileArgs &args = {.optimizer = "sgd", .loss = "mse"}, size_t outputs = 2) {
  const Model model = net(outputs);
  model.compile(args);
  return model;
}
Loss mse() { return "mse"; }
using ByName = std::vector<std::pair<std::string, Loss>>;

Dataset batchesOf(const std::vector<Batch> &batches) {
  return Dataset::from_generator([batches] {
    return [batches, next = size_t{0}]() mutable -> std::optional<Batch> {
      return next < batches.size() ? std::optional(batches[next++]) : std::nullopt;
    };
  });
}

} // namespace

TEST_CASE("Sample weights reach the outputs that they name, in every call") {
  const Tensors weight = {{"b", weights(0)}, {"a", weights(3)}}, swapped = {{"a", weights(3)}, {"b", weights(0)}};
  for (const Tensors &w : {weight, swapped}) {
    const auto isRight = [](const Logs &logs) { return logs["a_loss"] == 3 && logs["b_loss"] == 0; };
    CHECK(isRight(compiled().evaluate(x, y, {.verbose = 0, .sample_weight = w})));
    CHECK(isRight(compiled().test_on_batch(x, y, {.sample_weight = w})));
    CHECK(isRight(compiled().train_on_batch(x, y, {.sample_weight = w})));
    CHECK(isRight(compiled().evaluate(Dataset(x, y, w).batch(4), {.verbose = 0})));
    const History history = compiled().fit(x, y, {.verbose = 0, .validation_data = {x, y, w}, .sample_weight = w});
    CHECK(history["a_loss"][0] == 3);
    CHECK(history["b_loss"][0] == 0);
    CHECK(history["val_b_loss"][0] == 0);
    CHECK(history["val_a_loss"][0] > 0);
  }
}

TEST_CASE("A call with a list of too few, too many, doubled or unknown entries is refused and changes nothing") {
  const Model model = compiled();
  const Logs before = model.evaluate(x, y, {.verbose = 0});
  const Tensor t = full(1), w = weights(1);
  const Tensors fewX = t, typoX = {{"left", t}, {"typo", t}}, moreX = {{"left", t}, {"right", t}, {"more", t}};
  const Tensors fewY = {std::pair<std::string, Tensor>("a", t)}, moreY = {{"a", t}, {"b", t}, {"more", t}};
  const Tensors typoW = {std::pair<std::string, Tensor>("typo", w)}, fewW = {std::pair<std::string, Tensor>("a", w)},
                moreW = {w, w, w};
  struct Wrong {
    Tensors x, y, weight;
    const char *text;
  };
  const Wrong wrong[] = {{fewX, y, {}, "`x` has 1 entry, but 'functional' expects 2 inputs: [left, right]"},
                         {typoX, y, {}, "`x` names the input 'typo'; the inputs are [left, right]"},
                         {moreX, y, {}, "`x` names the input 'more'"},
                         {{t, t, t}, y, {}, "`x` has 3 entries"},
                         {x, fewY, {}, "`y` has no entry for the output 'b'"},
                         {x, moreY, {}, "`y` names the output 'more'; the outputs are [b, a]"},
                         {x, t, {}, "`y` has 1 entry, but 'functional' expects 2 outputs: [b, a]"},
                         {x, {t, t, t}, {}, "`y` has 3 entries"},
                         {x, {}, {}, "`y` has 0 entries"},
                         {x, y, typoW, "`sample_weight` names the output 'typo'"},
                         {x, y, fewW, "`sample_weight` has no entry for the output 'b'"},
                         {x, y, moreW, "`sample_weight` has 3 entries"}};
  for (const Wrong &each : wrong) {
    INFO(each.text);
    const std::string name = model.name(), text = std::string(each.text);
    const auto refused = [&](const auto &call) {
      const std::string error = errorOf(call);
      CHECK_THAT(error, StartsWith("ValueError: "));
      CHECK_THAT(error, Contains(text.substr(0, text.find("'functional'"))));
    };
    const EvaluateArgs evaluate{.verbose = 0, .sample_weight = each.weight};
    refused([&] { (void)model.evaluate(each.x, each.y, evaluate); });
    refused([&] { (void)model.fit(each.x, each.y, {.verbose = 0, .sample_weight = each.weight}); });
    refused([&] { (void)model.fit(x, y, {.verbose = 0, .validation_data = {each.x, each.y, each.weight}}); });
    refused([&] { (void)model.train_on_batch(each.x, each.y, {.sample_weight = each.weight}); });
    refused([&] { (void)model.test_on_batch(each.x, each.y, {.sample_weight = each.weight}); });
    refused([&] { (void)model.evaluate(Dataset(each.x, each.y, each.weight).batch(2), {.verbose = 0}); });
    refused([&] { (void)model.fit(batchesOf({{each.x, each.y, each.weight}}), {.verbose = 0}); });
    refused([&] { (void)model.evaluate(batchesOf({{x, y, {}}, {each.x, each.y, each.weight}}), {.verbose = 0}); });
    if (text.starts_with("`x`")) {
      refused([&] { (void)model.predict_all(each.x, {.verbose = 0}); });
      refused([&] { (void)compiled({.optimizer = "sgd", .loss = "mse"}, 1).predict_on_batch(each.x); });
      CHECK_THAT(errorOf([&] { (void)compiled({}, 1)(each.x); }), StartsWith("ValueError: "));
    }
    const Logs after = model.evaluate(x, y, {.verbose = 0});
    CHECK(after["loss"] == before["loss"]);
  }
  const Tensors two = {w, w};
  CHECK_THAT(errorOf([&] {
               (void)compiled({.optimizer = "sgd", .loss = "mse"}, 3)
                   .evaluate(x, {t, t, t}, {.verbose = 0, .sample_weight = two});
             }),
             Contains("`sample_weight` has 2 entries"));
}

TEST_CASE("Lists of compile() that have too few, too many or unknown entries are refused at the first batch") {
  const auto refused = [](const CompileArgs &args, size_t outputs, const Tensors &targets) {
    const Model model = compiled(args, outputs);
    return errorOf([&] { (void)model.evaluate(x, targets, {.verbose = 0}); });
  };
  const Tensors three = {full(0), full(0), full(0)};
  const Metric mae = "mae";
  CHECK_THAT(refused({.loss = {mse(), mse(), mse()}}, 2, y), Contains("ValueError: `loss` has 3 entries, but"));
  CHECK_THAT(refused({.loss = {mse(), mse()}}, 3, three), Contains("`loss` has 2 entries"));
  CHECK_THAT(refused({.loss = LossSpec(ByName{{"a", "mse"}, {"typo", "mse"}})}, 2, y),
             Contains("ValueError: `loss` names the output 'typo'; the outputs are [b, a]"));
  CHECK_THAT(refused({.loss = LossSpec(ByName{{"a", "mse"}, {"a", "mae"}})}, 2, y),
             Contains("ValueError: `loss` has two entries for the output 'a'"));
  CHECK_THAT(refused({.loss = {mse(), mse()}, .loss_weights = {2}}, 2, y), Contains("`loss_weights` has 1 entry"));
  CHECK_THAT(refused({.loss = "mse", .loss_weights = {1, 2, 3}}, 2, y), Contains("`loss_weights` has 3 entries"));
  CHECK_THAT(refused({.loss = "mse", .metrics = {mae, mae, mae}}, 2, y), Contains("`metrics` has 3 entries"));
  CHECK_THAT(refused({.loss = "mse", .weighted_metrics = {mae, mae}}, 3, three),
             Contains("`weighted_metrics` has 2 entries"));
  CHECK_THAT(refused({.loss = "mse", .metrics = {{"typo", {mae}}, {"a", {mae}}}}, 2, y),
             Contains("ValueError: `metrics` names the output 'typo'"));
  CHECK_THAT(errorOf([&] { (void)MetricSpec({{"a", {mae}}, {"a", {mae}}}); }),
             Contains("ValueError: metrics have two entries for the output 'a'"));
  CHECK_THAT(errorOf([&] {
               (void)compiled().fit(x, {Tensor::zeros({4}, int32), Tensor::zeros({4}, int32)},
                                    {.verbose = 0, .class_weight = {{0, 1.0}, {1, 2.0}, {0, 3.0}}});
             }),
             Contains("ValueError: `class_weight` has two entries for the class 0"));
}

TEST_CASE("One factor is enough for one loss, and a list of metrics has one for each output, as in Keras") {
  CHECK(compiled({.loss = "mse", .loss_weights = {3}}).evaluate(x, y, {.verbose = 0})["loss"] == 6);
  const Logs logs = compiled({.loss = "mse", .metrics = {"mae", "mse"}}).evaluate(x, y, {.verbose = 0});
  CHECK(logs.contains("b_mae"));
  CHECK(logs.contains("a_mse"));
  CHECK(!logs.contains("a_mae"));
  const Logs same = compiled({.loss = "mse", .metrics = {"mae"}}).evaluate(x, y, {.verbose = 0});
  CHECK(same["a_mae"] == 1);
  CHECK(same["b_mae"] == 1);
}

TEST_CASE("An output without a loss and a metric needs no target, in whatever way the others are given") {
  const auto arguments = [] { return CompileArgs{.optimizer = "sgd", .loss = LossSpec(ByName{{"a", "mse"}})}; };
  const Tensors named = {std::pair<std::string, Tensor>("a", full(1))};
  const Tensors both = {{"b", full(7)}, {"a", full(1)}};
  for (const Tensors &targets : {named, Tensors(full(1)), both, Tensors{full(7), full(1)}}) {
    const Logs logs = compiled(arguments()).evaluate(x, targets, {.verbose = 0});
    CHECK(logs["loss"] == 1);
    CHECK(!logs.contains("b_loss"));
    const Tensors weight = {std::pair<std::string, Tensor>("a", weights(2))};
    CHECK(compiled(arguments()).train_on_batch(x, targets, {.sample_weight = weight})["loss"] == 2);
    CHECK(compiled(arguments()).fit(x, targets, {.verbose = 0})["loss"][0] == 1);
  }
  CompileArgs measured = arguments();
  measured.metrics = {{"b", {"mse"}}, {"a", {"mse"}}};
  CHECK_THAT(errorOf([&] { (void)compiled(measured).evaluate(x, named, {.verbose = 0}); }),
             Contains("`y` has no entry for the output 'b'"));
  const Model unseen = compiled(arguments());
  CHECK(unseen.ir(Stage::plan).size() > 0); // example targets for the output that has a loss
  const Tensors classes = {std::pair<std::string, Tensor>("a", full(1))};
  CHECK(compiled(arguments()).fit(x, classes, {.verbose = 0, .class_weight = {{1, 5.0}}})["loss"][0] == 5);
}

TEST_CASE("Each output, list and model that is given one metric object has a state of its own") {
  const Tensors targets = {full(1), full(5)}; // the errors are 0 and 9
  const Metric object = metrics::MeanSquaredError({.name = "error"}), area = metrics::AUC({.name = "area"});
  const Logs logs = compiled({.loss = "mse", .metrics = {object}}).evaluate(x, targets, {.verbose = 0});
  CHECK(logs["b_error"] == 0);
  CHECK(logs["a_error"] == 9);
  const Logs byName =
      compiled({.loss = "mse", .metrics = {{"a", {object}}, {"b", {object}}}}).evaluate(x, targets, {.verbose = 0});
  CHECK(byName["b_error"] == 0);
  CHECK(byName["a_error"] == 9);
  const Logs each = compiled({.loss = "mse", .metrics = {object, object}}).evaluate(x, targets, {.verbose = 0});
  CHECK(each["b_error"] == 0);
  CHECK(each["a_error"] == 9);
  const Tensor half({1, 0, 0, 0}, {4});
  const Logs weighted = compiled({.loss = "mse", .metrics = {object}, .weighted_metrics = {object}}, 1)
                            .evaluate(x, Tensor({3, 1, 1, 1}, {4, 1}), {.verbose = 0, .sample_weight = half});
  CHECK(weighted["error"] == 1);
  CHECK(weighted["weighted_error"] == 4);
  const Logs areas = compiled({.loss = "mse", .metrics = {area}})
                         .evaluate({Tensor({0.9F, 0.8F, 0.1F, 0.2F}, {4, 1}), full(0)},
                                   {Tensor({1, 1, 0, 0}, {4, 1}), Tensor({0, 0, 1, 1}, {4, 1})}, {.verbose = 0});
  CHECK(areas["b_area"] == Approx(1));
  CHECK(areas["a_area"] < 0.6);

  // A callback evaluates another model with the same object; the epoch's result remains that of its own model.
  const Model other = compiled({.optimizer = "sgd", .loss = "mse", .metrics = {object}}, 1);
  const Model first = compiled({.optimizer = optimizers::SGD(0.0), .loss = "mse", .metrics = {object}}, 1);
  const auto evaluate = [&](int64_t, const Logs &) { (void)other.evaluate(x, full(9), {.verbose = 0}); };
  const History history = first.fit(
      x, full(3),
      {.batch_size = 1, .verbose = 0, .callbacks = {callbacks::LambdaCallback({.on_train_batch_end = evaluate})}});
  CHECK(history["error"][0] == 4);
  CHECK(object.result() != 0); // the object has the state of the first model that it was given to
}

// policies 12.6
TEST_CASE("Labels are checked along the loss's axis, with the class that does not count") {
  const Tensor scores = Tensor::full({2, 7, 3}, 1.0 / 7);
  const auto evaluated = [&](const losses::SparseCrossentropyArgs &args, const std::vector<int32_t> &labels,
                             const Shape &shape, bool isBatch) {
    Sequential model({Input({7, 3}), Activation("linear")});
    model.compile({.optimizer = "sgd", .loss = losses::SparseCategoricalCrossentropy(args)});
    const Tensor targets(labels, shape);
    return isBatch ? model.test_on_batch(scores, targets)["loss"]
                   : model.evaluate(scores, targets, {.verbose = 0})["loss"];
  };
  for (const bool isBatch : {false, true}) {
    CHECK(evaluated({.axis = 1}, {6, 5, 4, 3, 2, 1}, {2, 3}, isBatch) == Approx(std::log(7)));
    CHECK(evaluated({.axis = -2}, {6, 0, 0, 0, 0, 0}, {2, 3}, isBatch) == Approx(std::log(7)));
    CHECK(evaluated({.ignore_class = 9, .axis = 1}, {6, 9, 0, 0, 0, 9}, {2, 3}, isBatch) == Approx(std::log(7)));
    CHECK_THAT(errorOf([&] { (void)evaluated({.axis = 1}, {0, 0, 0, 0, 7, 0}, {2, 3}, isBatch); }),
               Contains("a label value of 7 in row 1, which is outside the valid range of [0, 7)"));
    CHECK_THAT(errorOf([&] { (void)evaluated({.ignore_class = 9, .axis = 1}, {0, 8, 0, 0, 0, 0}, {2, 3}, isBatch); }),
               Contains("a label value of 8 in row 0, which is outside the valid range of [0, 7), and ignore_class=9"));
    CHECK_THAT(errorOf([&] { (void)evaluated({}, std::vector<int32_t>(14, 3), {2, 7}, isBatch); }),
               Contains("a label value of 3 in row 0, which is outside the valid range of [0, 3)"));
  }
  Sequential shown({Input({7, 3}), Dense(3)});
  shown.compile({.optimizer = "sgd", .loss = losses::SparseCategoricalCrossentropy({.axis = 1})});
  CHECK(shown.ir(Stage::graph, {.batch_size = 2}).find("2x3xi32") !=
        std::string::npos); // labels without the axis of the loss
}

TEST_CASE("Elements of a Dataset are stacked by name, and refused unless all have the same names and counts") {
  const auto element = [](double value) { return Tensor::full({1}, value); };
  const auto batched = [](const Batch &first, const Batch &second) {
    return *batchesOf({first, second}).batch(2).begin();
  };
  const Tensors ab = {{"a", element(1)}, {"b", element(2)}}, ba = {{"b", element(4)}, {"a", element(3)}};
  const Batch batch = batched({ab, ab, ab}, {ba, ba, ba});
  for (const Tensors &part : {batch.x, batch.y, batch.sample_weight}) {
    CHECK(part["a"].to_vector<float>() == std::vector<float>{1, 3});
    CHECK(part["b"].to_vector<float>() == std::vector<float>{2, 4});
  }
  const Tensor one = element(1);
  const Tensors ac = {{"a", one}, {"c", one}};
  for (const Tensors &other : {ac, Tensors{one, one}, Tensors(one), Tensors{one, one, one}})
    CHECK_THAT(errorOf([&] { (void)batched({ab, {}, {}}, {other, {}, {}}); }), StartsWith("ValueError: "));
  CHECK_THAT(errorOf([&] { (void)batched({one, {}, {}}, {{one, one}, {}, {}}); }),
             Contains("cannot batch elements of different structures: `x`"));
}

TEST_CASE("Layers take named tensors by the names of a graph's inputs; other functions have none") {
  const Model one = net(1);
  CHECK(one(x).to_vector<float>() == std::vector<float>(4, 1));
  CHECK(one(Tensors{full(1), full(0)}).to_vector<float>() == std::vector<float>(4, 1));
  const Tensors named = {{"p", full(1)}, {"q", full(2)}};
  CHECK_THAT(errorOf([&] { (void)Concatenate()(named); }), Contains("ValueError: `inputs` names the inputs [p, q]"));
  const auto difference = jit([](const Values &v) { return v[0] - v[1]; });
  CHECK(difference({full(3), full(1)}).to_vector<float>() == std::vector<float>(4, 2));
  CHECK_THAT(errorOf([&] { (void)difference(named); }),
             Contains("ValueError: a function of Values takes tensors in order, but the call names them [p, q]"));
  const Sequential unbuilt({Dense(1)});
  CHECK_THAT(errorOf([&] { (void)unbuilt.predict({std::pair<std::string, Tensor>("p", full(1))}, {.verbose = 0}); }),
             Contains("have no names"));
}

// clang-format off: each call stands in the line of its __LINE__
TEST_CASE("A call without a function or without an input is an error where it is made") {
  const Tensor data = Tensor::ones({4, 2});
  using Function = std::function<Value(const Value &)>;
  using OfAll = std::function<Value(const Values &)>;
  struct Case {
    unsigned line; // 0: the error has none
    std::function<void()> call;
  };
  const std::vector<Case> cases = {
      {__LINE__, [] { (void)jit(Function()); }},
      {__LINE__, [] { (void)jit(OfAll()); }},
      {__LINE__, [] { (void)jit(std::function<void(const Value &)>()); }},
      {__LINE__, [] { (void)jit(static_cast<Value (*)(const Value &)>(nullptr)); }},
      {__LINE__, [] { (void)Lambda{Function()}; }},
      {__LINE__, [] { (void)Lambda{OfAll()}; }},
      {__LINE__, [] { (void)Dense(2)(Values()); }},
      {__LINE__, [] { (void)LayerNormalization().outputs(Values()); }},
      {__LINE__, [] { (void)BatchNormalization()(Values()); }},
      {__LINE__, [] { (void)Softmax()(Tensors()); }},
      {__LINE__, [&] { (void)jit([](const Value &v) { return Values(v)[1]; })(data); }},
      {0, [] { (void)Values()[0]; }},
      {0, [] { (void)Tensors()[0]; }},
      {0, [&] { (void)Dataset(data).map({}); }},
      {0, [&] { auto a = Dataset(data).begin(); auto b = std::move(a); ++a; }},
      {0, [&] { auto a = Dataset(data).begin(); auto b = std::move(a); (void)*a; }},
      {0, [&] { auto end = Dataset(data).end(); ++end; }},
      {0, [&] { (void)*Dataset(data).end(); }},
      {0, [] { (void)Dataset::iterator{std::function<std::optional<Batch>()>()}; }},
      {0, [] { (void)ActivationArg(Function()); }},
      {0, [] { (void)ops::custom_gradient(std::function<ops::WithGradient(const Values &)>()); }},
      {0, [] { (void)remat(OfAll()); }},
      {0, [] { (void)QuantizeFilter(std::function<bool(const Layer &)>()); }},
      {0, [] { (void)Loss(std::function<Value(const Value &, const Value &)>()); }},
      {0, [] { (void)Metric(std::function<Value(const Value &, const Value &)>()); }},
      {0, [] { (void)LearningRate(std::function<double(int64_t)>()); }},
      {0, [] { (void)Initializer(Initializer::Draw()); }},
  };
  for (const Case &each : cases) {
    INFO(each.line << " " << &each - cases.data());
    bool isCaught = false;
    try {
      each.call();
    } catch (const Error &error) {
      isCaught = true;
      CHECK(error.kind() == ErrorKind::value_error);
      CHECK(error.where().line == each.line);
    }
    CHECK(isCaught);
  }
}
// clang-format on
