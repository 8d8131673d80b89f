// Functions with loops on a GPU give the interpreter's results, with plain launches and as graphs, for any step count.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;

namespace {

using List = std::vector<Value>;
using Pair = std::pair<Values, Values>;

/// A function, with lists of feeds of the same types.
struct LoopFunction {
  std::string name;
  std::function<List(const List &)> body;
  std::vector<std::vector<Tensor>> feeds;
};

/// Each list of feeds has two arrays of 4 float32 and a number of steps.
std::vector<std::vector<Tensor>> feedsOf(const std::vector<int32_t> &steps) {
  std::vector<std::vector<Tensor>> feeds;
  for (const int32_t count : steps)
    feeds.push_back({Tensor({0.25, -0.5, 0.75, 0.1}, {4}), Tensor({0.5, 1.25, -1, 0.3}, {4}),
                     Tensor(std::vector<int32_t>{count}, {})});
  return feeds;
}

/// Maps to (-1, 1), bit-identically on each device in strict numerics.
Value bounded(const Value &x) { return x / (1.0 + ops::abs(x)); }

Value one() { return ops::ones({}, int32); }

Values stepOf(const Values &v, const Value &w) { return {bounded(v[0] * w + 0.125), v[1] + one()}; }

/// v[0] after v[2] steps of a while loop, and the number of steps taken.
List counting(const List &v, std::optional<int64_t> most) {
  const Values found =
      ops::while_loop([&](const Values &c) { return c[1] < v[2]; }, [&](const Values &c) { return stepOf(c, v[1]); },
                      {v[0], ops::zeros({}, int32)}, {.maximum_iterations = most});
  return {found[0], found[1]};
}

/// An inner loop with as many steps as the outer loop has taken, plus v[2].
Values inner(const Values &c, const List &v) {
  const Value limit = c[1] + v[2];
  const Values found = ops::while_loop([&](const Values &d) { return d[1] < limit; },
                                       [&](const Values &d) { return stepOf(d, v[1]); }, {c[0], c[1]});
  return {found[0] + c[0], c[1] + one()};
}

List whileInWhile(const List &v) {
  const Values found =
      ops::while_loop([](const Values &c) { return c[1] < 3; }, [&](const Values &c) { return inner(c, v); },
                      {v[0], ops::zeros({}, int32)}, {.maximum_iterations = 100});
  return {found[0], found[1]};
}

List whileInScan(const List &v) {
  const auto [last, ys] = ops::scan(
      [&](const Values &c, const Values &x) {
        const Values next = inner({c[0] + x[0], c[1]}, v);
        return Pair{next, {next[0]}};
      },
      {v[0], ops::zeros({}, int32)}, ops::arange(3));
  return {last[0], last[1], ys[0]};
}

List scanInWhile(const List &v) {
  const Values found = ops::while_loop([&](const Values &c) { return c[1] < v[2]; },
                                       [&](const Values &c) {
                                         const auto [last, ys] = ops::scan(
                                             [&](const Values &d, const Values &x) {
                                               const Value next = bounded(d[0] * v[1] + x[0]);
                                               return Pair{next, {next * x[0]}};
                                             },
                                             c[0], ops::arange(5) * 0.25);
                                         return Values{last[0] + ys[0][2], c[1] + one()};
                                       },
                                       {v[0], ops::zeros({}, int32)});
  return {found[0], found[1]};
}

/// A loop that ends early, if an element is large, through a branch.
List branching(const List &v) {
  const Values found =
      ops::while_loop([&](const Values &c) { return ops::logical_and(c[2], c[1] < v[2]); },
                      [&](const Values &c) {
                        const Values next = ops::cond(
                            ops::sum(c[0]) > 100.0, [&] { return Values{c[0] - 1.0, ops::sum(c[0]) < 0.0}; },
                            [&] { return Values{c[0] + ops::abs(v[1]), ops::sum(c[0]) < 1e9}; });
                        return Values{next[0], c[1] + one(), next[1]};
                      },
                      {v[0], ops::zeros({}, int32), ops::ones({}, DType::bool_)});
  return {found[0], found[1], found[2]};
}

/// The gradient of a recurrence over the rows of v[2]. It keeps the carries of every `every`-th step if given.
List trained(const List &v, std::optional<int64_t> every) {
  const auto [last, ys] = ops::scan(
      [&](const Values &c, const Values &x) {
        const Value h = bounded(c[0] * v[1] + x[0]);
        return Pair{h, {h * h}};
      },
      v[0], v[2], {.checkpoint_every = every});
  const Value loss = ops::sum(last[0]) + ops::sum(ys[0]);
  const auto slopes = gradients(loss, {v[0], v[1], v[2]});
  return {last[0], ys[0], slopes[0], slopes[1], slopes[2]};
}

std::vector<LoopFunction> whiles() {
  std::vector<LoopFunction> functions;
  for (const std::optional<int64_t> most : {std::optional<int64_t>(), {1}, {64}, {65}, {1000}})
    functions.push_back({"a while of at most " + (most ? std::to_string(*most) : "any number of") + " steps",
                         [most](const List &v) { return counting(v, most); }, feedsOf({0, 1, 2, 20, 64, 65, 300})});
  functions.push_back({"a branch in a while", branching, feedsOf({0, 1, 20, 300})});
  return functions;
}

std::vector<LoopFunction> nests() {
  return {{"a while in a while", whileInWhile, feedsOf({0, 1, 20})},
          {"a while in a scan", whileInScan, feedsOf({0, 1, 20, 70})},
          {"a scan in a while", scanInWhile, feedsOf({0, 1, 2, 20, 100})}};
}

/// A gradient over `length` steps, which keeps the carries of every `every`-th step if given.
LoopFunction gradientOver(int64_t length, std::optional<int64_t> every = {}) {
  return {"a gradient over " + std::to_string(length) + " steps" + (every ? " with checkpoints" : ""),
          [every](const List &v) { return trained(v, every); },
          {{Tensor({0.25, -0.5, 0.75, 0.1}, {4}), Tensor({0.5, 1.25, -1, 0.3}, {4}), counted({length, 4}) * 0.001}}};
}

/// The numbers of all results, concatenated.
std::vector<double> numbersOf(const std::vector<Tensor> &tensors) {
  std::vector<double> all;
  for (const Tensor &tensor : tensors)
    for (const double number : numbers(tensor))
      all.push_back(number);
  return all;
}

/// Checks that each function is bit-identical with plain launches and as a graph, and in strict numerics equals the
/// interpreter.
void check(const std::vector<LoopFunction> &functions) {
  for (const LoopFunction &each : functions)
    for (const Run run : {Run::strict, Run::compiled}) {
      std::vector<std::vector<double>> expected, plain;
      detail::CompiledFunction interpreted = recorded(Run::interpreted, each.body);
      for (const std::vector<Tensor> &feeds : each.feeds)
        expected.push_back(numbersOf(interpreted.run(feeds)));
      const DeviceScope scope(Device::cuda(0));
      for (const std::vector<Tensor> &feeds : each.feeds)
        plain.push_back(numbersOf(recorded(run, each.body).run(feeds))); // the first play queues launch by launch
      detail::CompiledFunction function = recorded(run, each.body);
      (void)function.run(each.feeds.back());
      for (size_t i = 0; i < each.feeds.size(); ++i) {
        INFO(each.name << ", feeds " << i << (run == Run::strict ? ", strict" : ""));
        CHECK((run == Run::strict ? plain[i] == expected[i] : near(plain[i], expected[i], 1e-5)));
        CHECK(numbersOf(function.run(each.feeds[i])) == plain[i]);
      }
    }
}

} // namespace

TEST_CASE("A while of any number of steps has the bits of plain launches, in strict numerics the interpreter's") {
  check(whiles());
}

TEST_CASE("So has a while of 2000 steps") {
  check({{"", [](const List &v) { return counting(v, {}); }, feedsOf({2000})}});
}

TEST_CASE("So have loops in loops") { check(nests()); }

TEST_CASE("So have gradients of scans") {
  for (const int64_t length : {0, 1, 2, 20})
    check({gradientOver(length)});
  for (const auto &[length, every] : {std::pair<int64_t, int64_t>(17, 8), {20, 4}, {300, 17}})
    check({gradientOver(length, every)});
}

TEST_CASE("So has the gradient of a scan of 1000 steps") { check({gradientOver(1000)}); }
