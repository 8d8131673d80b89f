// The states of draws in layers: their owners, their values in files, and the effect of a failed call.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Saving.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using random::SeedGenerator;

namespace {

/// Draws only in training, without a seed.
struct Noisy {
  double deviation = 0.5;
  Value call(const Value &x, const CallContext &context) const {
    return context.training() ? x + deviation * random::normal(x.shape()) : x;
  }
  void get_config(Config &config) const { config.set("deviation", deviation); }
  static Noisy from_config(const Config &config) { return {config.get_double("deviation")}; }
};
struct Seeded {
  SeedGenerator generator{5};
  Value call(const Value &x) const { return x + random::uniform(x.shape(), {.seed = generator}); }
};
struct Several {
  SeedGenerator first{5}, second{6};
  Value call(const Value &x, const CallContext &context) const {
    if (!context.training())
      return x;
    return x + random::uniform(x.shape(), {.seed = second}) * random::uniform(x.shape(), {.seed = first}) +
           random::normal(x.shape());
  }
};
struct Nested {
  Custom<Noisy> inner{Noisy{}};
  Value call(const Value &x, const CallContext &context) const {
    const Value y = inner(x);
    return context.training() ? y + random::uniform(x.shape()) : y;
  }
};
/// Draws before it throws.
struct Failing {
  SeedGenerator generator{3};
  std::shared_ptr<bool> fails = std::make_shared<bool>(true);
  Value call(const Value &x) const {
    const Value y = x + random::normal(x.shape()) + random::normal(x.shape(), {.seed = generator});
    if (*fails)
      throw Error(ErrorKind::value_error, "not yet");
    return y;
  }
};

std::vector<std::string> pathsOf(const Layer &layer) {
  std::vector<std::string> paths;
  for (const Variable &variable : layer.variables())
    paths.push_back(variable.path());
  return paths;
}
std::vector<uint32_t> wordsOf(const Variable &state) { return state.value().to_vector<uint32_t>(); }
Tensor training(const Layer &layer, const Tensor &x) { return layer(x, {.training = true}); }

template <class T> Model net(const T &layer) {
  const Input x({3});
  const Model model(x, Dense(2, {.name = "head"})(Custom<T>(layer, {.name = "drawing"})(x)), {.name = "net"});
  model.compile({.optimizer = optimizers::Adam(0.1), .loss = "mse", .numerics = Numerics::strict});
  return model;
}
void epoch(const Model &model) {
  model.fit(Tensor::normal({16, 3}, {.seed = 1}), Tensor::normal({16, 2}, {.seed = 2}),
            {.batch_size = 4, .verbose = 0, .shuffle = false});
}
std::vector<std::vector<double>> valuesOf(const Model &model) {
  std::vector<std::vector<double>> values;
  for (const Variable &variable : model.variables())
    values.push_back(numbers(variable));
  return values;
}

} // namespace

TEST_CASE("A layer keeps the generator of its draws without a seed, made at the first draw, apart from its weights") {
  const Custom<Noisy> layer(Noisy{}, {.name = "noisy"});
  const Tensor x = Tensor::zeros({4, 3});
  CHECK(numbers(layer(x)) == numbers(x));
  CHECK(layer.variables().empty()); // nothing was drawn
  const std::vector<double> first = numbers(training(layer, x));
  CHECK(first != numbers(training(layer, x)));
  CHECK(pathsOf(layer) == std::vector<std::string>{"noisy/seed_generator/seed_generator_state"});
  CHECK(wordsOf(layer.variables()[0])[1] == 2);
  CHECK(layer.weights().empty());
  CHECK(layer.get_weights().empty());
  CHECK(layer.trainable_variables().empty());
}

TEST_CASE("set_random_seed repeats the draws of layers") {
  const Tensor x = Tensor::zeros({4, 3});
  set_random_seed(4);
  const Custom<Nested> layer(Nested{}), other(Nested{});
  const std::vector<double> first = numbers(training(layer, x)), second = numbers(training(other, x));
  CHECK(first != second);
  set_random_seed(4);
  const Custom<Nested> same(Nested{}), sameOther(Nested{});
  CHECK(numbers(training(same, x)) == first);
  CHECK(numbers(training(sameOther, x)) == second);
}

TEST_CASE("The innermost layer keeps a generator, and copies of a struct share theirs") {
  const Custom<Nested> nested(Nested{}, {.name = "outer"});
  (void)training(nested, Tensor::zeros({2}));
  REQUIRE(nested.variables().size() == 2);
  CHECK(pathsOf(nested)[0] == "outer/seed_generator/seed_generator_state");
  CHECK_THAT(pathsOf(nested)[1], Contains("outer/noisy") && Contains("/seed_generator/"));

  const Seeded original;
  CHECK(original.generator.state().path() == "seed_generator_state");
  const Custom<Seeded> first(original, {.name = "first"}), second(original, {.name = "second"});
  const std::vector<double> drawn = numbers(first(Tensor::zeros({4})));
  CHECK(numbers(second(Tensor::zeros({4}))) != drawn);
  CHECK(wordsOf(original.generator.state()) == std::vector<uint32_t>{5, 2});
  CHECK(pathsOf(first) == std::vector<std::string>{"first/seed_generator/seed_generator_state"});
  CHECK(second.variables().empty()); // the first layer that drew owns the generator
}

TEST_CASE("A call that fails leaves no generator, and takes none") {
  const Tensor x = Tensor::zeros({4});
  set_random_seed(9);
  const Custom<Failing> layer(Failing{});
  CHECK_THROWS_WITH(layer(x), Contains("not yet"));
  CHECK(layer.variables().empty());
  CHECK(layer.self().generator.state().path() == "seed_generator_state");
  CHECK(wordsOf(layer.self().generator.state()) == std::vector<uint32_t>{3, 0});
  *layer.self().fails = false;
  const std::vector<double> drawn = numbers(layer(x));
  CHECK(layer.variables().size() == 2);
  set_random_seed(9);
  const Custom<Failing> other(Failing{});
  *other.self().fails = false;
  CHECK(numbers(other(x)) == drawn);
}

TEST_CASE("A functional model draws anew at each run") {
  const Input in({3});
  const Model model(in, Custom(Seeded{})(in));
  const Tensor x = Tensor::zeros({2, 3});
  const std::vector<double> first = numbers(model(x));
  CHECK(numbers(model(x)) != first);
  CHECK(model.variables().size() == 1);
}

TEST_CASE("Rematerialized layers draw the same numbers in both passes") {
  const auto trained = [](const std::optional<std::string> &mode) {
    set_random_seed(5);
    utils::clear_session();
    const RematScope scope(mode);
    const Input in({6});
    Value x = Dense(8, {.activation = "tanh"})(in);
    x = Custom(Several{})(x);
    x = Custom(Noisy{2.0})(Activation("tanh")(x));
    const Model model(in, Dense(3)(x * x));
    model.compile({.optimizer = optimizers::Adam(1e-2), .loss = "mse", .numerics = Numerics::strict});
    for (int step = 0; step < 3; ++step)
      (void)model.train_on_batch(Tensor::normal({4, 6}, {.seed = 1}), Tensor::normal({4, 3}, {.seed = 2}));
    return valuesOf(model);
  };
  CHECK(trained("full") == trained(std::nullopt));
}

TEMPLATE_TEST_CASE("A run goes on from a checkpoint with the draws that it would have had", "", Noisy, Several) {
  const TemporaryFolder folder;
  const std::string path = (folder.path / "net.ckpt").string(), again = (folder.path / "again.ckpt").string();
  set_random_seed(3);
  const Model straight = net(TestType{});
  epoch(straight);
  Checkpoint(straight).save(path);
  epoch(straight);
  set_random_seed(8);
  const Model resumed = net(TestType{}); // it has not drawn, so its states do not exist yet
  CHECK(Checkpoint(resumed).restore(path).converted.empty());
  Checkpoint(resumed).save(again);
  epoch(resumed);
  CHECK(valuesOf(resumed) == valuesOf(straight));
  CHECK(pathsOf(resumed) == pathsOf(straight));
  const Model third = net(TestType{});
  for (int time = 0; time < 2; ++time) // the second time finds the states that the first has added
    (void)Checkpoint(third).restore(again);
  epoch(third);
  CHECK(valuesOf(third) == valuesOf(straight));
}

TEST_CASE("A checkpoint of a model that had not drawn leaves the states of draws as they are") {
  const TemporaryFolder folder;
  const std::string path = (folder.path / "net.ckpt").string();
  const Model model = net(Noisy{});
  Checkpoint(model).save(path);
  epoch(model);
  const std::vector<double> state = numbers(model.variables()[0]);
  const Checkpoint::Restored restored = Checkpoint(model).restore(path);
  REQUIRE(restored.converted.size() == 1);
  CHECK_THAT(restored.converted[0],
             Contains("drawing/seed_generator/seed_generator_state") && Contains("unchanged, since the file has none"));
  CHECK(numbers(model.variables()[0]) == state);
  const Input x({3});
  const Model other(x, Dense(2, {.name = "head"})(Dropout(0.5, {.name = "drawing"})(x)), {.name = "net"});
  CHECK_THAT(errorOf([&] { (void)Checkpoint(other).restore(path); }), Contains("no value for")); // not user-defined
}

TEST_CASE("A .keras file and a weights file hold the states of a layer's draws, where Keras has a SeedGenerator's") {
  const TemporaryFolder folder;
  register_custom<Noisy>("test");
  set_random_seed(3);
  const Model model = net(Noisy{});
  epoch(model);
  model.save((folder.path / "net.keras").string());
  model.save_weights((folder.path / "net.weights.h5").string());
  const Model loaded = load_model((folder.path / "net.keras").string());
  CHECK(valuesOf(loaded) == valuesOf(model));
  const Model other = net(Noisy{});
  other.load_weights((folder.path / "net.weights.h5").string());
  CHECK(valuesOf(other) == valuesOf(model));
  epoch(model);
  epoch(loaded); // in the other numerics, which no file records
  CHECK(valuesOf(loaded)[0] == valuesOf(model)[0]);
  CHECK(near(valuesOf(loaded)[1], valuesOf(model)[1], 1e-5));
}

TEST_CASE("A layer that is made in the call of another one leaves its generator to that one") {
  struct Making {
    Value call(const Value &x, const CallContext &context) const {
      return Custom<Noisy>(Noisy{})(x, {.training = context.training()});
    }
  };
  const Custom<Making> layer(Making{}, {.name = "making"});
  const Tensor x = Tensor::zeros({4});
  const std::vector<double> first = numbers(training(layer, x));
  CHECK(numbers(training(layer, x)) != first);
  CHECK(pathsOf(layer) == std::vector<std::string>{"making/seed_generator/seed_generator_state"});
  (void)training(layer, Tensor::zeros({3})); // retraced
  CHECK(wordsOf(layer.variables().at(0))[1] == 3);
  CHECK(layer.variables().size() == 1);
}
