// Numbers as operands, comparisons, keys and updates at a key, in jit() and between the layers of a saved model.
// SPDX-License-Identifier: Apache-2.0
#include "Check.h"
#include <array>
using namespace halftone;
using namespace halftone::layers;

static Value huber(const Value &error, double delta) {
  const Value size = ops::abs(error);
  return ops::where(size < delta, 0.5 * ops::power(error, 2), delta * (size - 0.5 * delta));
}

static void inFunctions() {
  const auto step = jit([](const Value &x) {
    const Value first = x[0], column = x[{Slice(), 0}], last = x[{ellipsis, Slice(-2, none)}],
                back = x[{Slice(none, none, -1)}];
    const Value inside = (x > 0) & (x <= 1.0), outside = !inside; // not 0 < x <= 1, not &&
    Value y = ops::where(inside, x, 0) + ops::maximum(x, 0.0) % 3;
    y -= first;
    y /= 2; // y is a new Value; x is unchanged
    y = y.at({Slice(), 0}).set(column * 2).at(-1).add(1);
    const Value mask = x[{newaxis, Slice(), newaxis}] == 0;
    Value total = ops::zeros({});
    for (const Value &part : {last, back, ops::cast(mask, float32), ops::cast(outside, float32)})
      total += ops::mean(part);
    return std::array{y, total + ops::mean(huber(x - 0.5, 1.0))};
  });
  const auto [y, total] = step(Tensor({{0.5, -1, 2, 0}, {1, 2, 3, 4}}));
  check(near(y, {1, 0.5, 0, 0, 3, 2.5, 0, 1.5}), "keys and updates at a key");
  check(near(total, {2.25 + 1.4375 + 0.125 + 0.75 + 1.03125}), "a running sum that begins with zeros({})");
}

static void betweenLayers() {
  const Input image({4, 4, 3});
  const Value h = image / 127.5 - 1.0, left = h[{Slice(), Slice(), Slice(0, 2)}];
  const Model model({image}, {ops::mean(left, {1, 2}) + constant(Tensor({0.1, 0.2, 0.3}))});
  const Tensor x = Tensor::ones({2, 4, 4, 3});
  const double y = 1 / 127.5 - 1;
  const std::vector<double> expected{y + 0.1, y + 0.2, y + 0.3, y + 0.1, y + 0.2, y + 0.3};
  check(near(model.predict(x, {.verbose = 0}), expected), "keys and constants between layers");
  model.save("language_01.keras");
  const Model loaded = load_model("language_01.keras");
  check(loaded.to_json() == model.to_json(), "a file holds them");
  check(near(loaded.predict(x, {.verbose = 0}), expected), "the loaded model");
}

int main() {
  inFunctions();
  betweenLayers();
  return wrong;
}
