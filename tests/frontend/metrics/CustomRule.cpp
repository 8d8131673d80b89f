// Metrics that are user-defined structs: state, weights, masks, results, and what they reject.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/metrics/CustomRule.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

/// The fraction of negative targets whose predictions are below the threshold.
struct Specificity {
  double threshold = 0.5;
  Variable negatives{}, found{};
  void build(MetricContext &m) {
    negatives = m.add_variable({.name = "negatives"});
    found = m.add_variable({.name = "found"});
  }
  void update_state(const Value &y_true, const Value &y_pred) const {
    const Value negative = y_true == 0;
    negatives.assign_add(ops::sum(ops::cast(negative, float32)));
    found.assign_add(ops::sum(ops::cast(negative & (y_pred < threshold), float32)));
  }
  Value result() const { return ops::divide_no_nan(found, negatives); }
  void get_config(Config &c) const { c.set("threshold", threshold); }
  static Specificity from_config(const Config &c) { return {.threshold = c.get_double("threshold")}; }
};
/// The weighted sum of predictions, and its initial value.
struct Weighed {
  Variable total{};
  void build(MetricContext &m) { total = m.add_variable({.initializer = initializers::Constant(2.5)}); }
  void update_state(const Value &, const Value &p, const Value &w) const {
    total.assign_add(ops::sum(w.defined() ? ops::reshape(p, {p.shape().elements()}) *
                                                ops::cast(ops::reshape(w, {w.shape().elements()}), p.dtype())
                                          : p));
  }
  Value result() const { return total; }
};
/// Any result, with any variable.
struct Odd {
  MetricVariableArgs variable{};
  std::function<void(const Variable &, const Value &)> update{};
  std::function<Value(const Variable &)> give{};
  Variable state{};
  void build(MetricContext &m) { state = m.add_variable(variable); }
  void update_state(const Value &, const Value &p) const {
    if (update)
      update(state, p);
  }
  Value result() const { return give ? give(state) : Value(state); }
};

const Tensor someTrue({0, 0, 1, 0, 1, 0}, {6, 1}), somePredicted({.25, .75, .75, .625, .125, .375}, {6, 1});

/// A model whose prediction is its input.
Sequential identity(const Shape &sample = {1}) { return Sequential({Input(sample), Activation("linear")}); }
void compileWith(const Model &model, const MetricSpec &metrics, const MetricSpec &weighted = {}) {
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = metrics, .weighted_metrics = weighted});
}

} // namespace

TEST_CASE("A struct is a metric: on data, in evaluate(), and beside others") {
  const Metric metric(Specificity{});
  CHECK(metric.name() == "specificity");
  CHECK(metric.variables()[1].path() == "specificity/found");
  CHECK(metric.result() == 0.0);
  metric.update_state(someTrue, somePredicted);
  CHECK(metric.result() == 0.5);
  metric.update_state(Tensor({0, 0}, {2, 1}), Tensor({0, 0}, {2, 1}));
  CHECK(near({metric.result()}, {4.0 / 6}));
  metric.reset_state();
  CHECK(metric.result() == 0.0);

  const Sequential model = identity();
  compileWith(model, {"accuracy", Specificity{}, Metric(Specificity{.threshold = 0.7}, {.name = "strict"})});
  for (int again = 0; again < 2; ++again) { // each evaluation starts over
    const Logs logs = model.evaluate(somePredicted, someTrue, {.batch_size = 4, .verbose = 0});
    CHECK(logs["specificity"] == 0.5);
    CHECK(logs["strict"] == 0.75);
    CHECK(logs["accuracy"] == 0.5);
  }
}

TEST_CASE("fit() has a struct's result of each epoch, and of the validation data") {
  const Sequential model({Input({1}), Dense(1, {.use_bias = false, .kernel_initializer = "ones"})});
  model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse", .metrics = {Specificity{}}});
  const History history = model.fit(someTrue, somePredicted,
                                    {.batch_size = 4,
                                     .epochs = 2,
                                     .verbose = 0,
                                     .validation_data = {Tensor({0, 0}, {2, 1}), Tensor({.25, .75}, {2, 1})},
                                     .shuffle = false});
  CHECK(history["specificity"].size() == 2);
  CHECK(history["specificity"] == std::vector<double>{0.0, 0.0}); // targets are the predictions of someTrue; none is 0
  CHECK(history["val_specificity"] == std::vector<double>{0.0, 0.0});
  const Sequential same = identity();
  compileWith(same, {Specificity{}});
  CHECK(same.test_on_batch(somePredicted, someTrue)["specificity"] == 0.5);
}

TEST_CASE("Each object, each output and each place in compile() has a state of its own") {
  const Input x({1});
  const Value a = Activation("linear", {.name = "a"})(x), b = Rescaling(0.5, 0.0, {.name = "b"})(x);
  const Model model(x, {a, b});
  const Metric given(Specificity{});
  const std::vector<Metric> twice{given, given};
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = MetricSpec({{"a", twice}, {"b", {given}}})});
  const Logs logs = model.evaluate(somePredicted, Tensors{someTrue, someTrue}, {.batch_size = 4, .verbose = 0});
  CHECK(logs["a_specificity"] == 0.5);
  CHECK(logs["a_specificity_1"] == 0.5);
  CHECK(logs["b_specificity"] == 1.0);
  CHECK(given.result() == 0.5); // the object has the state of its first use
  const Metric other = given;
  other.reset_state(); // copies share the state
  CHECK(given.result() == 0.0);
  CHECK(Metric(Specificity{}).variables()[0].impl() != given.variables()[0].impl());
}

TEST_CASE("A state begins with the values of its initializers, after a reset and in each run") {
  const Metric metric(Weighed{});
  CHECK(metric.name() == "weighed");
  CHECK(metric.variables()[0].name() == "variable_0");
  CHECK(metric.result() == 2.5);
  metric.update_state(someTrue, somePredicted);
  CHECK(metric.result() == 2.5 + 2.875);
  metric.reset_state();
  CHECK(metric.result() == 2.5);
  const Odd random{.variable = {.shape = {3}, .initializer = "random_normal"},
                   .give = [](const Variable &v) { return ops::sum(v); }};
  CHECK(Metric(random).result() == Metric(random).result()); // as in each process of a distributed run
  CHECK(Metric(random).result() != 0.0);
  const Sequential model = identity();
  compileWith(model, {Weighed{}});
  for (int again = 0; again < 2; ++again)
    CHECK(model.evaluate(somePredicted, someTrue, {.batch_size = 4, .verbose = 0})["weighed"] == 5.375);
  const Metric whole(
      Odd{.variable = {.shape = {2, 2}, .initializer = "ones", .dtype = int32, .name = "all"},
          .update = [](const Variable &v, const Value &p) { v.assign(v + ops::cast(ops::sum(p), int32)); },
          .give = [](const Variable &v) { return ops::sum(v); }});
  CHECK(whole.variables()[0].dtype() == int32);
  whole.update_state(someTrue, counted({3}));
  CHECK(whole.result() == 16.0);
  whole.reset_state();
  CHECK(whole.result() == 4.0);
}

TEST_CASE("An evaluation in another one's callback begins with the values of initializers, if it is the first to see a "
          "batch") {
  const Sequential model = identity();
  compileWith(model, {Weighed{}});
  const Dataset data = Dataset(somePredicted, someTrue).batch(4);
  double within = 0;
  callbacks::LambdaCallback begin(
      {.on_test_begin = [&](const Logs &) { within = model.evaluate(data, {.verbose = 0})["weighed"]; }});
  CHECK(model.evaluate(data, {.verbose = 0, .callbacks = {begin}})["weighed"] == 5.375);
  CHECK(within == 5.375);
}

TEST_CASE("sample_weight and masks reach a struct that takes them") {
  const Sequential model = identity();
  compileWith(model, {}, {Weighed{}});
  const Tensor weight({2, 0, 0, 0, 0, 4}, {6});
  CHECK(model.test_on_batch(somePredicted, someTrue, {.sample_weight = weight})["weighed"] == 2.5 + 0.5 + 1.5);
  CHECK(model.test_on_batch(somePredicted, someTrue)["weighed"] == 5.375);
  const Metric metric(Weighed{});
  metric.update_state(someTrue, somePredicted, weight);
  CHECK(metric.result() == 4.5);
  const Input steps({3, 1});
  const Model masked(steps, {Masking(0.0)(steps)});
  compileWith(masked, {}, {Weighed{}});
  const Tensor x({1, 0, 2, 0, 4, 0}, {2, 3, 1});
  CHECK(masked.test_on_batch(x, x, {.sample_weight = Tensor({1, 2, 4, 8, 16, 32}, {2, 3})})["weighed"] ==
        2.5 + 1 + 8 + 64);

  compileWith(model, {}, {Specificity{}});
  CHECK(model.test_on_batch(somePredicted, someTrue)["specificity"] == 0.5);
  CHECK_THAT(errorOf([&] { model.test_on_batch(somePredicted, someTrue, {.sample_weight = weight}); }),
             Contains("ValueError: ") && Contains("update_state(y_true, y_pred) takes none") &&
                 Contains("metric 'specificity'"));
  compileWith(model, {Specificity{}});
  CHECK(model.test_on_batch(somePredicted, someTrue, {.sample_weight = weight})["specificity"] == 0.5);
  CHECK_THAT(errorOf([&] { Metric(Specificity{}).update_state(someTrue, somePredicted, weight); }),
             Contains("ValueError: ") && Contains("takes none"));
}

TEST_CASE("The state has the metric's dtype, and a result is of its own dtype") {
  const Metric half(Weighed{}, {.dtype = DTypePolicy("mixed_float16")});
  CHECK(half.dtype() == float16);
  CHECK(half.variables()[0].dtype() == float16);
  half.update_state(someTrue, Tensor::full({1}, 65504.0)); // 65506.5 rounds to 65504
  CHECK(half.result() == 65504.0);
  half.update_state(someTrue, Tensor::full({1}, 65504.0));
  CHECK(std::isinf(half.result()));
  const PolicyScope scope("mixed_bfloat16");
  CHECK(Metric(Weighed{}).variables()[0].dtype() == float32); // floatx, not the dtype of the policy
  const Metric third(Odd{.variable = {.dtype = float64}, .give = [](const Variable &v) { return (v + 1.0) / 3.0; }},
                     {.dtype = "bfloat16"});
  CHECK(third.result() == 1.0 / 3.0);
  CHECK_THAT(errorOf([] { Metric(Weighed{}, {.dtype = "int32"}); }),
             Contains("ValueError: `weighed` requires a float"));
}

TEST_CASE("A result is a scalar of the metric's own variables") {
  const Variable stranger(Tensor::full({}, 1.0), {.name = "stranger"});
  const auto made = [](std::function<Value(const Variable &)> give, const Shape &shape = {}) {
    return errorOf([&] { Metric(Odd{.variable = {.shape = shape}, .give = give}); });
  };
  CHECK_THAT(made([](const Variable &v) { return Value(v); }, {1}),
             Equals("ValueError: result() of metric 'odd' returned the shape (1,): it must be a scalar, of shape ()"));
  CHECK_THAT(made([](const Variable &) { return Value(); }), Contains("returned an undefined Value"));
  CHECK_THAT(made([&](const Variable &) { return Value(stranger); }),
             Contains("ValueError: result() of metric 'odd' reads 'stranger', which its build() has not added"));
  CHECK_THAT(made([](const Variable &v) {
               v.assign_add(1.0);
               return Value(v);
             }),
             Contains("ValueError: result() of metric 'odd' assigns the variable 'odd/variable_0'"));
  CHECK_THAT(made([](const Variable &v) { return Value(v); }, {-1}), Contains("every dimension must be known"));
  const Metric wholeNumber(Odd{.variable = {.dtype = int32}});
  CHECK(wholeNumber.result() == 0.0);
  const Metric big(Odd{.give = [](const Variable &) { return ops::sum(constant(counted({100}))); }});
  CHECK(big.result() == 4950.0);
  CHECK_THAT(errorOf([] { Metric(Odd{.variable = {.initializer = initializers::Constant(1.0), .name = "\xff"}}); }),
             Contains("ValueError: "));
}

namespace {
struct Stateless { // its result never changes
  void build(MetricContext &) {}
  void update_state(const Value &, const Value &) {}
  Value result() const { return ops::full({}, 0.75); }
};
} // namespace

TEST_CASE("A metric without variables has the same result always") {
  const Metric metric(Stateless{});
  CHECK(metric.variables().empty());
  CHECK(metric.result() == 0.75);
  metric.update_state(someTrue, somePredicted);
  metric.reset_state();
  CHECK(metric.result() == 0.75);
  const Sequential model = identity();
  compileWith(model, {Stateless{}});
  CHECK(model.test_on_batch(somePredicted, someTrue)["stateless"] == 0.75);
}

TEST_CASE("An update that fails changes nothing, and other shapes work afterwards") {
  bool fails = true;
  const Metric metric(Odd{.update = [&](const Variable &v, const Value &p) {
    v.assign_add(ops::sum(p));
    if (fails)
      throw Error(ErrorKind::value_error, "not today");
  }});
  CHECK_THAT(errorOf([&] { metric.update_state(someTrue, somePredicted); }), Equals("ValueError: not today"));
  CHECK(metric.result() == 0.0);
  fails = false;
  metric.update_state(someTrue, somePredicted);
  CHECK(metric.result() == 2.875);
  const Metric wrong(Odd{.update = [](const Variable &v, const Value &p) { v.assign(p); }});
  CHECK_THAT(errorOf([&] { wrong.update_state(someTrue, somePredicted); }),
             Contains("ValueError: The shape of the target variable") && Contains("odd/variable_0"));
  CHECK(wrong.result() == 0.0);
  wrong.update_state(someTrue, Tensor::full({}, 3.0));
  CHECK(wrong.result() == 3.0);
  const metrics::F1Score score; // its state is created from the first shapes
  CHECK_THAT(errorOf([&] { score.update_state(Tensor::zeros({2, 3}), Tensor::zeros({4, 3})); }),
             Contains("ValueError"));
  CHECK(score.variables().empty());
  score.update_state(Tensor::ones({2, 2}), Tensor::ones({2, 2}));
  CHECK(score.results().size() == 2);
  const Sequential model = identity();
  compileWith(model, {Odd{.update = [](const Variable &, const Value &) {
                throw Error(ErrorKind::value_error, "not in a step");
              }}});
  CHECK_THAT(errorOf([&] { model.test_on_batch(somePredicted, someTrue); }), Contains("not in a step"));
}

TEST_CASE("Metrics count inside of jit, and are read outside") {
  const Metric own(Specificity{}), f1 = metrics::F1Score(), mse("mse");
  const metrics::Mean mean;
  const metrics::Sum sum;
  const auto step = jit([&](const Value &t, const Value &p) {
    own.update_state(t, p);
    f1.update_state(t, p);
    mse.update_state(t, p, ops::ones_like(p));
    mean.update_state(p);
    sum.update_state(p, t);
    return ops::sum(p);
  });
  for (int again = 0; again < 2; ++again)
    (void)step(someTrue, somePredicted);
  CHECK(own.result() == 0.5);
  CHECK(near({mean.result()}, {2.875 / 6}));
  CHECK(sum.result() == 2 * 0.875);
  CHECK(mse.result() > 0.0);
  CHECK(f1.variables()[0].shape() == Shape{1});
  CHECK_THAT(errorOf([&] {
               const auto wrong = jit([&](const Value &p) {
                 Metric("accuracy").update_state(p, p);
                 return p;
               });
               (void)wrong(somePredicted);
             }),
             Contains("has no kind until `compile()`"));
  CHECK_THAT(errorOf([&] {
               const auto wrong = jit([&](const Value &p) {
                 own.update_state(Value(), p);
                 return p;
               });
               (void)wrong(somePredicted);
             }),
             Contains("ValueError: metric 'specificity' was given an undefined Value"));
}

TEST_CASE("A run inside of another one has a struct's state of its own") {
  const Sequential model = identity();
  compileWith(model, {Weighed{}});
  struct Nested : Callback {
    explicit Nested(const Model &m) : watched(m) {}
    void on_test_batch_end(int64_t batch, const Logs &) override {
      if (batch == 0 && inner.empty()) {
        inner.push_back(0.0);
        inner[0] = watched.evaluate(somePredicted, someTrue, {.batch_size = 3, .verbose = 0})["weighed"];
      }
    }
    Model watched;
    std::vector<double> inner;
  };
  const auto nested = std::make_shared<Nested>(model);
  const Logs outer = model.evaluate(somePredicted, someTrue, {.batch_size = 2, .verbose = 0, .callbacks = {nested}});
  CHECK(nested->inner == std::vector<double>{5.375});
  CHECK(outer["weighed"] == 5.375);
}

TEST_CASE("A callback that watches a struct is told whether more is better") {
  const Sequential model({Input({1}), Dense(1)});
  model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse", .metrics = {Specificity{}}});
  const auto fit = [&](MonitorMode mode) {
    return model.fit(
        someTrue, somePredicted,
        {.epochs = 5, .verbose = 0, .callbacks = {callbacks::EarlyStopping({.monitor = "specificity", .mode = mode})}});
  };
  CHECK(fit(MonitorMode::max)["specificity"].size() < 5);
  CHECK_THAT(errorOf([&] { fit(MonitorMode::automatic); }), Contains("ValueError: ") && Contains("specificity"));
}

TEST_CASE("A registered struct is in configs and files, and comes back with its name, dtype and arguments") {
  struct Kept : Specificity {
    static Kept from_config(const Config &c) { return {Specificity::from_config(c)}; }
  };
  const Metric metric(Kept{{.threshold = 0.7}}, {.name = "kept", .dtype = "float16"});
  CHECK_THAT(errorOf([&] { (void)metrics::serialize(metric); }),
             Equals("ValueError: No config can hold a metric of class Kept: register it with "
                    "register_metric<Kept>(\"package\")"));
  register_metric<Kept>();
  CHECK_THAT(metrics::serialize(metric).dump(), Contains(R"("registered_name":"Kept")"));
  register_metric<Kept>("mine");
  CHECK(metrics::serialize(metric).dump() == R"({"module":null,"class_name":"Kept","config":{"name":"kept",)"
                                             R"("dtype":"float16","threshold":0.7},"registered_name":"mine>Kept"})");
  const Metric again = metrics::deserialize(metrics::serialize(metric));
  CHECK(metrics::serialize(again).dump() == metrics::serialize(metric).dump());
  CHECK(again.dtype() == float16);
  const Sequential model = identity();
  compileWith(model, {metric, "mae"}, {Kept{}});
  const TemporaryFolder folder;
  model.save(folder / "kept.keras");
  const Model loaded = load_model(folder / "kept.keras");
  const Logs logs = loaded.test_on_batch(somePredicted, someTrue);
  CHECK(logs["kept"] == 0.75);
  CHECK(logs["weighted_kept"] == 0.5);
  Checkpoint(model).save(folder / "kept.ckpt");
  Checkpoint(loaded).restore(folder / "kept.ckpt");
  CHECK(loaded.test_on_batch(somePredicted, someTrue)["kept"] == 0.75);
}

namespace {

/// A metric of random variables, each of which adds, subtracts or keeps an extreme of the batch; and the same computed
/// by hand.
struct Drawn {
  struct Part {
    Shape shape;
    DType dtype;
    double initial;
    int way; // 0: add, 1: subtract, 2: the largest, 3: add the weighted sum
  };
  std::vector<Part> parts;
  double factor = 1.0;
  std::vector<Variable> state{};
  void build(MetricContext &m) {
    for (const Part &part : parts)
      state.push_back(m.add_variable(
          {.shape = part.shape, .initializer = initializers::Constant(part.initial), .dtype = part.dtype}));
  }
  /// The contribution of the batch to part i, as a scalar.
  Value amount(size_t i, const Value &y, const Value &p, const Value &w) const {
    const Value each = static_cast<double>(i + 1) * ops::cast(y, float32) + ops::cast(p, float32);
    if (parts[i].way == 2)
      return ops::max(each);
    return ops::sum(parts[i].way == 3 && w.defined() ? each * ops::reshape(ops::cast(w, float32), {-1, 1}) : each);
  }
  static Value next(int way, const Value &old, const Value &amount) {
    const Value in = ops::cast(amount, old.dtype());
    return way == 1 ? old - in : way == 2 ? ops::maximum(old, in) : old + in;
  }
  void update_state(const Value &y, const Value &p, const Value &w) {
    for (size_t i = 0; i < parts.size(); ++i) {
      const Value given = amount(i, y, p, w), in = ops::cast(given, parts[i].dtype);
      if (parts[i].way == 1)
        state[i].assign_sub(in);
      else if (parts[i].way == 2)
        state[i].assign(next(2, state[i], given));
      else
        state[i].assign_add(in);
    }
  }
  Value total(const std::vector<Value> &values) const {
    Value sum = ops::full({}, 0.25, float32);
    for (const Value &value : values)
      sum = sum + ops::cast(ops::sum(value), float32);
    return sum * factor;
  }
  Value result() const { return total({state.begin(), state.end()}); }
};

} // namespace

TEST_CASE("Random structs have the results that the same formulas give by hand, in every call") {
  std::mt19937 random(31);
  const auto pick = [&](auto... values) {
    const std::vector<std::common_type_t<decltype(values)...>> all{values...};
    return all[random() % all.size()];
  };
  for (int trial = 0; trial < 8; ++trial) {
    Drawn drawn{.parts = {}, .factor = pick(1.0, -0.5, 2.0)};
    for (size_t i = random() % 4; i > 0; --i)
      drawn.parts.push_back({pick(Shape{}, Shape{1}, Shape{2, 3}, Shape{0}),
                             pick(float32, float16, bfloat16, int32, float64), pick(0.0, 3.0, -2.0),
                             static_cast<int>(random() % 4)});
    const int64_t rows = 1 + static_cast<int64_t>(random() % 9), batch = 1 + static_cast<int64_t>(random() % 5);
    const bool isWeighted = random() % 2 == 0;
    std::vector<float> x, y, w;
    for (int64_t i = 0; i < rows; ++i) {
      x.push_back(static_cast<float>(static_cast<int>(random() % 17) - 8) / 4);
      y.push_back(static_cast<float>(static_cast<int>(random() % 17) - 8) / 4);
      w.push_back(static_cast<float>(random() % 5) / 2);
    }
    const Tensor inputs(x, {rows, 1}), targets(y, {rows, 1}), weights(w, {rows});
    INFO("trial " << trial << ", " << drawn.parts.size() << " parts, " << rows << " rows by " << batch);
    std::vector<Tensor> values;
    for (const Drawn::Part &part : drawn.parts)
      values.push_back(Tensor::full(part.shape, part.initial, part.dtype));
    for (int64_t begin = 0; begin < rows; begin += batch) {
      const int64_t end = std::min(begin + batch, rows);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = runOnce(Run::interpreted,
                            {values[i], targets.slice(begin, end), inputs.slice(begin, end), weights.slice(begin, end)},
                            [&](const std::vector<Value> &v) {
                              const Value given = drawn.amount(i, v[1], v[2], isWeighted ? v[3] : Value());
                              return std::vector<Value>{Drawn::next(drawn.parts[i].way, v[0], given)};
                            })[0];
    }
    const double expected = numbers(runOnce(Run::interpreted, values, [&](const std::vector<Value> &v) {
      return std::vector<Value>{drawn.total(v)};
    })[0])[0];

    const Sequential model = identity();
    const Metric given(drawn);
    compileWith(model, isWeighted ? MetricSpec{} : MetricSpec{given}, isWeighted ? MetricSpec{given} : MetricSpec{});
    const Tensors weight = isWeighted ? Tensors(weights) : Tensors{};
    CHECK(near({model.evaluate(inputs, targets, {.batch_size = batch, .verbose = 0, .sample_weight = weight})["drawn"]},
               {expected}, 1e-5));
    const History history = model.fit(
        inputs, targets, {.batch_size = batch, .epochs = 2, .verbose = 0, .shuffle = false, .sample_weight = weight});
    CHECK(near(history["drawn"], {expected, expected}, 1e-5));
    CHECK(near({given.result()}, {expected}, 1e-5));
    const Metric other(drawn); // as a separate function
    for (int64_t begin = 0; begin < rows; begin += batch) {
      const int64_t end = std::min(begin + batch, rows);
      other.update_state(targets.slice(begin, end), inputs.slice(begin, end),
                         isWeighted ? weights.slice(begin, end) : Tensor());
    }
    CHECK(near({other.result()}, {expected}, 1e-5));
    other.reset_state();
    CHECK(near({other.result()}, {Metric(drawn).result()}, 0.0));
  }
}
