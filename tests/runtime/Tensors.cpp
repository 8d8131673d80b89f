// A single tensor, several in order, or several by name.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Error.h"
#include "halftone/Tensor.h"
#include <catch2/catch.hpp>

using namespace halftone;

TEST_CASE("Tensors hold no tensor, one, several, or several by name") {
  const Tensor a = Tensor::ones({1}), b = Tensor::zeros({2});
  CHECK(Tensors().empty());
  CHECK(Tensors(Tensor()).empty());
  CHECK(Tensors(a).size() == 1);
  const Tensors list{a, b};
  CHECK(list.size() == 2);
  CHECK(list[1].shape() == Shape{2});
  CHECK(list.end() - list.begin() == 2);
  CHECK(list.names().empty());
  CHECK(Tensors(std::vector<Tensor>{a, b, a}).size() == 3);
  const Tensors named{{"x", a}, {"y", b}};
  CHECK(named["y"].shape() == Shape{2});
  CHECK(named[0].shape() == Shape{1});
  CHECK(named.names() == std::vector<std::string>{"x", "y"});
}

TEST_CASE("A bad lookup in Tensors names the entries that there are") {
  const Tensor a = Tensor::ones({1});
  const Tensors named{{"x", a}, {"y", a}};
  CHECK_THROWS_WITH(named[2], Catch::StartsWith("ValueError: There is no tensor 2: the list has 2"));
  CHECK_THROWS_WITH(named["z"], Catch::StartsWith("KeyError: There is no tensor 'z'; the names are [x, y]"));
  CHECK_THROWS_WITH((Tensors{{"x", a}, {"x", a}}), Catch::StartsWith("ValueError: Two tensors have the name 'x'"));
}
