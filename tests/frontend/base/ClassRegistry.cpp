// User-defined initializers, regularizers and constraints: in layers, in configs and in files.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

struct Ramp { // 0, step, 2 * step, ...
  double step = 1.0;
  Tensor operator()(const Shape &shape, DType dtype, int64_t) const {
    return (counted(shape) * static_cast<float>(step)).astype(dtype);
  }
  void get_config(Config &config) const { config.set("step", step); }
  static Ramp from_config(const Config &config) { return {config.get_double("step")}; }
};
struct Cubes { // factor * sum |w|^3
  double factor = 1.0;
  Value operator()(const Value &w) const { return ops::sum(ops::abs(w * w * w)) * factor; }
  void get_config(Config &config) const { config.set("factor", factor); }
  static Cubes from_config(const Config &config) { return {config.get_double("factor")}; }
};
struct AtMost {
  double limit = 1.0;
  Value operator()(const Value &w) const { return ops::minimum(w, ops::full_like(w, limit)); }
  void get_config(Config &config) const { config.set("limit", limit); }
  static AtMost from_config(const Config &config) { return {config.get_double("limit")}; }
};
struct Forgotten { // never registered
  Value operator()(const Value &w) const { return w; }
  void get_config(Config &) const {}
};

layers::Dense customDense() {
  return layers::Dense(
      2, {.kernel_initializer = Ramp{0.5}, .kernel_regularizer = Cubes{0.25}, .kernel_constraint = AtMost{1.5}});
}

} // namespace

TEST_CASE("Layers take users' initializers, regularizers and constraints") {
  Sequential model({Input({3}), customDense()});
  CHECK(numbers(model.weights()[0]) == std::vector<double>{0, 0.5, 1, 1.5, 2, 2.5});
  model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse"});
  const Tensor x = Tensor::zeros({1, 3}), y = Tensor::zeros({1, 2});
  const Logs logs = model.train_on_batch(x, y);
  CHECK(near({logs["loss"]}, {0.25 * (0.125 + 1 + 3.375 + 8 + 15.625)}));
  CHECK(numbers(model.weights()[0]) == std::vector<double>{0, 0.5, 1, 1.5, 1.5, 1.5});
}

TEST_CASE("A registered class of the user's is in configs and files as Keras names it") {
  register_initializer<Ramp>("mine");
  register_regularizer<Cubes>("mine");
  register_constraint<AtMost>("mine");
  CHECK(initializers::serialize(Ramp{2.0}).dump() ==
        R"({"module":null,"class_name":"Ramp","config":{"step":2.0},"registered_name":"mine>Ramp"})");
  Sequential model({Input({3}), customDense()});
  const Sequential before = model;
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const TemporaryFolder folder;
  model.save(folder / "custom.keras");
  const Model loaded = load_model(folder / "custom.keras");
  CHECK(loaded.to_json() == model.to_json());
  CHECK(numbers(loaded.weights()[0]) == numbers(model.weights()[0]));
  const Tensor x = counted({4, 3}), y = Tensor::zeros({4, 2});
  CHECK(loaded.train_on_batch(x, y)["loss"] == model.train_on_batch(x, y)["loss"]);
  CHECK(numbers(loaded.weights()[0]) == numbers(model.weights()[0]));
  CHECK(numbers(clone_model(model).weights()[0]) == std::vector<double>{0, 0.5, 1, 1.5, 2, 2.5});
}

TEST_CASE("Classes that are not registered, and functions, cannot be saved") {
  CHECK_THAT(errorOf([] { (void)constraints::serialize(Forgotten{}); }),
             Contains("ValueError: No config can hold a constraint of class Forgotten: register it with "
                      "register_constraint<Forgotten>(\"package\")"));
  CHECK_THAT(errorOf([] { (void)regularizers::serialize([](const Value &w) { return ops::sum(w); }); }),
             Contains("ValueError: A regularizer that is a function cannot be saved"));
  const Initializer ones([](const Shape &shape, DType dtype, int64_t) { return Tensor::full(shape, 1, dtype); });
  CHECK(ones.name() == "function");
  CHECK_THAT(errorOf([&] { (void)ones.get_config(); }),
             Contains("ValueError: An initializer that is a function cannot be saved"));
  const Config unknown =
      Config::parse(R"({"module":null,"class_name":"Spiral","config":{},"registered_name":"theirs>Spiral"})");
  CHECK_THAT(errorOf([&] { (void)initializers::deserialize(unknown); }),
             Contains("Could not locate class 'Spiral', which a user registered in Python as 'theirs>Spiral'") &&
                 Contains("register_initializer<Spiral>(\"theirs\")"));
}

TEST_CASE("Names of registered classes have one package or none") {
  const auto make = [](const Config &) { return Regularizer("l2"); };
  for (const char *name : {"", ">Lone", "first>"})
    CHECK_THAT(errorOf([&] { register_regularizer(name, make); }),
               Contains(std::string("\"package>Class\" or \"Class\". Received: registered_name=") + name));
  register_regularizer("Lone", make);
  register_regularizer("first>Lone", make);
  register_regularizer("first>Lone", make); // registering again is not an error
  CHECK_THAT(errorOf([&] { register_regularizer("second>Lone", make); }),
             Contains("The class 'Lone' is already registered as 'first>Lone'"));
  CHECK_THAT(errorOf([] { register_constraint("first>Empty", {}); }),
             Contains("needs a function that creates the constraint"));
}

namespace {
Value halves(const Value &t, const Value &p) { return ops::mean(ops::abs(t - p), -1) * 0.5; }
} // namespace

TEST_CASE("A function is a metric of compile() and of files after its name is registered") {
  const std::string error = errorOf([] { Metric("halves"); });
  CHECK_THAT(error, Contains("ValueError: Could not interpret metric identifier: halves. Known: accuracy, ") &&
                        Contains("register_metric(\"halves\", [](const Config &) { return Metric(halves); })"));
  CHECK_THAT(errorOf([] { register_metric("halves", {}); }), Contains("needs a function that creates the metric"));
  CHECK_THAT(errorOf([] { register_metric("mine>", [](const Config &) { return Metric("mae"); }); }),
             Contains("of the kind metric is registered as"));
  for (const char *name : {"mae", "accuracy", "mean_squared_error"})
    CHECK_THAT(errorOf([name] { register_metric(name, [](const Config &) { return Metric(halves); }); }),
               Contains("ValueError") && Contains("is the name of a built-in metric: register yours as \"package>"));
  register_metric("halves", [](const Config &) { return Metric(halves); });
  const Tensor t({0, 1}, {2, 1}), p({1, 2}, {2, 1});
  const Sequential model({Input({1}), layers::Activation("linear")});
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"halves"}, .weighted_metrics = {"halves"}});
  CHECK(model.test_on_batch(p, t)["halves"] == 0.5);
  const TemporaryFolder folder;
  model.save(folder / "named.keras");
  const Logs logs = load_model(folder / "named.keras").test_on_batch(p, t, {.sample_weight = Tensor({1, 3}, {2})});
  CHECK(logs["halves"] == 0.5);
  CHECK(logs["weighted_halves"] == 0.5);
  register_metric("mine>quarters", [](const Config &) {
    return Metric([](const Value &a, const Value &b) { return halves(a, b) * 0.5; });
  });
  for (const char *name : {"quarters", "mine>quarters"}) {
    const Metric quarters(name);
    CHECK(quarters.name() == "quarters");
    quarters.update_state(t, p);
    CHECK(quarters.result() == 0.25);
  }
  // A class under a name other than its C++ name, made from all of its config.
  register_metric("mine>Shares", [](const Config &config) {
    const double factor = config.get_double("factor");
    return Metric([factor](const Value &a, const Value &b) { return ops::abs(a - b) * factor; });
  });
  const Config shares = Config::parse(
      R"({"module":null,"class_name":"Shares","config":{"name":"s","dtype":"float16","factor":4.0},"registered_name":"mine>Shares"})");
  const Metric metric = metrics::deserialize(shares);
  CHECK(metric.name() == "s");
  CHECK(metric.dtype() == float16);
  metric.update_state(t, p);
  CHECK(metric.result() == 4.0);
  CHECK(metrics::serialize(metric).dump() == shares.dump());
  register_metric("mine>Chooses", [](const Config &) { return Metric("accuracy"); });
  CHECK_THAT(errorOf([&] {
               (void)metrics::deserialize(Config::parse(
                   R"({"module":null,"class_name":"Chooses","config":{},"registered_name":"mine>Chooses"})"));
             }),
             Contains("ValueError: a registered function returned the metric 'accuracy', whose kind only compile()"));
  CHECK_THAT(errorOf([&] {
               (void)metrics::deserialize(
                   Config::parse(R"({"module":null,"class_name":"Gone","config":{},"registered_name":"theirs>Gone"})"));
             }),
             Contains("Could not locate class 'Gone', which a user registered in Python as 'theirs>Gone'. Before "
                      "loading, register a struct Gone with update_state() and a static from_config(): "
                      "register_metric<Gone>(\"theirs\"). Registered: ["));
}

TEST_CASE("An initializer of the user's must give the shape and the dtype") {
  const Initializer wrong([](const Shape &, DType, int64_t) { return Tensor::zeros({1}); });
  CHECK_THAT(errorOf([&] { (void)wrong(Shape{2}, float32, 0); }),
             Contains("must give a tensor of shape (2,) and dtype float32. Received: shape (1,) and dtype float32"));
}
