// Policy maps as JSON and as files.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Policy.h"
#include "tests/TemporaryFolder.h"
#include "tests/runtime/policy/PolicyFacts.h"
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

using namespace halftone;
using Catch::Contains;

namespace {
using Folder = TemporaryFolder;
} // namespace

static DTypePolicyMap reload(const DTypePolicyMap &map) {
  return *dtype_policies::deserialize(Config::parse(dtype_policies::serialize(map).dump())).as_map();
}

// policies 8.1
TEST_CASE("A map's default is written as it was given") {
  CHECK(DTypePolicyMap("int4/ 64_from_float32").get_config().get_string("default_policy") == "int4/ 64_from_float32");
  const DTypePolicyMap byObject(DTypePolicy("float16"), {{"a", "float32"}});
  CHECK(byObject.get_config().get_object("default_policy").get_string("class_name") == "DTypePolicy");
  CHECK(reload(byObject) == byObject);
}

// policies 8.2
TEST_CASE("If a map has no default of its own, get_config forgets the entries' names, and the map does not") {
  const PolicyScope global("bfloat16");
  const DTypePolicyMap map{{"a", "mixed_bfloat16"}, {"b", QuantizedDTypePolicy("int8", "mixed_bfloat16")}};
  const DTypePolicyMap again = reload(map);
  CHECK(again["a"] == DTypePolicy("bfloat16"));
  CHECK(again["b"] == QuantizedDTypePolicy("int8", "bfloat16"));
  CHECK(again["c"] == DTypePolicy("bfloat16"));
  CHECK(map["a"].repr() == "<DTypePolicy \"mixed_bfloat16\">");
  CHECK(map["b"].get_config().get_string("source_name") == "mixed_bfloat16");
}

// policies 8.3
TEST_CASE("A saved map loads with the same meaning") {
  const Folder folder;
  const std::string path = (folder.path / "map.json").string();
  const DTypePolicyMap map = [] {
    const PolicyScope global("mixed_float16");
    return DTypePolicyMap{{"net/.*", "bfloat16"}, {"head", Int4DTypePolicy("int4/64", "float32")}};
  }();
  map.save(path);
  const DTypePolicyMap loaded = DTypePolicyMap::load(path);
  CHECK(loaded == map);
  CHECK(loaded.default_policy().name() == "mixed_float16");
  map.insert("more", "float64");
  map.save(path); // overwrites the same file
  CHECK(DTypePolicyMap::load(path).size() == 3);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

// policies 8.4
TEST_CASE("A file that holds no policy map is refused") {
  const Folder folder;
  const auto failure = [&](const std::string &text) {
    const std::string path = folder.write("bad.json", text);
    const std::string result = failureOf([&] { (void)DTypePolicyMap::load(path); });
    CHECK_THAT(result, Contains(path));
    return result;
  };
  CHECK_THAT(
      failure(
          R"({"class_name": "DTypePolicyMap", "config": {"default_policy": null, "policy_map": {"a": "float32", "a": "float16"}}})"),
      Contains("the key 'a' occurs twice in one object"));
  CHECK_THAT(failureOf([] { (void)DTypePolicyMap::load("/nowhere/map.json"); }),
             Contains("IOError: ") && Contains("/nowhere/map.json"));
  CHECK_THAT(failureOf([] { DTypePolicyMap("float32").save("/nowhere/map.json"); }), Contains("IOError: "));
  CHECK_THAT(failureOf([&] { (void)DTypePolicyMap::load(folder.path.string()); }), Contains("IOError: "));
  CHECK_THAT(failure("{"), Contains("Invalid JSON at line 1"));
  CHECK_THAT(failure("[]"), Contains("expected an object"));
  CHECK_THAT(failure("{}"), Contains("Unknown `config` as a `dict`"));
  CHECK_THAT(failure(R"({"class_name":"DTypePolicy","config":{"name":"float32"}})"), Contains("found a DTypePolicy"));
  const auto map = [&](const std::string &config) {
    return failure(R"({"class_name":"DTypePolicyMap","config":)" + config + "}");
  };
  CHECK_THAT(map("{}"), Contains("KeyError: ") && Contains("policy_map"));
  CHECK_THAT(map(R"({"policy_map":123})"), Contains("TypeError: ") && Contains("`policy_map` must be a dict."));
  CHECK_THAT(map(R"({"policy_map":{},"x":1})"), Contains("TypeError: ") && Contains("'x'"));
  CHECK_THAT(map(R"({"policy_map":{"k":5}})"),
             Contains("ValueError: ") && Contains("'k'") && Contains("Cannot interpret the assigned value"));
  CHECK_THAT(map(R"({"policy_map":{"k":"float15"}})"), Contains("'k'") && Contains("Cannot convert 'float15'"));
  CHECK_THAT(map(R"({"default_policy":1,"policy_map":{}})"), Contains("Cannot interpret `dtype` argument."));
  CHECK_THAT(map(R"({"default_policy":{"class_name":"DTypePolicyMap","config":{"policy_map":{}}},"policy_map":{}})"),
             Contains("`default_policy` cannot be a `DTypePolicyMap`."));
  CHECK_THAT(
      failureOf([&] { DTypePolicyMap("float32", {{"\xff(", "float16"}}).save((folder.path / "utf.json").string()); }),
      Contains("ValueError: ") && Contains("not UTF-8"));
}

// policies 8.5
TEST_CASE("The reader of maps accepts names, null and unknown keys of objects") {
  const auto map =
      dtype_policies::deserialize(Config::parse(R"({"class_name":"DTypePolicyMap","module":"x","shared_object_id":1,)"
                                                R"("config":{"policy_map":{"a":"float16","b":null}}})"));
  const PolicyScope global("bfloat16");
  REQUIRE(map.as_map());
  CHECK((*map.as_map())["a"].name() == "float16");
  CHECK((*map.as_map())["b"].name() == "float32");
  CHECK(map.as_map()->default_policy().name() == "float32");
}
