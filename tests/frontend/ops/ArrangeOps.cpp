// Concatenating, splitting, repeating and reordering: values, gradients, unknown extents, rejected calls.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include "tests/frontend/Slopes.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;
using List = std::vector<Value>;

static const Tensor six({0, 1, 2, 3, 4, 5}, {2, 3});
static const Tensor seven({0, 1, 2, 3, 4, 5, 6}, {7});

static std::string refusal(const Tensor &x, std::function<Values(const Value &)> f) {
  return errorOf([&] {
    (void)runOnce(Run::interpreted, {x}, [f](const List &v) {
      Values y = f(v[0]);
      return List(y.begin(), y.end());
    });
  });
}

TEST_CASE("stack joins along a new axis and promotes; unstack takes the slices apart") {
  Tensor a({1, 2}, {2}), b(std::vector<int8_t>{3, 4}, {2}), number({5}, {}), none_ = Tensor::zeros({0});
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {a, b, number, none_, six}, [](const List &v) {
      List parts = ops::unstack(v[4], {}, 1);
      return List{ops::stack({v[0], v[1]}),
                  ops::stack({v[0], v[1]}, -1),
                  ops::stack({v[2], v[2]}),
                  ops::stack(v[0], 1),
                  ops::stack({v[3], v[3]}),
                  parts[0],
                  parts[2],
                  ops::unstack(v[4], 2)[1]};
    });
    CHECK(numbers(y[0]) == Row{1, 2, 3, 4});
    CHECK(y[0].dtype() == float32);
    CHECK(numbers(y[1]) == Row{1, 3, 2, 4});
    CHECK(numbers(y[2]) == Row{5, 5});
    CHECK(y[3].shape() == Shape({2, 1}));
    CHECK(y[4].shape() == Shape({2, 0}));
    CHECK(numbers(y[5]) == Row{0, 3});
    CHECK(numbers(y[6]) == Row{2, 5});
    CHECK(numbers(y[7]) == Row{3, 4, 5});
  }
}

TEST_CASE("stack and unstack refuse shapes that differ, wrong axes and wrong counts") {
  CHECK_THAT(refusal(six, [](const Value &x) { return ops::stack({x, ops::slice(x, {0, 0}, {2, 2})}); }),
             Contains("ValueError: stack of shapes (2, 3) and (2, 2), which differ"));
  CHECK_THAT(refusal(six, [](const Value &x) { return ops::stack(x, 3); }),
             Contains("stack: axis 3 is out of range for rank 3"));
  CHECK_THAT(errorOf([] { (void)ops::stack(Values()); }), Contains("ValueError: stack needs at least one input"));
  CHECK_THAT(refusal(six, [](const Value &x) { return ops::unstack(x, 3); }),
             Contains("ValueError: unstack: axis 0 of shape (2, 3) has 2 elements, but num is 3"));
  CHECK_THAT(errorOf([] { (void)ops::unstack(Input({3})); }),
             Contains("ValueError: unstack: axis 0 of shape (None, 3) has an unknown extent; expected num"));
  CHECK(ops::unstack(Input({3}), 2).size() == 2);
  CHECK(ops::unstack(Input({3}), {}, -1)[2].shape() == Shape({none}));
}

TEST_CASE("split cuts an axis into equal sections, or before indices") {
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {seven, six}, [](const List &v) {
      List all;
      for (const List &parts : {ops::split(v[0], {2, 5}), ops::split(v[0], {0, 3, 3, 7}), ops::split(v[0], 7),
                                ops::split(v[1], 3, -1), ops::split(v[1], {1}, 1), ops::split(v[0], 1)})
        all.insert(all.end(), parts.begin(), parts.end());
      return all;
    });
    const Row expected[] = {{0, 1}, {2, 3, 4}, {5, 6}, {},     {0, 1, 2}, {},           {3, 4, 5, 6},
                            {},     {0},       {1},    {2},    {3},       {4},          {5},
                            {6},    {0, 3},    {1, 4}, {2, 5}, {0, 3},    {1, 2, 4, 5}, {0, 1, 2, 3, 4, 5, 6}};
    REQUIRE(y.size() == std::size(expected));
    for (size_t i = 0; i < y.size(); ++i)
      CHECK(numbers(y[i]) == expected[i]);
  }
  CHECK_THAT(refusal(seven, [](const Value &x) { return ops::split(x, 3); }),
             Contains("ValueError: split: axis 0 of shape (7,) cannot be divided into 3 equal sections"));
  CHECK_THAT(refusal(seven, [](const Value &x) { return ops::split(x, 0); }),
             Contains("ValueError: split: expected at least one section, got 0"));
  CHECK_THAT(errorOf([] { (void)ops::split(Input({4}), 1 << 30, 0); }),
             Contains("ValueError: split: expected at most 1048576 sections"));
  for (const Sections &indices : {Sections{5, 2}, Sections{-1, 2}, Sections{2, 8}})
    CHECK_THAT(refusal(seven, [&](const Value &x) { return ops::split(x, indices); }),
               Contains("ValueError: split: expected ascending indices within axis 0 of shape (7,), got ["));
  CHECK_THAT(refusal(seven, [](const Value &x) { return ops::split(x, 1, 1); }),
             Contains("split: axis 1 is out of range"));
}

TEST_CASE("a batch of unknown extent can be split, and the sections' extent is unknown") {
  std::vector<Value> halves = ops::split(Input({4}), 2);
  CHECK(halves[1].shape() == Shape({none, 4}));
  CHECK(ops::split(Input({4}), {1}, 1)[1].shape() == Shape({none, 3}));
  CHECK_THAT(errorOf([] { (void)ops::split(Input({4}), 3, 1); }),
             Contains("axis 1 of shape (None, 4) cannot be divided into 3"));
  Input x({2});
  std::vector<Value> parts = ops::split(x, 2);
  Model model(x, parts[0] + 10.0 * parts[1]);
  CHECK(numbers(model.predict(Tensor({1, 2, 3, 4}, {2, 2}))) == Row{31, 42});
}

TEST_CASE("tile repeats whole tensors, repeat each slice") {
  Tensor number({7}, {}), none_ = Tensor::zeros({0, 2});
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {six, number, none_}, [](const List &v) {
      return List{ops::tile(v[0], 2),       ops::tile(v[0], {2, 1}), ops::tile(v[0], {2, 1, 1}),
                  ops::tile(v[1], {2, 2}),  ops::tile(v[0], {0, 2}), ops::tile(v[2], 2),
                  ops::tile(v[0], {}),      ops::repeat(v[0], 2),    ops::repeat(v[0], 2, 0),
                  ops::repeat(v[0], 3, -1), ops::repeat(v[1], 2),    ops::repeat(v[0], 0, 1),
                  ops::repeat(v[2], 2)};
    });
    CHECK(numbers(y[0]) == Row{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    CHECK(y[0].shape() == Shape({2, 6}));
    CHECK(numbers(y[1]) == Row{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
    CHECK(y[2].shape() == Shape({2, 2, 3}));
    CHECK(numbers(y[2]) == numbers(y[1]));
    CHECK(numbers(y[3]) == Row(4, 7));
    CHECK(y[4].shape() == Shape({0, 6}));
    CHECK(y[5].shape() == Shape({0, 4}));
    CHECK(numbers(y[6]) == numbers(six));
    CHECK(numbers(y[7]) == Row{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
    CHECK(numbers(y[8]) == Row{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    CHECK(y[8].shape() == Shape({4, 3}));
    CHECK(numbers(y[9]) == Row{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5});
    CHECK(numbers(y[10]) == Row{7, 7});
    CHECK(y[11].shape() == Shape({2, 0}));
    CHECK(y[12].shape() == Shape({0}));
  }
  CHECK_THAT(refusal(six, [](const Value &x) { return ops::tile(x, {1, -2}); }),
             Contains("ValueError: tile: repeats must not be negative, got [1, -2]"));
  CHECK_THAT(refusal(six, [](const Value &x) { return ops::repeat(x, -1); }),
             Contains("ValueError: repeat: repeats must not be negative, got -1"));
  CHECK_THAT(refusal(six, [](const Value &x) { return ops::repeat(x, 2, 2); }),
             Contains("repeat: axis 2 is out of range for rank 2"));
}

TEST_CASE("roll moves elements round an axis, flip turns axes round") {
  Tensor number({7}, {}), none_ = Tensor::zeros({0, 2}), bools = Tensor({1, 0, 0}, {3}).astype(DType::bool_);
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {seven, six, number, none_, bools}, [](const List &v) {
      return List{ops::roll(v[0], 2),
                  ops::roll(v[0], -9),
                  ops::roll(v[1], 1),
                  ops::roll(v[1], 1, 1),
                  ops::roll(v[1], {1, 2}, {0, 1}),
                  ops::roll(v[1], {1, 1}, 1),
                  ops::roll(v[2], 3),
                  ops::roll(v[3], 1, 0),
                  ops::roll(v[0], 7),
                  ops::flip(v[0]),
                  ops::flip(v[1]),
                  ops::flip(v[1], -1),
                  ops::flip(v[1], 0),
                  ops::flip(v[2]),
                  ops::flip(v[3]),
                  ops::flip(v[4])};
    });
    CHECK(numbers(y[0]) == Row{5, 6, 0, 1, 2, 3, 4});
    CHECK(numbers(y[1]) == Row{2, 3, 4, 5, 6, 0, 1});
    CHECK(numbers(y[2]) == Row{5, 0, 1, 2, 3, 4});
    CHECK(numbers(y[3]) == Row{2, 0, 1, 5, 3, 4});
    CHECK(numbers(y[4]) == Row{4, 5, 3, 1, 2, 0});
    CHECK(numbers(y[5]) == Row{1, 2, 0, 4, 5, 3});
    CHECK(numbers(y[6]) == Row{7});
    CHECK(y[7].shape() == Shape({0, 2}));
    CHECK(numbers(y[8]) == numbers(seven));
    CHECK(numbers(y[9]) == Row{6, 5, 4, 3, 2, 1, 0});
    CHECK(numbers(y[10]) == Row{5, 4, 3, 2, 1, 0});
    CHECK(numbers(y[11]) == Row{2, 1, 0, 5, 4, 3});
    CHECK(numbers(y[12]) == Row{3, 4, 5, 0, 1, 2});
    CHECK(numbers(y[13]) == Row{7});
    CHECK(y[14].shape() == Shape({0, 2}));
    CHECK(numbers(y[15]) == Row{0, 0, 1});
  }
  CHECK_THAT(refusal(six, [](const Value &x) { return ops::roll(x, {1, 2, 3}, {0, 1}); }),
             Contains("ValueError: roll: 3 shifts for 2 axes"));
  CHECK_THAT(refusal(six, [](const Value &x) { return ops::roll(x, {}, 0); }), Contains("roll: 0 shifts for 1 axes"));
  CHECK_THAT(refusal(six, [](const Value &x) { return ops::roll(x, 1, 2); }), Contains("roll: axis 2 is out of range"));
  CHECK_THAT(refusal(six, [](const Value &x) { return ops::flip(x, {0, 0}); }),
             Contains("flip: an axis is given twice"));
}

TEST_CASE("swapaxes and moveaxis permute axes") {
  Tensor x({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {1, 3, 4});
  for (Run run : everyRun) {
    std::vector<Tensor> y = runOnce(run, {x}, [](const List &v) {
      return List{ops::swapaxes(v[0], 0, -1), ops::swapaxes(v[0], 1, 1), ops::moveaxis(v[0], 0, -1),
                  ops::moveaxis(v[0], {0, 1}, {-1, -2}), ops::moveaxis(v[0], 2, 0)};
    });
    CHECK(y[0].shape() == Shape({4, 3, 1}));
    CHECK(numbers(y[0]) == Row{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    CHECK(numbers(y[1]) == numbers(x));
    CHECK(y[2].shape() == Shape({3, 4, 1}));
    CHECK(y[3].shape() == Shape({4, 3, 1}));
    CHECK(y[4].shape() == Shape({4, 1, 3}));
    CHECK(numbers(y[4]) == numbers(y[0]));
  }
  CHECK_THAT(refusal(six, [](const Value &v) { return ops::swapaxes(v, 0, 2); }),
             Contains("swapaxes: axis 2 is out of"));
  CHECK_THAT(refusal(six, [](const Value &v) { return ops::moveaxis(v, {0, 0}, {0, 1}); }),
             Contains("ValueError: moveaxis: an axis is given twice"));
  CHECK_THAT(refusal(six, [](const Value &v) { return ops::moveaxis(v, {0, 1}, 0); }),
             Contains("ValueError: moveaxis: 2 axes to 1 positions"));
}

TEST_CASE("moved elements carry their gradients back") {
  const auto error = [](std::function<Value(const Value &)> f) {
    return slopeError({six}, [f](const List &v) { return f(v[0]); });
  };
  CHECK(error([](const Value &x) { return ops::stack({x, 2.0 * x}, 1); }) < 1e-6);
  CHECK(error([](const Value &x) { return ops::unstack(x, {}, 1)[1]; }) < 1e-6);
  CHECK(error([](const Value &x) { return ops::split(x, {1}, 1)[1]; }) < 1e-6);
  CHECK(error([](const Value &x) { return ops::tile(x, {2, 3}) * ops::repeat(ops::repeat(x, 2, 0), 3, 1); }) < 1e-6);
  CHECK(error([](const Value &x) { return ops::roll(x, {1, 1}, {0, 1}) * x; }) < 1e-6);
  CHECK(error([](const Value &x) { return ops::flip(x) * x; }) < 1e-6);
  CHECK(error([](const Value &x) { return ops::flip(x, 1) * ops::roll(x, 1); }) < 1e-6);
  CHECK(error([](const Value &x) { return ops::swapaxes(x, 0, 1) * ops::moveaxis(x, 1, 0); }) < 1e-6);
}

TEST_CASE("a batch of unknown extent is repeated, rolled and turned round") {
  Value x = Input({3});
  CHECK(ops::tile(x, {2, 2}).shape() == Shape({none, 6}));
  CHECK(ops::repeat(x, 2, 1).shape() == Shape({none, 6}));
  CHECK(ops::repeat(x, 2).shape() == Shape({none}));
  CHECK(ops::roll(x, 1).shape() == Shape({none, 3}));
  CHECK(ops::flip(x, 0).shape() == Shape({none, 3}));
  CHECK(ops::stack({x, x}, 1).shape() == Shape({none, 2, 3}));
  CHECK(ops::swapaxes(x, 0, 1).shape() == Shape({3, none}));
  CHECK(ops::moveaxis(x, 0, 1).shape() == Shape({3, none}));
}
