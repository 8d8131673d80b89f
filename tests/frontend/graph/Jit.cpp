// Calls of a jitted function: arguments, results, retracing, threads.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/frontend/CapturedOutput.h"
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <string_view>
#include <thread>

using namespace halftone;
using Catch::Matchers::Contains;

TEST_CASE("arguments of one and of several tensors keep their places") {
  auto f = jit([](const Values &many, const Value &one, const Values &others) {
    Value sum = one;
    for (const Value &value : many)
      sum = sum * 2 + value;
    for (const Value &value : others)
      sum = sum * 10 + value;
    return sum;
  });
  const Tensor a({1}, {1}), b({2}, {1}), c({3}, {1});
  CHECK(f({a, b}, c, {a}).item<float>() == ((3 * 2 + 1) * 2 + 2) * 10 + 1);
  CHECK(f({a}, c, {a, b}).item<float>() == ((3 * 2 + 1) * 10 + 1) * 10 + 2); // as many tensors, in other groups
  CHECK(f(Tensors(), c, {b}).item<float>() == 32);
  CHECK_THROWS_WITH(f({a}, Tensor(), {a}), Contains("step was given an undefined Tensor"));
}

TEST_CASE("jit returns results in the structure that the function returns") {
  const Tensor x({1, 2}, {2});
  auto two = jit([](const Value &x) { return std::array<Value, 2>{x + 1, x * 3}; });
  const std::array<Tensor, 2> both = two(x);
  CHECK(both[0].to_vector<float>() == std::vector<float>{2, 3});
  CHECK(both[1].to_vector<float>() == std::vector<float>{3, 6});
  auto several = jit([](const Value &x) { return Values{x - 1, x, x + x}; });
  const Tensors all = several(x);
  REQUIRE(all.size() == 3);
  CHECK(all[0].to_vector<float>() == std::vector<float>{0, 1});
  CHECK(all[2].to_vector<float>() == std::vector<float>{2, 4});
}

TEST_CASE("a function is traced for new types and for a new configuration, and not otherwise") {
  auto traces = std::make_shared<int>(0);
  auto f = jit([=](const Value &x) {
    ++*traces;
    return x + 1;
  });
  const Tensor x({1, 2}, {2});
  for (int round = 0; round < 3; ++round)
    CHECK(f(x).to_vector<float>() == std::vector<float>{2, 3});
  CHECK(*traces == 1);
  (void)f(x.reshape({1, 2}));
  CHECK(*traces == 2);
  CHECK(f(x.astype(float16)).dtype() == float16);
  CHECK(*traces == 3);
  (void)f(x);
  CHECK(*traces == 3);
  layers::Dense elsewhere(2, {.name = "elsewhere"});
  elsewhere.set_trainable(false); // some traces depend on this flag
  CHECK(f(x).to_vector<float>() == std::vector<float>{2, 3});
  CHECK(*traces == 4);
}

TEST_CASE("threads call one function with their own types") {
  auto f = jit([](const Value &x, const Value &y) { return x * y + 1; });
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int64_t call = 0; call < 50; ++call) {
        const int64_t n = 1 + (thread + call) % 3;
        const Tensor x = Tensor::full({n}, static_cast<double>(call)), y = Tensor::full({n}, 2);
        wrong +=
            f(x, y).to_vector<float>() != std::vector<float>(static_cast<size_t>(n), static_cast<float>(2 * call + 1));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("one computed value as both operands of a product, and axes of no and of one element") {
  auto inner = jit([](const Value &x) {
    const Value v = -x;
    return ops::matmul(v, v);
  });
  CHECK(inner(Tensor({1, 2, 3}, {3})).item<float>() == 14);
  auto gram = jit([](const Value &x) {
    const Value v = x - 1.0f;
    return ops::matmul(ops::transpose(v), v);
  });
  CHECK(gram(Tensor({1, 2, 3}, {3, 1})).to_vector<float>() == std::vector<float>{5});
  CHECK(gram(Tensor({1, 2, 3}, {1, 3})).shape() == Shape{3, 3});
  auto turned = jit([](const Value &x) { return ops::transpose(x, {0, 2, 1}); });
  for (const Shape &shape : {Shape{1, 1, 1}, Shape{0, 1, 7}, Shape{2, 0, 0}, Shape{1, 4, 1}})
    CHECK(turned(Tensor::ones(shape)).shape() == Shape{shape[0], shape[2], shape[1]});
  auto curve = jit([](const Value &x) -> Value {
    return gradients(ops::sum(ops::square(ops::transpose(x))), std::vector<Value>{x})[0];
  });
  CHECK(curve(Tensor({3}, {1, 1})).to_vector<float>() == std::vector<float>{6});
}

TEST_CASE("intermediate values that no memory can hold are one error with the bytes") {
  auto f = jit([](const Value &x) { return ops::matmul(ops::matmul(x, ops::transpose(x)), x); });
  CHECK_THROWS_WITH(f(Tensor::ones({int64_t(1) << 20, 1})),
                    Contains("step: its intermediate values: out of memory: ") && Contains(" bytes requested, "));
  CHECK(f(Tensor::ones({2, 1})).to_vector<float>() == std::vector<float>{2, 2});
}

TEST_CASE("numerics: strict rounds every operation, fast at the end") {
  auto f = [](const Value &x) { return x * x - 1.015625; };
  const Tensor x = Tensor::full({8}, 1.0078125, bfloat16); // its square is 1.015625 + 2^-14
  CHECK(jit(f, {.numerics = Numerics::strict})(x).astype(float32).item<float>() == 0.0f);
  CHECK(jit(f, {.numerics = Numerics::fast})(x).astype(float32).item<float>() == 0x1p-14f);
  CHECK(jit(f)(x).astype(float32).item<float>() == 0x1p-14f);
}

/// The error that `call` throws.
static Error thrownBy(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    return error;
  }
  FAIL("expected an error");
  throw;
}

// clang-format off: each call stands in the line of its __LINE__
TEST_CASE("An error of a jitted function has the line of the call, whatever part of the function fails") {
  const Tensor x = Tensor::ones({2, 3}), integers = Tensor::zeros({2}, int32);
  auto product = jit([](const Value &a, const Value &b) { return ops::matmul(a, b); });
  auto sum = jit([](const Value &a, const Value &b) { return a + b; });
  auto axis = jit([](const Value &a) { return ops::sum(a, 5); });
  auto nothing = jit([](const Value &) -> Value { return {}; });
  auto second = jit([](const Values &all) { return all[1]; });
  auto large = jit([](const Value &a) { return ops::matmul(ops::matmul(a, ops::transpose(a)), a); });
  auto procedure = jit([](const Value &a) { (void)ops::reshape(a, {7}); });
  struct Case {
    std::string_view text;
    unsigned line;
    std::function<void()> call;
  };
  const std::vector<Case> cases = {
      {"matmul of (2, 3) and (2, 3)", __LINE__, [&] { (void)product(x, x); }},
      {"cannot be broadcast", __LINE__, [&] { (void)sum(x, integers); }},
      {"axis", __LINE__, [&] { (void)axis(x); }},
      {"an undefined Value was used", __LINE__, [&] { (void)nothing(x); }},
      {"step was given an undefined Tensor", __LINE__, [&] { (void)axis(Tensor()); }},
      {"There is no Value 1: the list has 1", __LINE__, [&] { (void)second({x}); }},
      {"its intermediate values: out of memory", __LINE__, [&] { (void)large(Tensor::ones({int64_t(1) << 20, 1})); }},
      {"cannot reshape", __LINE__, [&] { procedure(x); }},
  };
  for (const Case &each : cases) {
    const Error error = thrownBy(each.call);
    INFO(error.what());
    CHECK_THAT(error.message(), Contains(std::string(each.text)));
    CHECK(error.where().line == each.line);
    CHECK(std::string_view(error.where().file) == __FILE__);
    CHECK(error.layer_path().empty());
  }
}

TEST_CASE("An error keeps a line of its own: that of gradients() and that of a layer") {
  const unsigned gradientLine = __LINE__ + 1;
  auto gradient = jit([](const Value &a) -> Value { return gradients(ops::sum(a), std::vector<Value>{a})[0]; });
  CHECK(thrownBy([&] { (void)gradient(Tensor::zeros({2}, int32)); }).where().line == gradientLine);
  const unsigned layerLine = __LINE__ + 1;
  layers::Conv2D layer(3, 3);
  auto convolved = jit([=](const Value &a) { return layer(a); });
  const Error error = thrownBy([&] { (void)convolved(Tensor::ones({2, 8, 8})); });
  CHECK(error.where().line == layerLine);
  CHECK(error.layer_path() == layer.name());
}

TEST_CASE("An error of a call through std::function has the line of jit()") {
  const unsigned line = __LINE__ + 1;
  const std::function<Tensor(const Tensor &)> axis = jit([](const Value &a) { return ops::sum(a, 5); });
  CHECK(thrownBy([&] { (void)axis(Tensor::ones({2})); }).where().line == line);
}
// clang-format on

TEST_CASE("Integers, bools and enums among the arguments are compiled in, and a number for a Value is a scalar") {
  int traces = 0;
  const auto scaled = jit([&traces](const Value &x, int64_t times, bool negate, Padding padding) -> Value {
    ++traces;
    const Value y = x * times + static_cast<int>(padding);
    return negate ? -y : y;
  });
  const Tensor x = Tensor::of<float>({2}, {1});
  CHECK(scaled(x, 3, false, Padding::valid).item<float>() == 6);
  CHECK(scaled(x, 3, true, Padding::valid).item<float>() == -6);
  CHECK(scaled(x, -4, false, Padding::same).item<float>() == -7);
  const int before = traces;
  CHECK(scaled(x, 3, true, Padding::valid).item<float>() == -6);
  CHECK(traces == before);
  int made = 0;
  const auto product = jit([&made](const Value &x, const Value &rate) -> Value {
    ++made;
    return x * rate;
  });
  CHECK(product(x, 0.5).item<float>() == 1);
  const int first = made;
  CHECK(product(x, 0.25).item<float>() == 0.5F);
  CHECK(made == first);
  CHECK(jit(ops::maximum)(x, 7).item<float>() == 7);
  CHECK_THROWS_WITH(product(x, int64_t(1) << 40), Contains("int32 cannot represent 1099511627776"));
}

TEST_CASE("Each value of a static argument has a program: negative enums, 64 bits with and without a sign, bools") {
  enum class Way : int8_t { back = -3, on = 2 };
  enum Plain { first, second = 40 };
  int traces = 0;
  const auto f = jit([&traces](const Value &x, Way way, uint64_t bits, bool both, Plain plain) {
    ++traces;
    const double last = bits == UINT64_MAX ? 1.0 : 0.0;
    return Values{x + static_cast<int>(way), x * 0 + last, both ? x : -x, x * static_cast<int>(plain)};
  });
  const Tensor x = Tensor::of<float>({2}, {1});
  const auto results = [&](Way way, uint64_t bits, bool both, Plain plain) {
    std::vector<float> all;
    for (const Tensor &each : f(x, way, bits, both, plain))
      all.push_back(each.item<float>());
    return all;
  };
  CHECK(results(Way::back, UINT64_MAX, true, second) == std::vector<float>{-1, 1, 2, 80});
  CHECK(results(Way::on, uint64_t{1} << 63, false, first) == std::vector<float>{4, 0, -2, 0});
  CHECK(results(Way::back, UINT64_MAX, true, second) == std::vector<float>{-1, 1, 2, 80});
  CHECK(traces == 2);
  CHECK(results(Way::back, UINT64_MAX - 1, true, second)[1] == 0);
  CHECK(traces == 3);
}

TEST_CASE("An argument that is compiled in and has had more than 32 values is named once in a warning") {
  const test::CapturedOutput output;
  const auto shifted =
      jit([](const Value &x, int by, bool twice) { return (twice ? x * 2 : x) + by; }, {.name = "shifted"});
  const Tensor x = Tensor::of<float>({2}, {1});
  for (const bool twice : {false, true})
    for (int by = 1; by <= 32; ++by)
      CHECK(shifted(x, by, twice).item<float>() == static_cast<float>((twice ? 4 : 2) + by));
  CHECK(output.text.empty());
  for (int by = 33; by < 36; ++by)
    (void)shifted(x, by, false);
  CHECK_THAT(output.text, Contains("warning: argument 1 of 'shifted', counted from 0, has had more than 32 values"));
  CHECK(output.text.find("warning", 8) == std::string::npos);
}

TEST_CASE("A number where a Value stands is a scalar of floatx, int32 or bool, and compiles nothing anew") {
  int traces = 0;
  const auto product = jit([&traces](const Value &a, const Value &b) {
    ++traces;
    return a * b;
  });
  for (int i = 0; i < 5; ++i)
    CHECK(product(0.5 * i, 2.0).item<float>() == static_cast<float>(i));
  CHECK(traces == 1);
  CHECK(product(2, 3).dtype() == int32);
  CHECK(product(2, 0.5F).dtype() == float32);
  CHECK(product(true, true).dtype() == bool_);
  CHECK(product(INT32_MIN, 1).item<int32_t>() == INT32_MIN);
  for (const Number &number : {Number(int64_t{INT32_MAX} + 1), Number(int64_t{INT32_MIN} - 1), Number(UINT64_MAX)})
    CHECK_THROWS_WITH(number.is_negative() ? product(int64_t{INT32_MIN} - 1, 1) : product(number.bits(), 1),
                      Contains("ValueError") && Contains("int32 cannot represent"));
  config::set_floatx("float16");
  CHECK(product(0.5, 0.5).dtype() == float16);
  config::set_floatx("float32");
}

TEST_CASE("A generic lambda is given its types, and a Values stands beside static arguments") {
  const auto scaled = jit<Value(const Value &, int)>([](auto x, auto times) { return x * times; });
  CHECK(scaled(Tensor::of<float>({2}, {1}), 4).item<float>() == 8);
  const auto combined = jit([](const Values &v, bool sum) { return sum ? v[0] + v[1] : v[0] - v[1]; });
  const Tensor a = Tensor::of<float>({2}, {1}), b = Tensor::of<float>({3}, {1});
  CHECK(combined({a, b}, true).item<float>() == 5);
  CHECK(combined({a, b}, false).item<float>() == -1);
}

namespace {

/// A Sequential with a penalty on a weight, and a penalty on an activity if `ofActivity`.
Sequential penalized(bool ofActivity) {
  return Sequential(
      {Input({2}), layers::Dense(2, {.kernel_regularizer = "l2", .name = "weighed"}),
       layers::Dense(1, {.activity_regularizer = ofActivity ? Regularizer("l1") : Regularizer(), .name = "active"})},
      {.name = "net"});
}
/// The output of two calls of `step`, with other shapes.
std::string saidBy(const Jitted<void, const Value &> &step) {
  const halftone::test::CapturedOutput captured;
  step(Tensor::ones({3, 2}));
  step(Tensor::ones({4, 2}));
  return captured.text;
}

} // namespace

TEST_CASE(
    "A function of jit that updates variables and leaves out its layers' penalties gets one warning that names them") {
  const auto updating = [](const Sequential &model, const std::function<void()> &more = {}) {
    const Optimizer optimizer = optimizers::SGD(0.1);
    return jit(
        [=](const Value &x) {
          const Value loss = ops::mean(ops::square(model(x, {.training = true})));
          if (more)
            more();
          optimizer.minimize(loss, model.trainable_variables());
        },
        {.name = "own_step"});
  };
  CHECK(saidBy(updating(penalized(true))) == "warning: the update in the jit function 'own_step' ignores the penalties "
                                             "of 'net/active', 'net/weighed': add the "
                                             "losses() of the model to the loss\n");
  CHECK_THAT(saidBy(updating(penalized(false))), Contains("the penalties of 'net/weighed': add"));
  const Sequential read = penalized(true), plain({Input({2}), layers::Dense(1)});
  CHECK(saidBy(updating(read, [read] { (void)read.losses(); })).empty());
  CHECK(saidBy(updating(plain)).empty());
  const Sequential frozen = penalized(false);
  frozen.layers().at(0).set_trainable(false);
  CHECK(saidBy(updating(frozen)).empty()); // fit() has no penalty on it either
  const Sequential forward = penalized(true);
  CHECK(saidBy(jit([forward](const Value &x) { (void)forward(x, {.training = true}); })).empty()); // no update
}
