// Models that save() rejects, so that load_model() can read every file that save() writes.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;

namespace {

struct Registered {
  Value call(const Value &x) const { return x; }
  static Registered from_config(const Config &) { return {}; }
};
struct Unregistered {
  Value call(const Value &x) const { return x; }
};
struct Trained : Registered {
  static Trained from_config(const Config &) { return {}; }
  void train_step(const StepContext &step, const StepData &data) const { step.minimize(ops::mean(data.x[0])); }
};

/// Checks that save() is rejected with this text, and that the file of an earlier save() is unchanged.
void checkRefused(const Model &model, const TemporaryFolder &folder, const std::string &text) {
  folder.write("old.keras", "old");
  CHECK_THROWS_WITH(model.save(folder / "old.keras"), Contains(text));
  CHECK(std::filesystem::file_size(folder / "old.keras") == 3);
}

} // namespace

TEST_CASE("save() refuses a config that load_model() would refuse, and the old file stays") {
  const TemporaryFolder folder;
  const auto nested = [](int levels) {
    Sequential model({Input({2}), Dense(2)});
    for (int i = 1; i < levels; ++i)
      model = Sequential({Input({2}), model});
    return model;
  };
  int deepest = 1; // the maximum depth of nested models in files
  for (int step = 64; step > 0; step /= 2)
    try {
      nested(deepest + step).save(folder / "deep.keras");
      deepest += step;
    } catch (const Error &) {
    }
  CHECK(deepest > 40);
  CHECK(load_model(folder / "deep.keras").built());
  checkRefused(nested(deepest + 1), folder, "200 levels of nesting");
  const Tensor many = Tensor::full({1'000'000}, 1.0 / 3);
  checkRefused(Sequential({Input({1'000'000}), Normalization(Axes(-1), {.mean = many, .variance = many})}), folder,
               "at most 32 MiB");
}

TEST_CASE("Infinities and NaN in configs come back from a file, in lists, arrays and the arguments of compile() too") {
  const TemporaryFolder folder;
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor mean({1, std::numeric_limits<float>::infinity()}, {2}), variance({1, NAN}, {2});
  const Sequential model({Input({2}), ReLU({.max_value = infinity}), Masking(NAN),
                          Dense(2, {.bias_initializer = initializers::Constant(-infinity)}),
                          Normalization(Axes(-1), {.mean = mean, .variance = variance}),
                          Rescaling({1.0, infinity}, {-infinity, 0.0})});
  model.compile({.optimizer = optimizers::SGD(0.1, {.clipvalue = infinity}),
                 .loss = losses::Huber(infinity),
                 .loss_weights = {infinity}});
  model.save(folder / "a.keras");
  const Model loaded = load_model(folder / "a.keras");
  CHECK(loaded.to_json() == model.to_json());
  CHECK_THAT(model.to_json(), Contains(R"("mean":[1.0,Infinity])") && Contains(R"("variance":[1.0,NaN])") &&
                                  Contains(R"("max_value":Infinity)") && Contains(R"("loss_weights":[Infinity])"));
  CHECK(clone_model(model).layers().size() == model.layers().size());
}

TEST_CASE("The model of a struct is saved if its class is registered and call() creates all of its layers") {
  const TemporaryFolder folder;
  const Tensor x = Tensor::ones({2, 4});
  const Model unregistered{Unregistered()};
  (void)unregistered.predict_on_batch(x);
  checkRefused(unregistered, folder, "register it with register_custom<Unregistered>(");
  register_custom<Registered>();
  const Model model{Registered()};
  (void)model.predict_on_batch(x);
  model.save(folder / "a.keras");
  const Model loaded = load_model(folder / "a.keras");
  CHECK(loaded.class_name() == "Registered");
  CHECK(loaded.to_json() == model.to_json());
  CHECK(clone_model(model).to_json() == model.to_json());
  CHECK_THROWS_WITH(Model::from_config(Config::parse(R"({"class_name": "Dense", "config": {"units": 2}})")),
                    Contains("expected a model, found a layer of class Dense"));
  register_custom<Trained>();
  const Model trained{Trained()};
  (void)trained.predict_on_batch(x);
  checkRefused(trained, folder, "Sequential({Input(...), Custom(Trained(...))})");
  const Sequential wrapped({Input({4}), Custom(Trained())});
  wrapped.save(folder / "b.keras");
  CHECK(load_model(folder / "b.keras").layers().back().class_name() == "Trained");
  checkRefused(Sequential({Input({4}), Custom(Unregistered())}), folder,
               "get_config(Config &) and a static from_config(const Config &)");
}

TEST_CASE("A file holds a constant between layers as an array among the arguments of its reader") {
  const TemporaryFolder folder;
  const Input x({4}, {.name = "x"});
  const Value shares = constant(Tensor({1, 2, 3, 4}, {4})) / 10, mask = ops::arange(4) > 1;
  const Value y =
      ops::where(mask, Dense(4, {.name = "dense"})(x) * shares, ops::zeros({4})) + ops::sum(ops::ones({64, 64}) * 0.25);
  const Model model({x}, {y});
  model.save(folder / "a.keras");
  const Model loaded = load_model(folder / "a.keras");
  CHECK(loaded.to_json() == model.to_json());
  CHECK_THAT(model.to_json(), Contains("__numpy__"));
  const Tensor data = Tensor({1, -2, 3, 0.5F}, {1, 4});
  CHECK(loaded.predict_on_batch(data).to_vector<float>() == model.predict_on_batch(data).to_vector<float>());
}

TEST_CASE("save() refuses a constant that a file cannot hold, and says where it belongs") {
  const TemporaryFolder folder;
  const Input x({4097}, {.name = "x"});
  checkRefused(Model({x}, {x + ops::arange(4097)}), folder,
               "at most 4096 elements as an argument: put it into a layer's weight");
  checkRefused(Model({x}, {x + ops::full({1}, INFINITY)}), folder, "with the element inf");
  for (const int power : {53, 60})
    checkRefused(Model({x}, {x * ops::full({1}, (int64_t(1) << power) + 1, int64)}), folder,
                 "cannot represent exactly");
  checkRefused(Model({x}, {ops::concatenate({x, ops::zeros({0, 4097})}, 0)}), folder,
               "cannot represent an extent after an extent of 0");
  checkRefused(Model({x}, {x + 1, ops::zeros({2})}), folder, "whose output is the constant of");
  checkRefused(Model({x}, {x + Dense(4097, {.name = "dense"})(ops::ones({1, 2}))}), folder,
               "the call of layer 'dense' on a constant");
}
