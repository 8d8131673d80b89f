// Policy maps: lookups, insertions, handles, and every map recorded from Keras.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Policy.h"
#include "runtime/policy/PolicyRep.h"
#include "tests/runtime/policy/PolicyFacts.h"
#include <catch2/catch.hpp>
#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <thread>

using namespace halftone;
using Catch::Contains;
using Json = nlohmann::ordered_json;

static Json keysOf(const DTypePolicyMap &map) {
  Json keys = Json::array();
  for (const auto &item : map.items())
    keys.push_back(item.first);
  return keys;
}

// policies 7.1, 7.2, 7.3, 7.4, 8.1
TEST_CASE("Every map recorded from Keras decides as it did there") {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/maps.jsonl");
  REQUIRE(file);
  int rows = 0, lookups = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    const Json row = Json::parse(line);
    INFO(line);
    const PolicyScope global(row["global"].get<std::string>());
    const bool given = !row["default"].is_null();
    const DTypePolicyMap map = given ? DTypePolicyMap(row["default"].get<std::string>()) : DTypePolicyMap();
    for (const Json &insert : row["inserts"])
      CHECK(recorded([&] {
              map.insert(insert["insert"].get<std::string>(), insert["policy"].get<std::string>());
              return true;
            }) == insert["result"]);
    for (const Json &lookup : row["lookups"]) {
      CHECK(recorded([&] { return map[lookup["path"].get<std::string>()].name(); }) == lookup["result"]);
      ++lookups;
    }
    CHECK(Json(map.name()) == row["name"]);
    CHECK(Json(name(map.compute_dtype())) == row["compute_dtype"]);
    CHECK(Json(name(map.variable_dtype())) == row["variable_dtype"]);
    const auto mode = map.quantization_mode();
    CHECK((mode ? Json(*mode) : Json()) == row["quantization_mode"]);
    CHECK(keysOf(map) == row["keys"]);
    CHECK(Json(map.size()) == row["len"]);
    const std::string written = dtype_policies::serialize(map).dump();
    CHECK(written == row[given ? "serialized" : "serialized_null_default"].dump());
    CHECK(dtype_policies::serialize(map).dump() == written);
    CHECK(dtype_policies::serialize(dtype_policies::deserialize(Config::parse(written))).dump() == written);
    for (const Json &insert : row["inserts"]) // writing a map must not change it
      if (insert["result"].contains("ok"))
        CHECK(Json(map[insert["insert"].get<std::string>()].name()) == insert["policy"]);
  }
  CHECK(rows == 120);
  CHECK(lookups > 1000);
}

// policies 7.1
TEST_CASE("A lookup takes the exact key, else the one key that matches the whole path") {
  const DTypePolicyMap map("mixed_bfloat16", {{"net/enc_[0-9]+", "mixed_float16"},
                                              {"net/.*norm", float32},
                                              {"net/head", DTypePolicy("float64")},
                                              {"net/.*", "bfloat16"}});
  CHECK(map["net/head"].name() == "float64"); // although a pattern matches too
  CHECK(map.matching_key("net/head") == "net/head");
  CHECK(map["net/.*norm"].name() == "float32"); // the text of a pattern is itself an exact key
  CHECK(map["xnet/enc_1"].name() == "mixed_bfloat16");
  CHECK(map["net"].name() == "mixed_bfloat16");
  CHECK_FALSE(map.matching_key("net"));
  CHECK(map["net/dense"].name() == "bfloat16");
  CHECK(failureOf([&] { (void)map["net/enc_12"]; }) ==
        "ValueError: Path 'net/enc_12' matches multiple dtype policy specification keys: ['net/enc_[0-9]+', 'net/.*']. "
        "Please make sure each path only matches at most one dtype policy specification key in the DTypePolicyMap.");
  CHECK(failureOf([&] { (void)map.matching_key("net/a/norm"); }).find("'net/.*norm', 'net/.*'") != std::string::npos);
}

// policies 7.2
TEST_CASE("The default of a policy map is settled when the map is made") {
  const DTypePolicyMap before = [] {
    const PolicyScope global("mixed_float16");
    return DTypePolicyMap{{"a", "float32"}};
  }();
  CHECK(before.default_policy().name() == "mixed_float16");
  CHECK(before["elsewhere"].name() == "mixed_float16");
  CHECK(before.name() == "map_mixed_float16");
  CHECK(before.get_config().dump().rfind(R"({"default_policy":null)", 0) == 0);
  CHECK(failureOf([&] {
          DTypePolicyMap map(before);
          DTypePolicyMap other{PolicyArg(map)};
        }) == "ValueError: `default_policy` cannot be a `DTypePolicyMap`.");
  const PolicyScope global(before);
  CHECK(DTypePolicyMap().default_policy().name() == "mixed_float16");
  CHECK_THAT(failureOf([] { DTypePolicy policy; }), Contains("Cannot convert 'map_mixed_float16'"));
}

// policies 7.3
TEST_CASE("A map refuses to insert a key that it has and to erase a key that it lacks") {
  const DTypePolicyMap map("float32");
  map.insert("a", "int8_from_float32");
  CHECK(failureOf([&] { map.insert("a", "float32"); }) ==
        "ValueError: a already exist in the DTypePolicyMap with value <QuantizedDTypePolicy \"int8_from_float32\">. "
        "Please make sure to not use duplicated keys.");
  CHECK_THAT(failureOf([] { DTypePolicyMap twice{{"k", "float32"}, {"k", "float16"}}; }), Contains("k already exist"));
  const PolicyScope global("bfloat16");
  map.insert("b", {});
  CHECK(map["b"].name() == "bfloat16");
  map.erase("a");
  CHECK_FALSE(map.contains("a"));
  CHECK(map.contains("b"));
  CHECK_FALSE(map.contains("."));
  CHECK(map["b"].name() == "bfloat16");
  CHECK_THAT(failureOf([&] { map.erase("a"); }), Contains("KeyError: ") && Contains("'a'"));
  CHECK(map.size() == 1);
  map.insert("a", "float64");
  CHECK(keysOf(map) == Json{"b", "a"});
}

// policies 7.5
TEST_CASE("Copies of a policy map share its entries") {
  const DTypePolicyMap map("float32");
  const DTypePolicy asPolicy = map;
  const PolicyArg argument = map;
  map.insert("a", "float16");
  REQUIRE(asPolicy.as_map());
  CHECK((*asPolicy.as_map())["a"].name() == "float16");
  CHECK(argument.get().as_map()->size() == 1);
  CHECK_FALSE(DTypePolicy("float32").as_map());
  CHECK(asPolicy.class_name() == "DTypePolicyMap");
  DTypePolicyMap slot = map;
  DTypePolicy &base = slot;
  base = DTypePolicy("float32");
  CHECK_THAT(failureOf([&] { (void)slot["a"]; }), Contains("AttributeError"));
}

// policies 7.6
TEST_CASE("Maps compare by default and entries, and are no other policy") {
  const DTypePolicyMap a("float32", {{"x", "float16"}}), b("float32", {{"x", "float16"}}), c("float32");
  CHECK(a == b);
  CHECK_FALSE(a == c);
  CHECK_FALSE(a == DTypePolicy("float32"));
  CHECK_FALSE(DTypePolicy("float32") == a);
  CHECK_THAT(a.repr(), Catch::Matches("<DTypePolicyMap at 0x[0-9a-f]+ default_policy=float32, mapping=\\[\\('x', "
                                      "'float16'\\)\\]>"));
}

// policies 7.7
TEST_CASE("A map may hold a map, but not itself") {
  const DTypePolicyMap inner("mixed_float16"), outer("float32", {{"part/.*", inner}});
  CHECK(outer["part/a"].compute_dtype() == float16);
  for (const DTypePolicyMap &map : {inner, outer})
    CHECK_THAT(failureOf([&] { inner.insert("ring", map); }),
               Contains("ValueError: Cannot interpret the assigned value"));
  CHECK(inner.size() == 0);
  CHECK(dtype_policies::deserialize(dtype_policies::serialize(outer)) == outer);
}

// policies 7.8
TEST_CASE("A key that is no regular expression is an error when it has to be tried") {
  const DTypePolicyMap map("float32", {{"net/(a", "float16"}, {"net/b", "bfloat16"}});
  CHECK(map["net/b"].name() == "bfloat16");
  CHECK(map["net/(a"].name() == "float16");
  const std::string failure = failureOf([&] { (void)map["net/c"]; });
  CHECK_THAT(failure, Contains("ValueError: ") && Contains("'net/(a'") &&
                          Contains("missing ), unterminated subpattern at position 4"));
}

// policies 7.9
TEST_CASE("A pattern that backtracks without end is an error, not a hang") {
  const DTypePolicyMap map("float32", {{"(a+)+[bc]", "float16"}});
  const auto begin = std::chrono::steady_clock::now();
  CHECK_THAT(failureOf([&] { (void)map[std::string(64, 'a')]; }), Contains("ValueError: ") && Contains("'(a+)+[bc]'"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  CHECK(map["aaab"].name() == "float16");
}

TEST_CASE("A lookup that tries 1,000 patterns finds none that matches in part") {
  const DTypePolicyMap map("float32");
  for (int i = 0; i < 1000; ++i)
    map.insert(fmt::format("net/block_{}/(attention|mlp)/[a-z_]+(_[0-9]+)?", i), "mixed_bfloat16");
  CHECK(map["net/block_999/mlp/dense_12"].name() == "mixed_bfloat16"); // compiles all patterns
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    CHECK_FALSE(map.matching_key("net/block_1000/mlp/dense_12"));
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::cout << "policy lookup in 1,000 patterns: " << best << " ms\n";
}

TEST_CASE("Threads may share a policy map") {
  const DTypePolicyMap map("float32");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([map, t] {
      for (int i = 0; i < 50; ++i) {
        map.insert(fmt::format("net/{}/{}_[a-z]", t, i), "float16");
        (void)map[fmt::format("net/{}/{}_x", t, i)];
        (void)map.get_config();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(map.size() == 200);
  CHECK(map["net/3/7_q"].name() == "float16");
}

TEST_CASE("An edit that a held mode forbids leaves the entries in their order, and edits of other literal keys go on") {
  const DTypePolicyMap map("float32",
                           {{"a", "float16"}, {"b", "int8_from_float32"}, {"c.*", "bfloat16"}, {"d", "float16"}});
  const auto keys = [&] {
    std::vector<std::string> keys;
    for (const auto &[key, policy] : map.items())
      keys.push_back(fmt::format("{}: {}", key, policy.name()));
    return keys;
  };
  const std::vector<std::string> before = keys();
  std::shared_ptr<const void> held = PolicyAccess::holdMode(map, "b", "int8");
  CHECK_THAT(failureOf([&] { map.erase("b"); }), Contains("already quantized"));
  CHECK(keys() == before);
  CHECK_THAT(failureOf([&] { PolicyAccess::replace(map, "b", DTypePolicy("float16")); }),
             Contains("already quantized"));
  CHECK(keys() == before);
  CHECK(map.matching_key("cx") == "c.*");
  map.erase("c.*");
  CHECK_FALSE(map.matching_key("cx"));
  PolicyAccess::replace(map, "a", DTypePolicy("float64"));
  CHECK(keys() == std::vector<std::string>{"b: int8_from_float32", "d: float16", "a: float64"});
  const std::shared_ptr<const void> other = PolicyAccess::holdMode(map, "e/x", "int8");
  CHECK_THAT(failureOf([&] { map.insert("e/.*", "float16"); }), Contains("already quantized"));
  CHECK_FALSE(map.contains("e/.*"));
  CHECK_FALSE(map.matching_key("e/y"));
  held.reset();
  map.erase("b");
  CHECK(map.size() == 2);
}
