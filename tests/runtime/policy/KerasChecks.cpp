// Keras's own tests of policies and maps, by their ids in the list of acceptance checks.
// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/policy/PolicyFacts.h"
#include <catch2/catch.hpp>
#include <functional>
#include <thread>
#include <type_traits>

using namespace halftone;
using Catch::Contains;
using Q = QuantizedDTypePolicy;
using F8 = QuantizedFloat8DTypePolicy;

namespace {

struct Check {
  const char *id;
  std::function<void()> run;
};

template <class T> constexpr bool takesAsGlobalPolicy = requires(T given) { set_dtype_policy(given); };

const char *const globals[] = {"float32", "float16", "bfloat16", "mixed_float16", "mixed_bfloat16"};

void hasDTypes(const DTypePolicy &policy, DType compute, DType variable) {
  CHECK(policy.compute_dtype() == compute);
  CHECK(policy.variable_dtype() == variable);
}

template <class Function> void fails(Function function, const std::string &core) {
  CHECK_THAT(failureOf(function), Contains(core));
}

DTypePolicy fromText(const std::string &className, const std::string &config) {
  return dtype_policies::deserialize(Config::parse(R"({"class_name":")" + className + R"(","config":)" + config + "}"));
}

void roundTrips(const DTypePolicy &policy) {
  const Config serialized = dtype_policies::serialize(policy);
  for (const DTypePolicy &again : {dtype_policies::deserialize(serialized), dtype_policies::get(serialized),
                                   dtype_policies::get(Config::parse(serialized.dump())), DTypePolicy(policy)}) {
    CHECK(again == policy);
    CHECK(again.repr() == policy.repr());
  }
}

DTypePolicyMap encoderDecoder() {
  return DTypePolicyMap{{"model/encoder/layer_0/dense", "bfloat16"},
                        {"model/encoder/attention/query", Q("int8", "mixed_bfloat16")},
                        {"model/decoder/.*", "float32"},
                        {"model/decoder/attention/.*", "float16"}};
}

const Check checks[] = {
    {"A-001",
     [] {
       hasDTypes(DTypePolicy("mixed_float16"), float16, float32);
       hasDTypes(FloatDTypePolicy("mixed_float16"), float16, float32);
       hasDTypes(DTypePolicy("mixed_bfloat16"), bfloat16, float32);
     }},
    {"A-002",
     [] {
       for (const char *name : globals) {
         const PolicyScope global(name);
         for (const DTypePolicy &policy : {DTypePolicy(), DTypePolicy(FloatDTypePolicy())}) {
           CHECK(policy.name() == name);
           hasDTypes(policy, DTypePolicy(name).compute_dtype(), DTypePolicy(name).variable_dtype());
         }
       }
     }},
    {"A-004",
     [] { // C++ cannot pass a number here; JSON can
       for (const char *plain : {"DTypePolicy", "FloatDTypePolicy"})
         fails([&] { (void)fromText(plain, R"({"name":123})"); }, "TypeError: 'name' must be a string");
       fails([] { (void)fromText("QuantizedDTypePolicy", R"({"mode":"int8","source_name":123})"); },
             "TypeError: 'name' must be a string");
       fails([] { (void)fromText("QuantizedFloat8DTypePolicy", R"({"mode":"float8","source_name":123})"); },
             "TypeError: 'name' must be a string");
     }},
    {"A-005",
     [] {
       hasDTypes(DTypePolicy("mixed_float16"), float16, float32);
       CHECK(DTypePolicy("mixed_float16").name() == "mixed_float16");
       CHECK_FALSE(DTypePolicy("mixed_float16").quantization_mode());
     }},
    {"A-006",
     [] {
       hasDTypes(DTypePolicy("uint8"), uint8, uint8);
       CHECK(DTypePolicy("uint8").name() == "uint8");
     }},
    {"A-008",
     [] {
       CHECK(DTypePolicy("mixed_float16").get_config().dump() == R"({"name":"mixed_float16"})");
       CHECK(DTypePolicy::from_config(DTypePolicy("mixed_float16").get_config()).name() == "mixed_float16");
     }},
    {"A-009",
     [] {
       roundTrips(DTypePolicy("mixed_float16"));
       roundTrips(FloatDTypePolicy("mixed_float16"));
       roundTrips(Q("int8", "float32"));
       roundTrips(F8("float8", "float32"));
     }},
    {"A-010",
     [] { // a comparison with a string does not compile
       CHECK(DTypePolicy("mixed_bfloat16") == DTypePolicy("mixed_bfloat16"));
       CHECK(DTypePolicy("mixed_bfloat16") == FloatDTypePolicy("mixed_bfloat16"));
       CHECK_FALSE(DTypePolicy("mixed_bfloat16") == Q("int8", "mixed_bfloat16"));
     }},
    {"A-012",
     [] {
       for (const char *name : {"float32", "bfloat16", "mixed_bfloat16"}) {
         const PolicyScope global(name);
         CHECK(Q("int8").name() == std::string("int8_from_") + name);
         hasDTypes(Q("int8"), DTypePolicy(name).compute_dtype(), DTypePolicy(name).variable_dtype());
       }
     }},
    {"A-013",
     [] {
       for (const char *name : globals) {
         CHECK(F8("float8", name).name() == std::string("float8_from_") + name);
         hasDTypes(F8("float8", name), DTypePolicy(name).compute_dtype(), DTypePolicy(name).variable_dtype());
         CHECK(F8("float8", name).repr() == "<QuantizedFloat8DTypePolicy \"float8_from_" + std::string(name) + "\">");
       }
     }},
    {"A-014",
     [] {
       for (const char *name : globals) {
         const PolicyScope global(name);
         CHECK(F8("float8").name() == std::string("float8_from_") + name);
         hasDTypes(F8("float8"), DTypePolicy(name).compute_dtype(), DTypePolicy(name).variable_dtype());
       }
     }},
    {"A-016",
     [] {
       for (const char *mode : {"int7", "float7"}) {
         fails([&] { Q policy(mode); }, "ValueError: Invalid quantization mode.");
         fails([&] { F8 policy(mode); }, "ValueError: Invalid quantization mode.");
       }
     }},
    {"A-017",
     [] {
       for (const char *source : {"float16", "mixed_float16"})
         fails([&] { Q policy("int8", source); }, "doesn't work well");
     }},
    {"A-018",
     [] {
       const Q policy("int8", "mixed_bfloat16");
       hasDTypes(policy, bfloat16, float32);
       CHECK(policy.name() == "int8_from_mixed_bfloat16");
       CHECK(policy.quantization_mode() == std::string("int8"));
     }},
    {"A-020",
     [] { // in C++ a float does not compile; JSON can hold one
       for (const char *length : {"\"512\"", "512.0"})
         fails(
             [&] {
               (void)fromText("QuantizedFloat8DTypePolicy",
                              std::string(R"({"mode":"float8","source_name":"float32","amax_history_length":)") +
                                  length + "}");
             },
             "must be an integer.");
     }},
    {"A-021",
     [] {
       CHECK(Q("int8", "mixed_bfloat16").get_config().dump() == R"({"mode":"int8","source_name":"mixed_bfloat16"})");
       CHECK(F8("float8", "mixed_bfloat16").get_config().dump() ==
             R"({"mode":"float8","source_name":"mixed_bfloat16","amax_history_length":1024})");
       CHECK(fromText("QuantizedDTypePolicy", R"({"mode":"int8","source_name":"mixed_bfloat16"})").name() ==
             "int8_from_mixed_bfloat16");
     }},
    {"A-022",
     [] {
       roundTrips(F8("float8", "mixed_float16"));
       roundTrips(F8("float8", "mixed_float16", 512));
     }},
    {"A-024",
     [] { // C++ cannot pass a number; text that does not begin with a mode is the name of a plain policy
       static_assert(!std::is_convertible_v<int, PolicyArg> && !std::is_convertible_v<double, PolicyArg>);
       fails([] { (void)dtype_policies::get("float7"); }, "ValueError: Cannot convert 'float7'");
       fails([] { (void)dtype_policies::get("float7_from_float32"); }, "ValueError: Cannot convert");
     }},
    {"A-025",
     [] {
       const PolicyScope restore("float32");
       set_dtype_policy("mixed_float16");
       CHECK(dtype_policy().name() == "mixed_float16");
       set_dtype_policy("int8_from_mixed_bfloat16");
       CHECK(dtype_policy().name() == "int8_from_mixed_bfloat16");
       set_dtype_policy(DTypePolicy("mixed_float16"));
       CHECK(dtype_policy().name() == "mixed_float16");
       set_dtype_policy(Q("int8", "mixed_bfloat16"));
       CHECK(dtype_policy() == Q("int8", "mixed_bfloat16"));
     }},
    {"A-026", // C++ cannot pass a number
     [] { static_assert(!takesAsGlobalPolicy<int> && takesAsGlobalPolicy<const char *>); }},
    {"A-028", [] { fails([] { (void)dtype_policies::get("mixed_bfloat15"); }, "ValueError: Cannot convert"); }},
    {"A-029",
     [] {
       fails([] { (void)dtype_policies::get("int8_from_mixed_bfloat15"); }, "ValueError: Cannot convert");
       fails([] { (void)dtype_policies::get("int8_from_"); }, "ValueError: Cannot convert");
       fails([] { (void)dtype_policies::get("int8_abc_"); }, "ValueError: Cannot convert `policy` into a valid pair");
     }},
    {"A-030",
     [] {
       std::string many, manyQuantized;
       for (int i = 0; i < 100; ++i) {
         many += "mixed_float16";
         manyQuantized += "int8_from_mixed_bfloat16";
       }
       for (const std::string &name :
            {std::string(), std::string("@mixed_float16!"), many, std::string("mixed_float15")})
         fails([&] { DTypePolicy policy(name); }, "ValueError: Cannot convert");
       for (const std::string &name : {std::string(), std::string("@int8_from_mixed_bfloat16!"), manyQuantized,
                                       std::string("int7_from_mixed_bfloat16")})
         fails([&] { Q policy("int8", name); }, "ValueError: Cannot convert");
     }},
    {"A-032",
     [] {
       fails([] { (void)dtype_policies::get("int4/None_from_float32"); },
             "ValueError: Invalid mode for Int4DTypePolicy. <block_size> must be an integer.");
     }},
    {"A-033",
     [] {
       for (const char *name : {"int4/abc_from_float32", "int4/0_from_float32", "int4/-2_from_float32"})
         fails([&] { (void)dtype_policies::get(name); }, "ValueError: ");
     }},
    {"A-034",
     [] { // setting None does not compile
       const PolicyScope restore("float32");
       set_dtype_policy("mixed_float16");
       CHECK(dtype_policy().name() == "mixed_float16");
       set_dtype_policy("float32");
       CHECK(dtype_policy().name() == "float32");
     }},
    {"A-036",
     [] {
       const DTypePolicyMap map;
       map.insert("layer/dense_0", DTypePolicy("bfloat16"));
       map.insert("layer/dense_1", Q("int8", "mixed_bfloat16"));
       map.insert("layer/dense_2", F8("float8", "mixed_float16"));
       CHECK(map.size() == 3);
       CHECK(map["layer/dense_0"] == DTypePolicy("bfloat16"));
       CHECK(map["layer/dense_1"] == Q("int8", "mixed_bfloat16"));
       CHECK(map["layer/dense_2"] == F8("float8", "mixed_float16"));
     }},
    {"A-037",
     [] { // in C++ a number does not compile as a value; JSON can hold one
       const DTypePolicyMap map{{"layer/dense_0", "float32"}};
       fails([&] { map.insert("layer/dense_0", "bfloat16"); }, "layer/dense_0 already exist in the DTypePolicyMap");
       fails([] { (void)fromText("DTypePolicyMap", R"({"policy_map":{"layer/dense_1":123}})"); },
             "Cannot interpret the assigned value");
     }},
    {"A-038",
     [] {
       CHECK(encoderDecoder()["model/encoder/attention/query"] == Q("int8", "mixed_bfloat16"));
       CHECK(encoderDecoder()["model/decoder/layer_0"].name() == "float32");
     }},
    {"A-040",
     [] {
       const DTypePolicyMap map = encoderDecoder();
       map.insert("model/decoder", "bfloat16");
       CHECK(map["model/decoder/layer_0"].name() == "float32");
       CHECK(map["model/decoder"].name() == "bfloat16");
     }},
    {"A-041",
     [] {
       CHECK(encoderDecoder()["model/embedding"] == dtype_policy());
       fails([] { (void)encoderDecoder()["model/decoder/attention/output"]; },
             "ValueError: Path 'model/decoder/attention/output' matches multiple dtype policy");
     }},
    {"A-042",
     [] {
       const DTypePolicyMap map{{"dense_0", "bfloat16"}, {"dense_1", "float16"}};
       CHECK(map["dense_0"].name() == "bfloat16");
       map.erase("dense_0");
       fails([&] { map.erase("dense_0"); }, "KeyError: ");
       map.erase("dense_1");
       CHECK(map["dense_1"] == dtype_policy());
       CHECK(map.size() == 0);
     }},
    {"A-044",
     [] {
       const DTypePolicyMap map("mixed_bfloat16",
                                {{"a", DTypePolicy("mixed_bfloat16")}, {"b", Q("int8", "mixed_bfloat16")}});
       const DTypePolicyMap again = *DTypePolicy(dtype_policies::deserialize(dtype_policies::serialize(map))).as_map();
       CHECK(again["a"] == DTypePolicy("mixed_bfloat16"));
       CHECK(again["b"] == Q("int8", "mixed_bfloat16"));
       CHECK(again["c"] == DTypePolicy("mixed_bfloat16"));
     }},
    {"A-045",
     [] {
       const PolicyScope global("bfloat16");
       const DTypePolicyMap map{{"a", DTypePolicy("mixed_bfloat16")}, {"b", Q("int8", "mixed_bfloat16")}};
       const DTypePolicyMap again = *DTypePolicy(dtype_policies::deserialize(dtype_policies::serialize(map))).as_map();
       CHECK(again["a"] == DTypePolicy("bfloat16"));
       CHECK(again["b"] == Q("int8", "bfloat16"));
       CHECK(again["c"] == DTypePolicy("bfloat16"));
     }},
    {"A-046",
     [] {
       const DTypePolicyMap map("mixed_bfloat16", {{"a", "float16"}});
       const Config kept = dtype_policies::serialize(map);
       const std::string before = kept.dump();
       CHECK(dtype_policies::deserialize(kept) == map);
       CHECK(kept.dump() == before);
     }},
    {"A-048",
     [] { // in C++ neither compiles; JSON can hold both
       fails([] { (void)fromText("DTypePolicyMap", R"({"policy_map":123})"); },
             "TypeError: If specified, `policy_map` must be a dict.");
       fails([] { (void)fromText("DTypePolicyMap", R"({"policy_map":"mixed_bfloat16"})"); },
             "TypeError: If specified, `policy_map` must be a dict.");
     }},
    {"B-01",
     [] {
       hasDTypes(DTypePolicy("int"), int32, int32);
       CHECK(DTypePolicy("int").name() == "int");
       hasDTypes(DTypePolicy("torch.float16"), float16, float16);
       CHECK(DTypePolicy("torch.float16").name() == "torch.float16");
     }},
    {"B-03",
     [] { // unhashable
       CHECK_FALSE(std::is_default_constructible_v<std::hash<DTypePolicy>>);
       CHECK_FALSE(std::is_default_constructible_v<std::hash<DTypePolicyMap>>);
     }},
    {"B-05",
     [] {
       const PolicyScope main("mixed_float16");
       std::string other;
       std::thread([&] { other = dtype_policy().name(); }).join();
       CHECK(other == "float32");
     }},
    {"B-07",
     [] { // Keras corrupts its map here; Halftone's map is unchanged
       const DTypePolicyMap map{{"a", "mixed_bfloat16"}};
       CHECK(map.get_config().dump().find("\"name\":null") != std::string::npos);
       CHECK(map["a"].repr() == "<DTypePolicy \"mixed_bfloat16\">");
     }},
};

} // namespace

TEST_CASE("Policies and maps pass the acceptance checks") {
  for (const Check &check : checks) {
    INFO(check.id);
    check.run();
  }
  CHECK(std::size(checks) == 40);
}
