// Arguments have effects: results or reports differ with each field, unless other tests check the field more closely.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;

namespace {

using Numbers = std::vector<double>;

Tensor ramp(const Shape &shape, double step = 0.05) {
  std::vector<float> data(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(static_cast<double>((i * 29) % 37) * step - 0.9);
  return Tensor(std::move(data), shape);
}
Numbers numbersOf(const std::vector<Tensor> &tensors) {
  Numbers all;
  for (const Tensor &tensor : tensors)
    for (double number : tensor.astype(float64).to_vector<double>())
      all.push_back(number);
  return all;
}

std::string letter(const char *moment, int64_t number) { return moment + std::to_string(number); }

/// The weights after one interpreted epoch of five steps; with the optimizer's slots if `withSlots`.
Numbers trainedBy(const Optimizer &optimizer, bool withSlots = false) {
  Sequential model({Input({4}), Dense(3)});
  model.set_weights({ramp({4, 3}), ramp({3}, 0.3)});
  model.compile({.optimizer = optimizer, .loss = "mse", .run_eagerly = true});
  model.fit(ramp({20, 4}), ramp({20, 3}, 0.09), {.batch_size = 4, .verbose = 0, .shuffle = false});
  std::vector<Tensor> all = model.get_weights();
  for (const Variable &variable : withSlots ? optimizer.variables() : std::vector<Variable>())
    all.push_back(variable.value());
  return numbersOf(all);
}
template <class Class, class Args, class Set> bool acts(Set set, const Args &base = {}) {
  Args changed = base;
  set(changed);
  return trainedBy(Class(0.05, base)) != trainedBy(Class(0.05, changed));
}

template <class Class, class Args> void checkShared() {
  INFO(Class(0.05, Args{}).get_config().dump());
  CHECK(acts<Class, Args>([](Args &a) { a.weight_decay = 0.1; }));
  CHECK(acts<Class, Args>([](Args &a) { a.loss_scale_factor = 3e38; })); // divided out again, but inf stays inf
  Args clipped, byValue, byAll;
  clipped.clipnorm = 0.01;
  byValue.clipvalue = 0.01;
  byAll.global_clipnorm = 0.01;
  const Numbers plain = trainedBy(Class(0.05, Args{})), one = trainedBy(Class(0.05, clipped), true);
  CHECK(trainedBy(Class(0.05, byValue), true) != one); // the steps of Lion are equal, its momenta are not
  CHECK(trainedBy(Class(0.05, byAll), true) != one);
  Args averaged;
  averaged.use_ema = true;
  averaged.ema_momentum = 0.5;
  CHECK(trainedBy(Class(0.05, averaged)) != plain);
  CHECK(acts<Class, Args>([](Args &a) { a.ema_momentum = 0.9; }, averaged));
  CHECK(acts<Class, Args>([](Args &a) { a.ema_overwrite_frequency = 2; }, averaged));
  CHECK(acts<Class, Args>([](Args &a) { a.gradient_accumulation_steps = 2; }));
  Args named;
  named.name = "mine";
  CHECK(Class(0.05, named).name() == "mine");
  CHECK(Class(0.05, named).variables()[0].path() == "mine/iteration");
}

} // namespace

TEST_CASE("every optimizer has the arguments that all share") {
  using namespace optimizers;
  checkShared<SGD, SGDArgs>();
  checkShared<Adam, AdamArgs>();
  checkShared<AdamW, AdamWArgs>();
  checkShared<RMSprop, RMSpropArgs>();
  checkShared<Lion, LionArgs>();
  checkShared<Adagrad, AdagradArgs>();
  checkShared<Adadelta, AdadeltaArgs>();
  checkShared<Adamax, AdamaxArgs>();
  checkShared<Nadam, NadamArgs>();
  checkShared<Adafactor, AdafactorArgs>();
  checkShared<Ftrl, FtrlArgs>();
  checkShared<Lamb, LambArgs>();
  checkShared<Muon, MuonArgs>();
  checkShared<ScheduleFreeAdamW, ScheduleFreeAdamWArgs>();
}

TEST_CASE("each optimizer's own arguments act") {
  using namespace optimizers;
  CHECK(acts<SGD, SGDArgs>([](auto &a) { a.momentum = 0.5; }));
  CHECK(acts<SGD, SGDArgs>([](auto &a) { a.nesterov = true; }, {.momentum = 0.5}));
  CHECK(acts<Adam, AdamArgs>([](auto &a) { a.beta_1 = 0.5; }));
  CHECK(acts<Adam, AdamArgs>([](auto &a) { a.beta_2 = 0.5; }));
  CHECK(acts<Adam, AdamArgs>([](auto &a) { a.epsilon = 0.1; }));
  CHECK(acts<Adam, AdamArgs>([](auto &a) { a.amsgrad = true; }, {.beta_2 = 0.1}));
  CHECK(acts<AdamW, AdamWArgs>([](auto &a) { a.beta_1 = 0.5; }));
  CHECK(acts<AdamW, AdamWArgs>([](auto &a) { a.beta_2 = 0.5; }));
  CHECK(acts<AdamW, AdamWArgs>([](auto &a) { a.epsilon = 0.1; }));
  CHECK(acts<AdamW, AdamWArgs>([](auto &a) { a.amsgrad = true; }, {.beta_2 = 0.1}));
  CHECK(acts<RMSprop, RMSpropArgs>([](auto &a) { a.rho = 0.5; }));
  CHECK(acts<RMSprop, RMSpropArgs>([](auto &a) { a.momentum = 0.5; }));
  CHECK(acts<RMSprop, RMSpropArgs>([](auto &a) { a.epsilon = 0.1; }));
  CHECK(acts<RMSprop, RMSpropArgs>([](auto &a) { a.centered = true; }));
  CHECK(acts<Lion, LionArgs>([](auto &a) { a.beta_1 = 0.1; }, {.beta_2 = 0.1}));
  CHECK(acts<Lion, LionArgs>([](auto &a) { a.beta_2 = 0.1; }));
  CHECK(acts<Adagrad, AdagradArgs>([](auto &a) { a.initial_accumulator_value = 1.0; }));
  CHECK(acts<Adagrad, AdagradArgs>([](auto &a) { a.epsilon = 0.1; }));
  CHECK(acts<Adadelta, AdadeltaArgs>([](auto &a) { a.rho = 0.5; }));
  CHECK(acts<Adadelta, AdadeltaArgs>([](auto &a) { a.epsilon = 0.1; }));
  CHECK(acts<Adamax, AdamaxArgs>([](auto &a) { a.beta_1 = 0.5; }));
  CHECK(acts<Adamax, AdamaxArgs>([](auto &a) { a.beta_2 = 0.5; }));
  CHECK(acts<Adamax, AdamaxArgs>([](auto &a) { a.epsilon = 0.1; }));
  CHECK(acts<Nadam, NadamArgs>([](auto &a) { a.beta_1 = 0.5; }));
  CHECK(acts<Nadam, NadamArgs>([](auto &a) { a.beta_2 = 0.5; }));
  CHECK(acts<Nadam, NadamArgs>([](auto &a) { a.epsilon = 0.1; }));
  CHECK(acts<Adafactor, AdafactorArgs>([](auto &a) { a.beta_2_decay = -0.3; }));
  CHECK(acts<Adafactor, AdafactorArgs>([](auto &a) { a.epsilon_1 = 0.1; }));
  CHECK(acts<Adafactor, AdafactorArgs>([](auto &a) { a.epsilon_2 = 10.0; }));
  CHECK(acts<Adafactor, AdafactorArgs>([](auto &a) { a.clip_threshold = 0.1; }));
  CHECK_THAT(Adafactor(0.05, {.relative_step = false}).get_config().dump(), Contains("\"relative_step\":false"));
  CHECK(acts<Ftrl, FtrlArgs>([](auto &a) { a.learning_rate_power = -0.3; }));
  CHECK(acts<Ftrl, FtrlArgs>([](auto &a) { a.initial_accumulator_value = 1.0; }));
  CHECK(acts<Ftrl, FtrlArgs>([](auto &a) { a.l1_regularization_strength = 0.1; }));
  CHECK(acts<Ftrl, FtrlArgs>([](auto &a) { a.l2_regularization_strength = 0.1; }));
  CHECK(acts<Ftrl, FtrlArgs>([](auto &a) { a.l2_shrinkage_regularization_strength = 0.1; }));
  CHECK(acts<Ftrl, FtrlArgs>([](auto &a) { a.beta = 0.1; }));
  CHECK(acts<Lamb, LambArgs>([](auto &a) { a.beta_1 = 0.5; }));
  CHECK(acts<Lamb, LambArgs>([](auto &a) { a.beta_2 = 0.5; }));
  CHECK(acts<Lamb, LambArgs>([](auto &a) { a.epsilon = 0.1; }));
  CHECK(acts<ScheduleFreeAdamW, ScheduleFreeAdamWArgs>([](auto &a) { a.warmup_steps = 3; }));
  CHECK(acts<Muon, MuonArgs>([](auto &a) { a.ns_steps = 3; }));
  CHECK(acts<Muon, MuonArgs>([](auto &a) { a.exclude_layers = {"dense"}; }));
}

namespace {

/// The loss of one batch through a layer with this penalty, minus the loss without the penalty.
template <class MakeLayer> double penaltyOf(MakeLayer make) {
  auto lossWith = [&](const Regularizer &penalty) {
    Layer layer = make(penalty);
    Sequential model({Input({4}), layer});
    model.compile({.loss = "mse", .run_eagerly = true});
    return model.test_on_batch(ramp({2, 4}), ramp({2, 4}))["loss"];
  };
  return lossWith(regularizers::L1(0.5)) - lossWith({});
}

struct Weighted { // a layer with one weight, created with the given arguments
  WeightArgs args;
  Variable variable{};
  void build(BuildContext &context, const Shape &) { variable = context.add_weight(args); }
  Value call(const Value &x) const { return x * Value(variable); }
};
Sequential withWeight(const WeightArgs &args) {
  Sequential model({Input({4}), Custom(Weighted{args})});
  model.compile({.optimizer = optimizers::SGD(0.1), .loss = "mse", .run_eagerly = true});
  return model;
}

} // namespace

TEST_CASE("regularizers and initializers of layers") {
  const Initializer two = initializers::Constant(2);
  CHECK(penaltyOf([&](const Regularizer &penalty) {
          return LayerNormalization({.beta_initializer = two, .beta_regularizer = penalty});
        }) == Approx(4.0));
  CHECK(penaltyOf([](const Regularizer &penalty) { return LayerNormalization({.gamma_regularizer = penalty}); }) ==
        Approx(2.0));
  CHECK(penaltyOf([&](const Regularizer &penalty) {
          return GroupNormalization({.groups = 2, .beta_initializer = two, .beta_regularizer = penalty});
        }) == Approx(4.0));
  CHECK(penaltyOf([](const Regularizer &penalty) {
          return GroupNormalization({.groups = 2, .gamma_regularizer = penalty});
        }) == Approx(2.0));
  CHECK(penaltyOf([&](const Regularizer &penalty) {
          return BatchNormalization({.beta_initializer = two, .beta_regularizer = penalty});
        }) == Approx(4.0));
  CHECK(penaltyOf([](const Regularizer &penalty) { return BatchNormalization({.gamma_regularizer = penalty}); }) ==
        Approx(2.0));
  CHECK(penaltyOf([&](const Regularizer &penalty) {
          return Custom(Weighted{{.shape = {4}, .initializer = two, .regularizer = penalty}});
        }) == Approx(4.0));
  auto table = [](const Regularizer &penalty) {
    Sequential model({Input({4}, {.dtype = int32}),
                      Embedding(5, 2, {.embeddings_initializer = "ones", .embeddings_regularizer = penalty})});
    model.compile({.loss = "mse", .run_eagerly = true});
    return model.test_on_batch(Tensor::zeros({1, 4}, int32), Tensor::ones({1, 4, 2}))["loss"];
  };
  CHECK(table(regularizers::L1(0.5)) == Approx(5.0));

  BatchNormalization moved({.moving_mean_initializer = two, .moving_variance_initializer = initializers::Constant(4)});
  CHECK(moved(Tensor::full({1, 1}, 6.0)).item<float>() == Approx(2.0).epsilon(1e-3));
  const Tensor drawn = initializers::RandomNormal({.mean = 100.0, .stddev = 1.0, .seed = 3})({1000}, float32, 0);
  for (float number : drawn.to_vector<float>())
    CHECK(std::abs(number - 100.0f) < 10.0f);
}

TEST_CASE("the options that a custom layer gives its weights act") {
  const Initializer two = initializers::Constant(2);
  auto after = [&](const WeightArgs &args) {
    Sequential model = withWeight(args);
    model.train_on_batch(Tensor::ones({1, 4}), Tensor::zeros({1, 4}));
    return model.weights().at(0).value().astype(float64).item<double>();
  };
  // y = w x: the gradient is 4 at w = 2.
  CHECK(after({.initializer = two}) == Approx(2.0 - 0.4));
  CHECK(after({.initializer = two, .overwrite_with_gradient = true}) == Approx(4.0));
  CHECK(withWeight({.shape = {4}, .initializer = two, .name = "mine"}).weights()[0].name() == "mine");
  CHECK(withWeight({.initializer = two, .dtype = float64}).weights()[0].dtype() == float64);
}

TEST_CASE("callbacks: every moment of LambdaCallback, CSVLogger's file") {
  std::string moments;
  callbacks::LambdaCallback all({.on_epoch_begin = [&](int64_t epoch, const Logs &) { moments += letter("E", epoch); },
                                 .on_epoch_end = [&](int64_t epoch, Logs &) { moments += letter("e", epoch); },
                                 .on_train_begin = [&](const Logs &) { moments += "T"; },
                                 .on_train_end = [&](const Logs &) { moments += "t"; },
                                 .on_train_batch_begin = [&](int64_t i, const Logs &) { moments += letter("B", i); },
                                 .on_train_batch_end = [&](int64_t i, const Logs &) { moments += letter("b", i); },
                                 .on_test_begin = [&](const Logs &) { moments += "V"; },
                                 .on_test_end = [&](const Logs &) { moments += "v"; },
                                 .on_test_batch_begin = [&](int64_t i, const Logs &) { moments += letter("C", i); },
                                 .on_test_batch_end = [&](int64_t i, const Logs &) { moments += letter("c", i); },
                                 .on_predict_begin = [&](const Logs &) { moments += "P"; },
                                 .on_predict_end = [&](const Logs &) { moments += "p"; },
                                 .on_predict_batch_begin = [&](int64_t i, const Logs &) { moments += letter("D", i); },
                                 .on_predict_batch_end = [&](int64_t i, const Logs &) { moments += letter("d", i); }});
  Sequential model({Input({4}), Dense(1)});
  model.compile({.loss = "mse", .run_eagerly = true});
  const std::string path = (std::filesystem::temp_directory_path() / "halftone_arguments.csv").string();
  std::filesystem::remove(path);
  auto fit = [&](const callbacks::CSVLoggerArgs &args) {
    model.fit(ramp({4, 4}), ramp({4, 1}),
              {.batch_size = 2, .epochs = 2, .verbose = 0, .callbacks = {&all, callbacks::CSVLogger(path, args)}});
    std::ifstream file(path);
    std::vector<std::string> starts;
    for (std::string line; std::getline(file, line);)
      starts.push_back(line.substr(0, 2));
    return starts;
  };
  CHECK(fit({.separator = ';'}) == std::vector<std::string>{"ep", "0;", "1;"});
  CHECK(moments == "TE0B0b0B1b1e0E1B0b0B1b1e1t");
  moments.clear();
  (void)model.evaluate(ramp({4, 4}), ramp({4, 1}), {.batch_size = 2, .verbose = 0, .callbacks = {&all}});
  (void)model.predict(ramp({2, 4}), {.batch_size = 2, .verbose = 0, .callbacks = {&all}});
  CHECK(moments == "VC0c0C1c1vPD0d0p");
  CHECK(fit({.append = true}) == std::vector<std::string>{"ep", "0;", "1;", "0,", "1,"});
  CHECK(fit({}) == std::vector<std::string>{"ep", "0,", "1,"});
  std::filesystem::remove(path);
}

TEST_CASE("device, run_eagerly and validation_batch_size act") {
  auto f = [](const Value &x) { return x + 1; };
  CHECK(jit(f, {.device = Device::cpu()})(Tensor::ones({1})).item<float>() == 2);
  Sequential model({Input({4}), Dense(1)});
  CHECK_THROWS_WITH(model.compile({.loss = "mse", .jit_compile = false}),
                    Contains("jit_compile = false needs run_eagerly = true"));
  model.compile({.loss = "mse", .run_eagerly = true, .jit_compile = false, .device = Device::cpu()});
  std::vector<int64_t> batches;
  struct Counter : Callback {
    std::vector<int64_t> *batches = nullptr;
    void on_test_begin(const Logs &) override { batches->push_back(0); }
    void on_test_batch_end(int64_t, const Logs &) override { ++batches->back(); }
  } counter;
  counter.batches = &batches;
  auto fit = [&](FitArgs args) {
    args.verbose = 0;
    args.callbacks = {&counter};
    args.validation_data = {ramp({12, 4}), ramp({12, 1})};
    batches.clear();
    model.fit(ramp({4, 4}), ramp({4, 1}), args);
    return batches;
  };
  CHECK(fit({.batch_size = 2}) == std::vector<int64_t>{6});
  CHECK(fit({.batch_size = 2, .validation_batch_size = 4}) == std::vector<int64_t>{3});
  CHECK(fit({.batch_size = 2, .validation_steps = 2}) == std::vector<int64_t>{2});
}
