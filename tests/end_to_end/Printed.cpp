// The output of << for dtypes, shapes, devices, policies, data, Values, Variables, logs and layers.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>
#include <sstream>

using namespace halftone;

template <class T> static std::string printed(const T &object) {
  std::ostringstream text;
  text << object;
  return text.str();
}

TEST_CASE("<< prints objects as their str() or repr(), and a Value by its type, since it has no elements") {
  CHECK(printed(float32) == "float32");
  CHECK(printed(Shape{none, 784}) == "(None, 784)");
  CHECK(printed(Device::cpu()) == "cpu");
  CHECK(printed(DTypePolicy("mixed_bfloat16")) == DTypePolicy("mixed_bfloat16").repr());
  const Tensor data = Tensor::of<float>({1, 2}, {2});
  CHECK(printed(data) == data.str());
  CHECK(printed(Value()) == "<Value undefined>");
  const layers::Input x({10}, {.name = "x"});
  CHECK(printed(Value(x)) == "<Value shape=(None, 10), dtype=float32>");
  const layers::Dense dense(4, {.name = "dense"});
  CHECK(printed(dense) == "<Dense name=dense, built=False>");
  (void)dense(x);
  CHECK(printed(dense) == "<Dense name=dense, built=True>");
  CHECK(printed(Variable()) == "<Variable undefined>");
  CHECK(printed(Variable(data, {.name = "v"})) == "<Variable path=v, shape=(2,), dtype=float32>");
  Logs logs;
  logs.set("loss", 0.5);
  CHECK(printed(logs) == logs.str());
}
