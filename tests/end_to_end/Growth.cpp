// Large counts of one kind: each case takes well below a second, and would take minutes if its work were quadratic.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/CapturedOutput.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;

namespace {

int64_t traces = 0;
struct CountsTraces {
  Value call(const Value &x) const {
    ++traces;
    return x + 1.0;
  }
};

} // namespace

TEST_CASE("150,000 keys of a Config are set and read by their names") {
  Config config;
  constexpr int64_t count = 150000;
  for (int64_t i = 0; i < count; ++i)
    config.set(fmt::format("field{}", i), i);
  config.set("field7", int64_t(-7));
  Config copy = config;
  copy.set("more", true);
  int64_t right = 0;
  for (int64_t i = 0; i < count; ++i)
    right += copy.get_int(fmt::format("field{}", i)) == (i == 7 ? -7 : i);
  CHECK(right == count);
  CHECK(copy.keys().size() == count + 1);
  CHECK(copy.keys()[9] == "field9");
  CHECK_FALSE(config.contains("more"));
  CHECK(Config::parse(config.dump()).get_int("field149999") == 149999);
}

TEST_CASE("A policy map of 100,000 keys is written, read, searched and emptied") {
  const TemporaryFolder folder;
  constexpr int64_t count = 100000;
  const DTypePolicyMap map;
  for (int64_t i = 0; i < count; ++i)
    map.insert(fmt::format("net/k{}", i), "float16");
  map.save(folder / "map.json");
  const DTypePolicyMap loaded = DTypePolicyMap::load(folder / "map.json");
  CHECK(loaded.size() == count);
  int64_t misses = 0;
  for (int64_t i = 0; i < count; ++i)
    misses += loaded[fmt::format("other/k{}", i)].name() == "float32";
  CHECK(misses == count);
  for (int64_t i = 0; i < count; ++i)
    loaded.erase(fmt::format("net/k{}", i));
  CHECK(loaded.size() == 0);
  CHECK(DTypePolicyMap::from_config(map.get_config()).size() == count);
}

TEST_CASE("A Sequential of 30,000 layers that are added one by one, before its input is known, is a model of as many") {
  Sequential model;
  for (int i = 0; i < 30000; ++i)
    model.add(Activation("linear"));
  CHECK(model.layers().size() == 30000);
  CHECK_FALSE(model.built());
  CHECK_THROWS_WITH(model.add(Activation("linear", {.name = "activation"})), Contains("unique names"));
  CHECK(model.layers().size() == 30000);
}

TEST_CASE("Calls of a function with 100 lengths in turn compile each length once, without a warning") {
  const test::CapturedOutput output;
  const Custom layer(CountsTraces{});
  const auto f = jit([&](const Value &x) { return layer(x); });
  traces = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int64_t n = 1; n <= 100; ++n)
      CHECK(f(Tensor::ones({n})).shape() == Shape({n}));
  CHECK(traces == 100);
  CHECK(output.text.empty());
}
