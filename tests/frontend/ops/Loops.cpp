// Loops and branches: values, gradients, assignments, unknown extents, and rejected calls.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;
using List = std::vector<Value>;
using Pair = std::pair<Values, Values>;

static const Tensor six({1, 2, 3, 4, 5, 6}, {3, 2}), two({10, 20}, {2});

static List listOf(const Values &values) { return {values.begin(), values.end()}; }
static List listOf(const Pair &both) {
  List all = listOf(both.first);
  for (const Value &y : both.second)
    all.push_back(y);
  return all;
}
static std::vector<Tensor> results(const std::vector<Tensor> &feeds, const std::function<List(const List &)> &f) {
  return runOnce(Run::interpreted, feeds, f);
}
static std::string refusal(const std::vector<Tensor> &feeds, const std::function<List(const List &)> &f) {
  return errorOf([&] { (void)results(feeds, f); });
}

TEST_CASE("scan carries values on and stacks others, from either end") {
  const auto sums = [](const Values &carry, const Values &x) { return Pair{carry[0] + x[0], {carry[0] * 2.0, x[0]}}; };
  auto y = results({two, six}, [&](const List &v) { return listOf(ops::scan(sums, v[0], v[1])); });
  CHECK(numbers(y[0]) == Row{19, 32});
  CHECK(numbers(y[1]) == Row{20, 40, 22, 44, 28, 52});
  CHECK(numbers(y[2]) == numbers(six));
  y = results({two, six}, [&](const List &v) { return listOf(ops::scan(sums, v[0], v[1], {.reverse = true})); });
  CHECK(numbers(y[0]) == Row{19, 32});
  CHECK(numbers(y[1]) == Row{36, 60, 30, 52, 20, 40});
  y = results({two}, [](const List &v) {
    return listOf(
        ops::scan([](const Values &c, const Values &) { return Pair{c[0] * 2.0, {}}; }, v[0], {}, {.length = 4}));
  });
  CHECK(numbers(y[0]) == Row{160, 320});
}

TEST_CASE("checkpoints change no bit of values and gradients") {
  for (bool reverse : {false, true})
    for (int64_t every : {1, 2, 3, 4, 7, 9}) {
      std::vector<std::vector<Tensor>> both;
      for (bool checkpoints : {false, true})
        both.push_back(
            results({Tensor({0.1, -0.2}, {2}), Tensor::ones({7, 2}), Tensor({0.3, 0.7}, {2})}, [&](const List &v) {
              ops::ScanArgs args{.reverse = reverse};
              if (checkpoints)
                args.checkpoint_every = every;
              auto [last, ys] = ops::scan(
                  [&](const Values &c, const Values &x) {
                    Value h = ops::tanh(c[0] * v[2] + x[0]);
                    return Pair{h, h * h};
                  },
                  v[0], v[1], args);
              Value loss = ops::sum(last[0]) + ops::sum(ys[0]);
              auto slopes = gradients(loss, {v[0], v[1], v[2]});
              return List{last[0], ys[0], slopes[0], slopes[1], slopes[2]};
            }));
      INFO(every << (reverse ? " reverse" : ""));
      for (size_t i = 0; i < both[0].size(); ++i)
        CHECK(numbers(both[0][i]) == numbers(both[1][i]));
    }
}

TEST_CASE("A long loop that is computed again in pieces gives the same bits") {
  // 64 steps are 8 segments; 67 steps have a remainder; shorter loops stay whole.
  for (bool reverse : {false, true})
    for (int64_t steps : {63, 64, 67, 103}) {
      std::vector<std::vector<Tensor>> both;
      for (bool again : {false, true})
        both.push_back(
            results({Tensor({0.1, -0.2}, {2}), Tensor::ones({steps, 2}), Tensor({0.3, 0.7}, {2})}, [&](const List &v) {
              const auto loop = [&](const Values &all) {
                const auto [last, ys] = ops::scan(
                    [&](const Values &c, const Values &x) {
                      Value h = ops::tanh(c[0] * all[2] + x[0]) * c[1];
                      return Pair{{h, c[1] + 0.125}, h * h};
                    },
                    {all[0], ops::ones({})}, all[1], {.reverse = reverse});
                const Value counted = ops::fori_loop(
                    0, steps,
                    [&](const Value &i, const Values &c) { return c[0] * 0.5 + ops::cast(i, float32) * all[2]; },
                    all[0])[0];
                return ops::concatenate({last[0], ops::reshape(ys[0], {2 * steps}), counted}, 0);
              };
              const Value y = again ? remat(loop)(Values(v)) : loop(Values(v));
              auto slopes = gradients(ops::sum(y * y), {v[0], v[1], v[2]});
              return List{y, slopes[0], slopes[1], slopes[2]};
            }));
      INFO(steps << (reverse ? " reverse" : ""));
      for (size_t i = 0; i < both[0].size(); ++i)
        CHECK(numbers(both[0][i]) == numbers(both[1][i]));
    }
}

/// The arena size in bytes of an LSTM of 32 features and 32 units over `steps` steps of 8 samples: for its last output
/// and, with `trains`, for the gradients of its weights.
static int64_t arenaOfLstm(int64_t steps, bool trains, const ops::ScanArgs &args = {}) {
  const std::vector<TensorType> types{{DType::float32, {steps, 8, 32}},
                                      {DType::float32, {32, 128}},
                                      {DType::float32, {32, 128}},
                                      {DType::float32, {128}}};
  detail::CompiledFunction function = recorded(Run::compiled, [&](const List &v) {
    const auto step = [&](const Values &carry, const Values &x) {
      const Value z = ops::matmul(x[0], v[1]) + ops::matmul(carry[0], v[2]) + v[3];
      const std::vector<Value> gates = ops::split(z, 4, 1);
      const Value c = ops::sigmoid(gates[1]) * carry[1] + ops::sigmoid(gates[0]) * ops::tanh(gates[2]);
      const Value h = ops::sigmoid(gates[3]) * ops::tanh(c);
      return Pair{Values{h, c}, Values{}};
    };
    const Value zero = ops::zeros({8, 32});
    const Value last = ops::scan(step, {zero, zero}, v[0], args).first[0];
    if (!trains)
      return List{last};
    return gradients(ops::sum(last * last), {v[1], v[2], v[3]});
  });
  return function.player(types)->executable().plan.arenaBytes;
}

TEST_CASE("an LSTM keeps 7 values of its units for each step, and with checkpoints a fraction") {
  constexpr int64_t unit = 1024 * int64_t(8) * 32 * 4, slack = 1 << 20; // a unit-sized value for all steps
  CHECK(arenaOfLstm(1024, false) <= 5 * unit + slack);
  const int64_t training = arenaOfLstm(1024, true);
  CHECK(training <= 12 * unit + slack);
  CHECK(arenaOfLstm(1024, true, {.checkpoint_every = 32}) <= training / 5);
  CHECK(arenaOfLstm(100000, false) <= 100000 / 1024 * 5 * unit + 2 * slack);
}

TEST_CASE("fori_loop counts from bounds that are integers or Values") {
  const auto adds = [](const Value &i, const Values &c) { return Values{c[0] + ops::cast(i, float32), c[1] * 2.0}; };
  auto y =
      results({two, Tensor(std::vector<int32_t>{-1}, {}), Tensor(std::vector<int32_t>{3}, {})}, [&](const List &v) {
        List all = listOf(ops::fori_loop(-1, 3, adds, {v[0], v[0]}));
        for (const Value &each : ops::fori_loop(v[1], v[2], adds, {v[0], v[0]}))
          all.push_back(each);
        for (const Value &each : ops::fori_loop(3, -1, adds, {v[0], v[0]}))
          all.push_back(each);
        return all;
      });
  for (size_t i : {0, 2})
    CHECK(numbers(y[i]) == Row{12, 22});
  for (size_t i : {1, 3})
    CHECK(numbers(y[i]) == Row{160, 320});
  CHECK(numbers(y[4]) == numbers(two));
}

TEST_CASE("while_loop ends by its condition or after maximum_iterations") {
  const auto goesOn = [](const Values &v) { return v[0] < 100.0; };
  const auto doubles = [](const Values &v) { return Values{v[0] + v[0], v[1] + 1}; };
  const auto run = [&](float start, std::optional<int64_t> maximum) {
    auto y = results({Tensor({start}, {}), Tensor(std::vector<int32_t>{0}, {})}, [&](const List &v) {
      return listOf(ops::while_loop(goesOn, doubles, {v[0], v[1]}, {.maximum_iterations = maximum}));
    });
    return Row{numbers(y[0])[0], numbers(y[1])[0]};
  };
  CHECK(run(1, {}) == Row{128, 7});
  CHECK(run(1, 3) == Row{8, 3});
  CHECK(run(1, 0) == Row{1, 0});
  CHECK(run(200, {}) == Row{200, 0});
}

TEST_CASE("cond and switch_ run one of their branches, and have gradients") {
  for (float x : {-2.0f, 3.0f}) {
    auto y = results({Tensor({x}, {})}, [](const List &v) {
      Value r = ops::cond(v[0] < 0.0, [&] { return v[0] * v[0]; }, [&] { return 5.0 * v[0]; })[0];
      return List{r, gradients(r, {v[0]})[0]};
    });
    CHECK(numbers(y[0])[0] == (x < 0 ? x * x : 5 * x));
    CHECK(numbers(y[1])[0] == (x < 0 ? 2 * x : 5));
  }
  const std::vector<std::function<Values(const Values &)>> branches{[](const Values &v) { return v[0] + 1.0; },
                                                                    [](const Values &v) { return v[0] * 2.0; },
                                                                    [](const Values &v) { return -v[0]; }};
  for (int32_t index : {-7, 0, 1, 2, 9}) {
    auto y = results({two, Tensor(std::vector<int32_t>{index}, {})},
                     [&](const List &v) { return listOf(ops::switch_(v[1], branches, v[0])); });
    CHECK(numbers(y[0]) == (index < 1 ? Row{11, 21} : index == 1 ? Row{20, 40} : Row{-10, -20}));
  }
}

TEST_CASE("map applies a function to each slice") {
  auto y = results({six}, [](const List &v) {
    List all = listOf(ops::map([](const Values &x) { return Values{ops::sum(x[0]), x[0] * 2.0}; }, v[0]));
    all.push_back(ops::vectorized_map([](const Values &x) { return ops::max(x[0]); }, v[0])[0]);
    return all;
  });
  CHECK(numbers(y[0]) == Row{3, 7, 11});
  CHECK(numbers(y[1]) == Row{2, 4, 6, 8, 10, 12});
  CHECK(numbers(y[2]) == Row{2, 4, 6});
}

TEST_CASE("associative_scan gives the partial results of any count of elements, along any axis") {
  for (int64_t count : {0, 1, 2, 3, 4, 5, 8, 13}) {
    std::vector<double> xs, sums, ends;
    for (int64_t i = 0; i < count; ++i)
      xs.push_back(static_cast<double>(i + 1));
    double sum = 0, end = 0;
    for (size_t i = 0; i < xs.size(); ++i) {
      sums.push_back(sum += xs[i]);
      ends.push_back(end += xs[xs.size() - 1 - i]);
    }
    std::reverse(ends.begin(), ends.end());
    auto y = results({Tensor(xs, {count}), Tensor(xs, {1, count})}, [](const List &v) {
      const auto adds = [](const Values &a, const Values &b) { return a[0] + b[0]; };
      return List{ops::associative_scan(adds, v[0])[0],
                  ops::associative_scan(adds, v[1], {.reverse = true, .axis = 1})[0]};
    });
    INFO(count);
    CHECK(numbers(y[0]) == sums);
    CHECK(numbers(y[1]) == ends);
  }
  // Matrix products are associative and do not commute: h' = a h + b as pairs (a, b).
  auto y = results({Tensor({2, 3, 4, 5}, {4}), Tensor({1, 1, 2, 3}, {4})}, [](const List &v) {
    return listOf(ops::associative_scan(
        [](const Values &p, const Values &q) { return Values{p[0] * q[0], q[0] * p[1] + q[1]}; }, {v[0], v[1]}));
  });
  CHECK(numbers(y[0]) == Row{2, 6, 24, 120});
  CHECK(numbers(y[1]) == Row{1, 4, 18, 93});
}

TEST_CASE("a function assigns variables step by step, and its losses are those of all steps") {
  Variable count(Tensor({1}, {}));
  auto y = results({six}, [&](const List &v) {
    return listOf(ops::scan(
        [&](const Values &, const Values &x) {
          count.assign(Value(count) * 2.0);
          return Pair{{}, ops::sum(x[0]) * Value(count)};
        },
        {}, v[0]));
  });
  CHECK(numbers(y[0]) == Row{6, 28, 88});
  CHECK(numbers(count.value()) == Row{8});
}

TEST_CASE("loops between layers keep unknown extents") {
  Input x({5, 3}), h({3});
  auto [last, ys] = ops::scan([](const Values &c, const Values &s) { return Pair{c[0] + s[0], s[0]}; }, ops::sum(h, 0),
                              ops::reshape(x, {none, 3}));
  CHECK(last[0].shape().str() == "(3,)");
  CHECK(ys[0].shape().str() == "(None, 3)");
  CHECK(ops::map([](const Values &v) { return ops::sum(v[0], 1); }, x)[0].shape().str() == "(None, 5)");
}

TEST_CASE("loops nest eight deep") {
  const std::function<Value(const Value &, int)> nest = [&](const Value &v, int depth) -> Value {
    if (depth == 0)
      return v + 1.0;
    return ops::scan([&](const Values &c, const Values &) { return Pair{nest(c[0], depth - 1), {}}; }, v, {},
                     {.length = depth == 1 ? 3 : 1})
        .first[0];
  };
  CHECK(numbers(results({Tensor({1}, {})}, [&](const List &v) { return List{nest(v[0], 8)}; })[0]) == Row{4});
  CHECK_THAT(refusal({Tensor({1}, {})}, [&](const List &v) { return List{nest(v[0], 9)}; }),
             Contains("loops nest more than 8 deep"));
}

TEST_CASE("loops and branches that do not fit together are refused") {
  const auto keep = [](const Values &c, const Values &) { return Pair{c, {}}; };
  const auto scanOf = [](auto f, const ops::ScanArgs &args = {}) {
    return [f, args](const List &v) { return listOf(ops::scan(f, v[0], v[1], args)); };
  };
  CHECK_THAT(refusal({two, six}, [&](const List &v) { return listOf(ops::scan(keep, v[0])); }),
             Contains("scan: expected xs or a length"));
  CHECK_THAT(refusal({two, six}, scanOf(keep, {.length = 4})),
             Contains("scan: xs 0 of shape (3, 2) has 3 steps; expected 4"));
  CHECK_THAT(refusal({two, six}, [&](const List &v) { return listOf(ops::scan(keep, v[0], {v[1], v[0]})); }),
             Contains("scan: xs 1 of shape (2,) has 2 steps; expected 3"));
  CHECK_THAT(refusal({two, Tensor({1}, {})}, scanOf(keep)),
             Contains("scan: xs 0 is a scalar; expected a leading axis of steps"));
  CHECK_THAT(refusal({two, six}, scanOf(keep, {.length = -1})),
             Contains("scan: expected a length from 0 to 2147483647, got -1"));
  CHECK_THAT(refusal({two, six}, scanOf(keep, {.unroll = 0})), Contains("scan: expected unroll of at least 1, got 0"));
  CHECK_THAT(refusal({two, six}, scanOf(keep, {.checkpoint_every = 0})),
             Contains("scan: expected checkpoint_every of at least 1, got 0"));
  CHECK_THAT(
      refusal({two, six}, scanOf([](const Values &c, const Values &) { return Pair{ops::cast(c[0], float16), {}}; })),
      Contains(
          "scan: carry 0 is float32 (2,) before a step and float16 (2,) after it; expected the same dtype: cast it in "
          "the function"));
  CHECK_THAT(refusal({two, six}, scanOf([](const Values &c, const Values &) { return Pair{ops::sum(c[0]), {}}; })),
             Contains("scan: carry 0 is float32 (2,) before a step and float32 () after it; expected the same shape"));
  CHECK_THAT(refusal({two, six}, scanOf([](const Values &c, const Values &) { return Pair{{c[0], c[0]}, {}}; })),
             Contains("scan: the function returned 2 carries for 1; expected one for each"));
  Value kept;
  CHECK_THAT(
      refusal({two, six},
              [&](const List &v) {
                (void)ops::scan(
                    [&](const Values &c, const Values &x) {
                      kept = x[0];
                      return Pair{c, {}};
                    },
                    v[0], v[1]);
                return List{kept + 1.0};
              }),
      Contains(
          "created inside a layer's call, or in the function of a loop or branch, was used after its end: return it"));
  CHECK_THAT(refusal({two},
                     [](const List &v) {
                       return listOf(ops::while_loop([](const Values &c) { return c[0] < 1.0; },
                                                     [](const Values &c) { return c; }, v[0]));
                     }),
             Contains("while_loop: the condition returned bool (2,); expected a bool scalar"));
  CHECK_THAT(refusal({two},
                     [](const List &v) {
                       return listOf(ops::while_loop([](const Values &c) { return ops::sum(c[0]) < 1.0; },
                                                     [](const Values &c) { return c; }, v[0],
                                                     {.maximum_iterations = -1}));
                     }),
             Contains("while_loop: expected maximum_iterations of 0 or more, got -1"));
  CHECK_THAT(refusal({two},
                     [](const List &v) {
                       return listOf(
                           ops::cond(ops::sum(v[0]) < 1.0, [&] { return v[0]; }, [&] { return ops::sum(v[0]); }));
                     }),
             Contains("cond: Value 0 is float32 (2,) in one branch and float32 () in the other; expected the same "
                      "shape and dtype"));
  CHECK_THAT(refusal({two},
                     [](const List &v) {
                       return listOf(
                           ops::cond(ops::sum(v[0]) < 1.0, [&] { return v[0]; }, [&] { return Values{v[0], v[0]}; }));
                     }),
             Contains("cond: one branch returned 1 Values, the other 2; expected equally many"));
  CHECK_THAT(
      refusal({two}, [](const List &v) { return listOf(ops::cond(v[0], [&] { return v[0]; }, [&] { return v[0]; })); }),
      Contains("cond: expected a bool scalar as the condition, got float32 of shape (2,)"));
  CHECK_THAT(
      refusal({two},
              [](const List &v) { return listOf(ops::switch_(v[0], {[](const Values &x) { return x; }}, v[0])); }),
      Contains("switch_: expected an integer scalar as the index, got float32 of shape (2,)"));
  CHECK_THAT(refusal({two},
                     [](const List &v) {
                       return listOf(
                           ops::fori_loop(0, int64_t{1} << 40, [](const Value &, const Values &c) { return c; }, v[0]));
                     }),
             Contains("fori_loop: expected int32 bounds of at most 2147483647 steps, got 0 and 1099511627776"));
  CHECK_THAT(refusal({two},
                     [](const List &v) {
                       return listOf(
                           ops::fori_loop(v[0], v[0], [](const Value &, const Values &c) { return c; }, v[0]));
                     }),
             Contains("fori_loop: expected int32 scalars as bounds, got float32 of shape (2,)"));
}
