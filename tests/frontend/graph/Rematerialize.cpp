// Layers whose values the backward pass recomputes: which ones, equal results, less memory.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

using namespace halftone;
using namespace halftone::layers;

namespace {

/// A layer composed of several layers, with a residual.
struct Block {
  Dense wide, narrow;
  LayerNormalization norm{};
  explicit Block(int64_t width) : wide(4 * width, {.activation = "gelu"}), narrow(width) {}
  Value call(const Value &x) const { return x + narrow(wide(norm(x))); }
};

Tensor noise(const Shape &shape) {
  std::mt19937 random(3);
  std::vector<float> values;
  int64_t count = 1;
  for (int64_t dim : shape.dims())
    count *= dim;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(std::uniform_real_distribution<float>(-1, 1)(random));
  return Tensor(std::move(values), shape);
}

/// A graph with random numbers, statistics, attention, a nested graph and a shared layer.
Model everything(const std::optional<std::string> &mode, const RematArgs &args, const std::string &policy) {
  set_random_seed(5);
  utils::clear_session();
  const PolicyScope computes(policy);
  const RematScope scope(mode, args);
  const Input in({6, 8}, {.name = "in"});
  const Dense shared(8, {.activation = "tanh", .name = "shared"});
  const Sequential nested({Input({6, 8}), Dense(16, {.activation = "gelu", .name = "up"}),
                           Dropout(0.3, {.name = "drop"}), Dense(8, {.name = "down"})},
                          {.name = "nested"});
  Value x = shared(in);
  x = x + MultiHeadAttention(2, 4, {.dropout = 0.2, .name = "mha"})(x, x, {.use_causal_mask = true});
  x = BatchNormalization({.name = "bn"})(nested(shared(x)));
  x = Custom(Block(8), {.name = "block"})(x);
  const Model model({in}, {Dense(3, {.name = "head"})(GlobalAveragePooling1D({.name = "mean"})(x))}, {.name = "net"});
  model.compile({.optimizer = optimizers::Adam(1e-2), .loss = "mse", .numerics = Numerics::strict});
  return model;
}

std::vector<Tensor> trained(const Model &model) {
  for (int step = 0; step < 3; ++step)
    (void)model.train_on_batch(noise({4, 6, 8}), noise({4, 3}));
  return model.get_weights();
}

void checkSame(const std::vector<Tensor> &a, const std::vector<Tensor> &b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const auto left = a[i].astype(float32).to_vector<float>(), right = b[i].astype(float32).to_vector<float>();
    CHECK(std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0);
  }
}

/// The number of occurrences of `part` in `text`.
int64_t count(const std::string &text, const std::string &part) {
  int64_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// Returns true if the layer with this path is marked in the module of a training step.
bool isMarked(const std::string &module, const std::string &path) {
  const size_t at = module.find("halftone.layer \"" + path + "\"");
  REQUIRE(at != std::string::npos);
  return module.substr(at, module.find('\n', at) - at).find("rematerialize") != std::string::npos;
}

std::string moduleOf(const Model &model) {
  return model.ir(Stage::graph, {.program = Program::train, .batch_size = 4});
}

long long arenaOf(const Model &model) {
  const std::string plan = model.ir(Stage::plan, {.program = Program::train, .batch_size = 4096});
  long long bytes = 0;
  REQUIRE(std::sscanf(plan.c_str() + plan.find("arena "), "arena %lld bytes", &bytes) == 1);
  return bytes;
}

/// Eight blocks, made under a RematScope of this mode.
Model blocks(const std::optional<std::string> &mode) {
  utils::clear_session();
  const RematScope scope(mode);
  const Input in({64});
  Value x = in;
  for (int i = 0; i < 8; ++i)
    x = Custom(Block(64))(x);
  const Model model({in}, {Dense(1)(x)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  return model;
}

} // namespace

TEST_CASE("Training steps that compute values again have the bits of those that keep them") {
  const std::string policy = GENERATE("float32", "mixed_bfloat16", "mixed_float16");
  const std::vector<Tensor> kept = trained(everything(std::nullopt, {}, policy));
  checkSame(trained(everything("full", {}, policy)), kept);
  checkSame(trained(everything("activations", {}, policy)), kept);
  checkSame(trained(everything("larger_than", {.output_size_threshold = 100}, policy)), kept);
  checkSame(trained(everything("list_of_layers", {.layer_names = {"nested", "mha", "shared"}}, policy)), kept);
}

TEST_CASE("A RematScope marks the layers that its mode means") {
  CHECK(count(moduleOf(everything(std::nullopt, {}, "float32")), "rematerialize") == 0);
  const std::string full = moduleOf(everything("full", {}, "float32"));
  for (const char *path : {"shared", "mha", "nested/up", "bn", "block", "head"})
    CHECK(isMarked(full, path));
  CHECK(count(full, "halftone.layer \"nested\"") == 0); // a nested graph is not taken as a whole unless it is named
  const std::string activations = moduleOf(everything("activations", {}, "float32"));
  CHECK_FALSE(isMarked(activations, "nested/up"));
  CHECK(count(activations, "halftone.tanh") == 2); // two calls of the same layer
  CHECK(count(activations, "halftone.rematerialize = ") > 2);

  // The outputs have 4 x 6 x 16, 4 x 6 x 8 and 4 x 3 elements.
  const std::string larger = moduleOf(everything("larger_than", {.output_size_threshold = 192}, "float32"));
  CHECK(isMarked(larger, "nested/up"));
  CHECK_FALSE(isMarked(larger, "nested/down"));
  CHECK_FALSE(isMarked(larger, "head"));

  const std::string listed =
      moduleOf(everything("list_of_layers", {.layer_names = {"nested", "nested/drop", "head"}}, "float32"));
  CHECK(isMarked(listed, "nested"));
  CHECK(isMarked(listed, "nested/drop"));
  CHECK(isMarked(listed, "head"));
  CHECK_FALSE(isMarked(listed, "shared"));
}

TEST_CASE("A RematScope counts where a layer is made, and the innermost one alone") {
  const RematScope outer("full");
  const Dense marked(2);
  Dense plain(2);
  {
    const RematScope inner(std::nullopt);
    plain = Dense(2);
  }
  const Input in({4});
  const Model model({in}, {plain(marked(in))});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  CHECK(count(moduleOf(model), "rematerialize") == 1);
  CHECK(isMarked(moduleOf(model), marked.path()));
}

TEST_CASE("Gradients inside a layer and of gradients pass through values that are computed again") {
  struct Slope { // x^3, by the derivative of x^4 / 4
    Value call(const Value &x) const {
      const Value y = ops::square(ops::square(x)) * 0.25;
      return ops::tanh(gradients(ops::sum(y), {x})[0]);
    }
  };
  const auto slopes = [](const std::optional<std::string> &mode) {
    utils::clear_session();
    const RematScope scope(mode);
    const auto layer = Custom(Slope{});
    return jit([layer](const Value &x) {
      const Value first = gradients(ops::sum(layer(x)), {x})[0];
      return gradients(ops::sum(first), {x})[0];
    })(Tensor({0.5f, -0.25f, 1.0f}, {3}));
  };
  const Tensor kept = slopes(std::nullopt), again = slopes("full");
  for (int64_t i = 0; i < 3; ++i)
    CHECK(again.to_vector<float>()[i] == Approx(kept.to_vector<float>()[i]).epsilon(1e-6));
  const double x = 0.5, t = std::tanh(x * x * x), s = 1 - t * t;
  CHECK(again.to_vector<float>()[0] == Approx(6 * x * s - 18 * x * x * x * x * t * s).epsilon(1e-5));
}

namespace {

/// Blocks whose bodies are wrapped in remat(), or not.
struct Remade {
  std::vector<Block> blocks;
  Dropout drop{0.25};
  bool remakes;
  Value call(const Value &x) const {
    Value y = x;
    for (const Block &block : blocks) {
      const auto body = [&](const Values &in) { return drop(block.call(in[0])) * in[1]; };
      y = remakes ? remat(body)({y, y * 0.5}) : body({y, y * 0.5});
    }
    return y;
  }
};
Model remade(bool remakes, int64_t width, Numerics numerics) {
  set_random_seed(7);
  utils::clear_session();
  const Input in({width});
  const Model model({in},
                    {Dense(3)(Custom(Remade{.blocks = std::vector<Block>(6, Block(width)), .remakes = remakes})(in))});
  model.compile({.optimizer = "sgd", .loss = "mse", .numerics = numerics});
  return model;
}

} // namespace

TEST_CASE("A function that remat() has taken gives the same bits, and its values are not kept") {
  const auto step = [](const Model &model) {
    for (int i = 0; i < 3; ++i)
      (void)model.train_on_batch(noise({4, 8}), noise({4, 3}));
    return model.get_weights();
  };
  checkSame(step(remade(true, 8, Numerics::strict)), step(remade(false, 8, Numerics::strict)));
  const long long kept = arenaOf(remade(false, 64, Numerics::fast)), again = arenaOf(remade(true, 64, Numerics::fast));
  CAPTURE(kept, again);
  CHECK(again * 3 < kept * 2);
}

TEST_CASE("A function that remat() has taken computes outside of traces' gradients too; an empty one is refused") {
  const auto twice = remat([](const Values &x) { return x[0] + x[0]; });
  const auto result = jit([&](const Value &x) { return twice({x}); })(Tensor({1.0f, 2.0f}, {2}));
  CHECK(result.to_vector<float>() == std::vector<float>{2, 4});
  CHECK_THROWS_WITH(remat({}), Catch::Matchers::Contains("ValueError: remat() needs a function"));
}

TEST_CASE("A mode that RematScope does not know is refused") {
  try {
    const RematScope scope("everything");
    FAIL("expected an error");
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::value_error);
    CHECK(error.message() == "Invalid mode 'everything'. Supported modes are: 'full', 'activations', 'larger_than', "
                             "'list_of_layers', or  None.");
  }
}

namespace {

/// Recurrent layers of each kind over masked series, made under a RematScope or not.
Model recurrent(bool again, int64_t steps, const std::string &policy, Numerics numerics) {
  set_random_seed(9);
  utils::clear_session();
  const PolicyScope computes(policy);
  const RematScope scope(again ? std::optional<std::string>("full") : std::nullopt);
  const Input in({steps, 3});
  Value x = Bidirectional(LSTM(4, {.dropout = 0.2, .return_sequences = true}))(Masking()(in));
  x = GRU(3, {.return_sequences = true, .go_backwards = true})(x);
  const Model model({in}, {Dense(3)(SimpleRNN(4)(x))});
  model.compile({.optimizer = optimizers::Adam(1e-2), .loss = "mse", .numerics = numerics});
  return model;
}

long long arenaOfLstms(bool again, int64_t steps, int layers) {
  set_random_seed(9);
  utils::clear_session();
  const RematScope scope(again ? std::optional<std::string>("full") : std::nullopt);
  const Sequential model({Input({steps, 32})});
  for (int i = 0; i < layers; ++i)
    model.add(LSTM(32, {.return_sequences = i + 1 < layers}));
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const std::string plan = model.ir(Stage::plan, {.program = Program::train, .batch_size = 8});
  long long bytes = 0;
  REQUIRE(std::sscanf(plan.c_str() + plan.find("arena "), "arena %lld bytes", &bytes) == 1);
  return bytes;
}

} // namespace

TEST_CASE("Recurrent layers that are computed again in pieces give the same bits") {
  const auto trained = [](const Model &model, int64_t steps) {
    for (int i = 0; i < 2; ++i)
      (void)model.train_on_batch(noise({4, steps, 3}), noise({4, 3}));
    return model.get_weights();
  };
  for (const auto &[steps, policy] : {std::pair<int64_t, std::string>{64, "float32"}, {67, "mixed_float16"}}) {
    INFO(steps << " " << policy);
    checkSame(trained(recurrent(true, steps, policy, Numerics::strict), steps),
              trained(recurrent(false, steps, policy, Numerics::strict), steps));
  }
}

TEST_CASE("A recurrent layer that is computed again takes less than half of the memory of its steps") {
  for (const int layers : {1, 3}) {
    const long long kept = arenaOfLstms(false, 1024, layers), again = arenaOfLstms(true, 1024, layers);
    CAPTURE(layers, kept, again);
    CHECK(again * 4 < kept);
  }
}

TEST_CASE("A training step that computes its blocks again takes less than half the memory") {
  const long long kept = arenaOf(blocks(std::nullopt)), again = arenaOf(blocks("full"));
  CAPTURE(kept, again);
  CHECK(again * 2 < kept);
}
