// Every handle of the public headers after a move, and every function argument with an empty function.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <functional>

using namespace halftone;
using namespace halftone::layers;

namespace {

const Tensor x = Tensor::ones({4, 2}), y = Tensor::ones({4, 1});

Sequential net() {
  Sequential model({Input({2}), Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  return model;
}

struct Row {
  std::string name;
  std::function<void()> use;
};

/// Applies `use` to a handle after it was moved from by construction, and after it was moved from by assignment.
template <class T, class F> Row moved(std::string name, F make, std::function<void(T &)> use) {
  return {std::move(name), [make, use] {
            T from = make(), other = make();
            [[maybe_unused]] const T to = std::move(from);
            for (T *each : {&from, &other}) {
              try {
                use(*each); // NOLINT(bugprone-use-after-move): the subject of the test
              } catch (const Error &) {
              }
              T again = *each; // it can be copied, assigned to and destroyed
              again = make();
              [[maybe_unused]] const T taken = std::move(other); // NOLINT(bugprone-use-after-move)
            }
            from = make();
            use(from);
          }};
}

Logs trainWith(Callback &callback) {
  net().fit(x, y, {.epochs = 2, .verbose = 0, .callbacks = {&callback}});
  return {};
}

std::vector<Row> handles() {
  const auto value = [] { return Value(Input({2})); };
  return {
      moved<Tensor>(
          "Tensor", [] { return Tensor::ones({2}); }, [](Tensor &t) { (void)(t.str() + t.shape().str()); }),
      moved<Tensors>(
          "Tensors", [] { return Tensors(x); }, [](Tensors &t) { (void)t[0].str(); }),
      moved<Value>("Value", value, [](Value &v) { (void)(v + 1.0).shape(); }),
      moved<Values>(
          "Values", [=] { return Values(value()); }, [](Values &v) { (void)Dense(1)(v[0]); }),
      moved<Variable>(
          "Variable", [] { return Variable(x); }, [](Variable &v) { (void)v.value().str(); }),
      moved<Layer>(
          "Layer", [] { return Layer(Dense(1)); }, [](Layer &l) { (void)l(x); }),
      moved<Sequential>("Sequential", net, [](Sequential &m) { (void)m.predict(x, {.verbose = 0}); }),
      moved<Loss>(
          "Loss", [] { return Loss("mse"); }, [](Loss &l) { (void)l(y, y); }),
      moved<Metric>(
          "Metric", [] { return Metric(metrics::MeanSquaredError()); }, [](Metric &m) { m.update_state(y, y); }),
      moved<Optimizer>(
          "Optimizer", [] { return Optimizer("adam"); }, [](Optimizer &o) { (void)o.get_config(); }),
      moved<LearningRate>(
          "LearningRate", [] { return LearningRate(0.1); }, [](LearningRate &r) { (void)r.at(3); }),
      moved<Config>(
          "Config", [] { return Dense(1).get_config(); }, [](Config &c) { (void)c.dump(); }),
      moved<Dataset>(
          "Dataset", [] { return Dataset(x, y); },
          [](Dataset &d) {
            (void)d.cardinality();
            for (const Batch &batch :
                 d.batch(2).shuffle(2).take(1).prefetch(1).cache().repeat(2).map([](Batch b) { return b; }))
              (void)batch.x;
            net().fit(d.batch(2), {.verbose = 0});
          }),
      moved<Dataset::iterator>(
          "Dataset::iterator", [] { return Dataset(x).batch(2).begin(); },
          [](Dataset::iterator &i) {
            (void)(*i).x;
            ++i;
          }),
      moved<Error>(
          "Error", [] { return Error(ErrorKind::value_error, "text", "layer"); },
          [](Error &e) {
            CHECK(e.what() != nullptr);
            (void)(e.message() + e.layer_path() + e.diagnostics());
            CHECK(e.where().file != nullptr);
            (void)e.kind();
          }),
      moved<CallbackArg>(
          "CallbackArg", [] { return CallbackArg(callbacks::TerminateOnNaN()); },
          [](CallbackArg &c) { net().fit(x, y, {.verbose = 0, .callbacks = {c}}); }),
      moved<DTypePolicy>(
          "DTypePolicy", [] { return DTypePolicy("mixed_float16"); },
          [](DTypePolicy &p) { (void)(p.name() + p.get_config().dump()); }),
      moved<DTypePolicyMap>(
          "DTypePolicyMap", [] { return DTypePolicyMap({{"a", "float16"}}); },
          [](DTypePolicyMap &m) { (void)m["a"].name(); }),
      moved<PolicyArg>(
          "PolicyArg", [] { return PolicyArg("float16"); }, [](PolicyArg &p) { (void)p.get().name(); }),
      moved<ActivationArg>(
          "ActivationArg", [] { return ActivationArg("relu"); },
          [](ActivationArg &a) { (void)Dense(1, {.activation = a})(x); }),
      moved<Initializer>(
          "Initializer", [] { return Initializer("zeros"); },
          [](Initializer &i) { (void)(i.name() + i({2}, DType::float32, 1).str()); }),
      moved<Regularizer>(
          "Regularizer", [] { return Regularizer("l2"); },
          [=](Regularizer &r) { (void)(r.name() + r(value()).shape().str()); }),
      moved<Constraint>(
          "Constraint", [] { return Constraint("NonNeg"); },
          [=](Constraint &c) { (void)(c.name() + c(value()).shape().str()); }),
      moved<History>(
          "History", [] { return net().fit(x, y, {.verbose = 0}); },
          [](History &h) {
            (void)h.keys();
            (void)h.epoch();
            (void)h["loss"];
          }),
      moved<Logs>(
          "Logs", [] { return net().evaluate(x, y, {.verbose = 0}); },
          [](Logs &l) { (void)(l.str() + std::to_string(l["loss"])); }),
      moved<Shape>(
          "Shape", [] { return Shape{2, 3}; }, [](Shape &s) { (void)(s.str() + std::to_string(s.rank())); }),
      moved<Device>(
          "Device", [] { return Device::cpu(); }, [](Device &d) { (void)d.str(); }),
      moved<QuantizeFilter>(
          "QuantizeFilter", [] { return QuantizeFilter("dense"); }, [](QuantizeFilter &f) { (void)f(Dense(1)); }),
      moved<ValidationData>(
          "ValidationData", [] { return ValidationData(x, y); },
          [](ValidationData &v) { net().fit(x, y, {.verbose = 0, .validation_data = v}); }),
  };
}

std::vector<Row> callbackObjects() {
  const auto row = [](std::string name, auto make) {
    using C = decltype(make());
    return moved<C>(std::move(name), make, [](C &callback) { trainWith(callback); });
  };
  const auto folder = std::make_shared<TemporaryFolder>();
  return {
      row("EarlyStopping", [] { return callbacks::EarlyStopping({.monitor = "loss"}); }),
      row("ModelCheckpoint", [=] { return callbacks::ModelCheckpoint((folder->path / "m.safetensors").string()); }),
      row("BackupAndRestore", [=] { return callbacks::BackupAndRestore((folder->path / "backup").string()); }),
      row("CSVLogger", [=] { return callbacks::CSVLogger((folder->path / "log.csv").string()); }),
      row("TerminateOnNaN", [] { return callbacks::TerminateOnNaN(); }),
      row("LearningRateScheduler",
          [] { return callbacks::LearningRateScheduler([](int64_t, double rate) { return rate; }); }),
      row("ReduceLROnPlateau", [] { return callbacks::ReduceLROnPlateau({.monitor = "loss"}); }),
      row("LambdaCallback",
          [] { return callbacks::LambdaCallback({.on_epoch_end = [](int64_t, Logs &logs) { logs.set("a", 1); }}); }),
  };
}

} // namespace

TEST_CASE("A handle that was moved from stays whole or gives an Error, and takes a new value") {
  for (const Row &row : handles()) {
    INFO(row.name);
    CHECK_NOTHROW(row.use());
  }
}

TEST_CASE("A callback that was moved from stays whole or gives an Error, and takes a new value") {
  for (const Row &row : callbackObjects()) {
    INFO(row.name);
    CHECK_NOTHROW(row.use());
  }
}

TEST_CASE("A function of jit() that was moved from gives an Error at its call") {
  auto f = jit([](const Value &v) { return v + 1.0; });
  const auto g = std::move(f);
  CHECK(g(x).shape() == Shape{4, 2});
  CHECK_THROWS_AS(f(x), Error); // NOLINT(bugprone-use-after-move)
}

TEST_CASE("A null callback is refused before anything runs") {
  const Sequential model = net();
  callbacks::EarlyStopping *const pointer = nullptr;
  const std::shared_ptr<callbacks::EarlyStopping> shared;
  const double before = model.get_weights()[0].to_vector<float>()[0];
  for (const CallbackArg &none : {CallbackArg(pointer), CallbackArg(shared)}) {
    CHECK_THROWS_WITH(model.fit(x, y, {.verbose = 0, .callbacks = {none}}), Catch::Contains("null pointer"));
    CHECK_THROWS_AS(model.evaluate(x, y, {.verbose = 0, .callbacks = {none}}), Error);
    CHECK_THROWS_AS(model.predict(x, {.verbose = 0, .callbacks = {none}}), Error);
  }
  CHECK(model.get_weights()[0].to_vector<float>()[0] == before);
}

TEST_CASE("An empty function gives an Error where it is given") {
  using OfValue = std::function<Value(const Value &)>;
  const std::vector<Row> rows = {
      {"Lambda", [] { (void)Lambda(OfValue()); }},
      {"jit", [] { (void)jit(OfValue()); }},
      {"jit of a pointer", [] { (void)jit(static_cast<Value (*)(const Value &)>(nullptr)); }},
      {"remat", [] { (void)remat(std::function<Value(const Values &)>()); }},
      {"custom_gradient", [] { (void)ops::custom_gradient({}); }},
      {"Dataset::map", [] { (void)Dataset(x).map({}); }},
      {"Dataset::from_generator", [] { (void)Dataset::from_generator({}); }},
      {"Dataset::from_generator's epoch",
       [] { (void)Dataset::from_generator([] { return std::function<std::optional<Batch>()>(); }).begin(); }},
      {"Loss", [] { (void)Loss(std::function<Value(const Value &, const Value &)>()); }},
      {"Metric", [] { (void)Metric(std::function<Value(const Value &, const Value &)>()); }},
      {"LearningRate", [] { (void)LearningRate(std::function<double(int64_t)>()); }},
      {"LearningRateScheduler",
       [] { (void)callbacks::LearningRateScheduler(std::function<double(int64_t, double)>()); }},
      {"QuantizeFilter", [] { (void)QuantizeFilter(std::function<bool(const Layer &)>()); }},
      {"ActivationArg", [] { (void)ActivationArg(OfValue()); }},
      {"Initializer", [] { (void)Initializer(Initializer::Draw()); }},
      {"Regularizer", [] { (void)Regularizer(OfValue()); }},
      {"Constraint", [] { (void)Constraint(OfValue()); }},
      {"register_layer", [] { register_layer("Empty", {}); }},
      {"register_initializer", [] { register_initializer("Empty", {}); }},
      {"register_regularizer", [] { register_regularizer("Empty", {}); }},
      {"register_constraint", [] { register_constraint("Empty", {}); }},
      {"Values()[0]", [] { (void)Values()[0]; }},
      {"Dense of no Values", [] { (void)Dense(2)(Values()); }},
      {"Dense of no Tensors", [] { (void)Dense(2)(Tensors()); }},
      {"Tensors()[0]", [] { (void)Tensors()[0]; }},
  };
  for (const Row &row : rows) {
    INFO(row.name);
    CHECK_THROWS_AS(row.use(), Error);
  }
}
