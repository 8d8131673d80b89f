// How each ambiguity of operands, braces, keys and arguments is resolved.
// SPDX-License-Identifier: Apache-2.0
#include "Check.h"
#include <array>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
using namespace halftone;
using namespace halftone::layers;

struct Own { // converts to a Value, which an operator does not consider
  Value v;
  operator Value() const { return v; }
};

static void operands() {
  const Variable v(Tensor::full({2}, 3)), w(Tensor::full({2}, 3));
  const Tensors all = jit([=](const Value &x, const Value &y) {
    const int64_t n = 2;
    const size_t m = 2;
    const float f = 2;
    const Value i = ops::cast(x, int32), b = x > 0;
    Value r = x;
    r += 1;
    r -= v;
    r *= y;
    r /= 2;
    r %= 3;
    Value bits = b;
    bits &= true;
    bits |= b;
    bits ^= b;
    return Values{0 == x,
                  x != 1,
                  1 < x,
                  x >= n,
                  x * m,
                  f / x,
                  v + w,
                  v * 2,
                  2 - v,
                  -v,
                  !b,
                  ~i,
                  i % 2,
                  3 % i,
                  i & 1,
                  x.shape()[0] * x,
                  b == true,
                  v == w,
                  v < 0.5,
                  r,
                  bits,
                  ops::where(b, 1, 0),
                  ops::maximum(1, x),
                  ops::clip(x, 0, v),
                  ops::full({2}, ops::sum(x)),
                  ops::full({2, 3}, 0.5, float16),
                  ops::add(Own{x}.v, 1)};
  })(Tensor({-1, 4}), Tensor({2, 5}));
  const std::vector<Tensor> results(all.begin(), all.end());
  const std::vector<std::vector<double>> expected{{0, 0},   {1, 1},
                                                  {0, 1},   {0, 1},
                                                  {-2, 8},  {-2, 0.5},
                                                  {6, 6},   {6, 6},
                                                  {-1, -1}, {-3, -3},
                                                  {1, 0},   {0, -5},
                                                  {1, 0},   {0, 3},
                                                  {1, 0},   {-2, 8},
                                                  {0, 1},   {1, 1},
                                                  {0, 0},   {0, 2},
                                                  {0, 0},   {0, 1},
                                                  {1, 4},   {0, 3},
                                                  {3, 3},   std::vector<double>(6, 0.5),
                                                  {0, 5}};
  check(results.size() == expected.size(), "as many results as expected");
  for (size_t i = 0; i < expected.size(); ++i)
    check(near(results.at(i), expected[i]), ("the operand of row " + std::to_string(i)).c_str());
  check(results[21].dtype() == int32 && results[25].dtype() == float16, "weak numbers, and a dtype that is named");
}

static void objects() {
  const Input a({3}), b({3});
  const Value sum = a + b, product = a * 2;
  check(sum.shape() == product.shape(), "Inputs are Values");
  check(Dense(1) != Dense(1), "layers are equal if they are one");
  check(sum.shape() == b.shape() && sum.dtype() == float32 && sum.defined(), "shapes and dtypes compare at once");
  std::ostringstream text;
  text << sum << Tensor({1}) << Shape({1}) << float32 << Logs() << Device::cpu() << dtype_policy() << a << Dense(3);
  check(text.str().starts_with("<Value shape=(None, 3)"), "each object prints");
  Tensor t({1, 2});
  t += t;
  t *= 2;
  t /= t;
  const int64_t n = 2;
  check(near(t + t, {2, 2}) && near(2 * t, {2, 2}) && near(1.0F / t, {1, 1}) && near(-t, {-1, -1}) &&
            near(t - n, {-1, -1}),
        "arithmetic on data");
  srandom(1);
  check(::random() >= 0, "random() of POSIX has two colons before it"); // random:: is the library's namespace
}

static void keys() {
  const Tensor t({{1, 2, 3}, {4, 5, 6}});
  const Tensors all = jit([](const Value &x, const Value &i) {
    const int64_t n = 1;
    const size_t m = 0;
    return Values{x[0],
                  x[n],
                  x[m],
                  x[-1],
                  x[i],
                  x[Slice(1, none)],
                  x[{0}],
                  x[{0, 1}],
                  x[{n, Slice()}],
                  x[{Slice(none, -1), newaxis}],
                  x[{ellipsis, 0}],
                  x[ellipsis],
                  x[{Slice(0, n), Slice(none, none, -1)}],
                  x.at(0).set(1),
                  x.at({0, Slice()}).add(x[0])};
  })(t, Tensor({1}, int32));
  const std::vector<Tensor> results(all.begin(), all.end());
  const std::vector<std::vector<double>> expected{
      {1, 2, 3}, {4, 5, 6}, {1, 2, 3}, {4, 5, 6},          {4, 5, 6}, {4, 5, 6},          {1, 2, 3},         {2},
      {4, 5, 6}, {1, 2, 3}, {1, 4},    {1, 2, 3, 4, 5, 6}, {3, 2, 1}, {1, 1, 1, 4, 5, 6}, {2, 4, 6, 4, 5, 6}};
  for (size_t i = 0; i < expected.size(); ++i)
    check(near(results.at(i), expected[i]), ("the key of row " + std::to_string(i)).c_str());
  check(results.at(9).shape() == Shape({1, 1, 3}), "newaxis");
  check(near(t[0], {1, 2, 3}) && near(t[{0, 1}], {2}) && near(t[Slice(0, 2)], {1, 2, 3, 4, 5, 6}), "keys of data");
  static_assert(std::input_iterator<Tensor::iterator>);
}

static void braces() {
  const std::vector<float> v{1, 2, 3, 4};
  std::vector<uint8_t> u{1, 2};
  const Tensor a{{1, 2}, {3, 4}}, b({{1, 2}, {3, 4}}), c({1, 2, 3}), d{1.0, 2.0}, e({1, 2, 3, 4}, {2, 2}),
      f({{{1}, {2}}, {{3}, {4}}}), g({1, 0}, DType::bool_), h({{1}}), i{}, j(v), k(v, {2, 2}), l{v}, m{v, {4}},
      n(std::move(u), {2, 1}), o(n), p({1}), p2({1}, {}), p3({{1, 2}}, int32), q = {};
  for (const Tensor &matrix : {a, b, e, k})
    check(matrix.shape() == Shape({2, 2}) && near(matrix, {1, 2, 3, 4}), "rows in braces, or numbers and a shape");
  check(c.shape() == Shape({3}) && d.shape() == Shape({2}) && p.shape() == Shape({1}), "numbers in braces");
  check(f.shape() == Shape({2, 2, 1}) && h.shape() == Shape({1, 1}), "any depth");
  check(g.dtype() == bool_ && p3.dtype() == int32 && p3.shape() == Shape({1, 2}), "a dtype after the braces");
  check(!i.defined() && !q.defined(), "empty braces are no data");
  for (const Tensor &vector : {j, l, m})
    check(vector.shape() == Shape({4}), "a vector is one axis");
  check(o.shape() == Shape({2, 1}) && o.dtype() == uint8, "a vector that is moved in");
  check(p2.shape() == Shape(), "one number and the shape {}");
  check(Tensor(std::vector<long long>{1}).dtype() == int64, "long long is int64");
  check(Tensor(std::vector<unsigned short>{1}).dtype() == uint16, "unsigned short is uint16");
  check(Tensor(std::vector<bool>{true}, {1, 1}).dtype() == bool_, "vector<bool>");
  const std::optional<Tensor> none;
  check(!none, "optional data");
  const Tensors ts = a, us = {a, b}, vs = {{"a", a}, {"b", b}}, ws{};
  check(ts.size() == 1 && us.size() == 2 && vs.size() == 2 && ws.size() == 0, "lists of data");
}

static void models() {
  const Input a({2}, {.name = "a"}), b({2}, {.name = "b"});
  const Model one({a}, {Dense(2, {.activation = activations::relu})(a)}),
      two({a, b}, {Dense(1, {.activation = ops::tanh, .name = "y"})(a + b)});
  check(two({a, b}).shape() == Shape({none, 1}) && two(Values{a, b}).shape() == Shape({none, 1}), "several inputs");
  check(one(a, {.training = true}).shape() == Shape({none, 2}), "arguments of a call");
  const Tensor t({{1, 2}, {3, 4}}), y({{1}, {0}});
  two.compile(
      {.optimizer = "adam", .loss = losses::mean_squared_error, .metrics = {"mae", losses::mean_absolute_error}});
  two.fit({{"a", t}, {"b", t}}, {{"y", y}}, {.verbose = 0});
  two.fit({t, t}, y, {.verbose = 0, .validation_data = {{t, t}, y}, .class_weight = {{0, 1.0}, {1, 2.0}}});
  check(two.predict({t, t}, {.verbose = 0}).shape() == Shape({2, 1}), "a list");
  check(two.predict({{"a", t}, {"b", t}}, {.verbose = 0}).shape() == Shape({2, 1}), "names");
  one.compile({.loss = [](const Value &true_, const Value &pred) { return losses::huber(true_, pred, 0.5); }});
  one.fit(t, t, {.verbose = 0});
  const Conv2D conv(1, 2, {.padding = "same", .data_format = "channels_first"});
  const MaxPool2D pool(2, {.padding = Padding::same});
  const RandomFlip flip("horizontal"), other(FlipMode::vertical);
  const callbacks::EarlyStopping stopping({.mode = "auto"});
  check(conv.name() != pool.name() && flip.name() != other.name(), "words as literals and as enumerators");
}

static void functions() {
  const Tensor t({1, 2});
  const auto f = jit([](const Value &x, int n, bool b, const Values &more) { return b ? x * n : more[0]; });
  const auto g = jit(ops::maximum);
  const auto h = jit([](Value x) { return x; });
  const auto k = jit<Value(const Value &, const Value &)>([](const auto &a, const auto &b) { return a + b; });
  const auto nothing = jit([](const Value &x) { (void)x; });
  nothing(t);
  const auto [v, d] = jit(value_and_grad([](const Value &x, const Value &y) { return ops::sum(x * y); }))(t, 2);
  check(near(f(t, 3, true, {t, t}), {3, 6}) && near(f(t, 3, false, {t, t}), {1, 2}), "an integer, a bool and Values");
  check(near(g(t, 1.5), {1.5, 2}) && near(h(t), {1, 2}) && near(k(t, 1), {2, 3}), "ops, values and named types");
  check(v.item() == 6 && near(d, {2, 2}), "a value and a gradient beside a number");
  const random::SeedGenerator generator(5);
  const Tensor drawn = jit([=](const Value &x) {
    return x * 0 + random::normal({2}, {.seed = 3}) - random::normal({2}, {.seed = 3}) +
           0 * random::uniform({2}, {.minval = -1, .seed = generator});
  })(t);
  check(near(drawn, {0, 0}), "seeds as numbers and as generators");
}

int main() {
  operands();
  objects();
  keys();
  braces();
  models();
  functions();
  return wrong;
}
