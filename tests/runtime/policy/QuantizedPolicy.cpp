// Compares quantized dtype policies with tables and facts recorded from Keras.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Policy.h"
#include "tests/runtime/policy/PolicyFacts.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fstream>

using namespace halftone;
using Catch::Contains;
using Json = nlohmann::ordered_json;

static DTypePolicy construct(const std::string &call, const std::string &mode, std::optional<std::string> source) {
  if (call == "QuantizedDTypePolicy")
    return QuantizedDTypePolicy(mode, source);
  if (call == "QuantizedFloat8DTypePolicy")
    return QuantizedFloat8DTypePolicy(mode, source);
  if (call == "Int4DTypePolicy")
    return Int4DTypePolicy(mode, source);
  if (call == "GPTQDTypePolicy")
    return GPTQDTypePolicy(mode, source);
  REQUIRE(call == "AWQDTypePolicy");
  return AWQDTypePolicy(mode, source);
}

// policies 6.1, 6.2, 6.3, 6.4
TEST_CASE("Quantized constructors give every row recorded from Keras") {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/quantized_classes.jsonl");
  REQUIRE(file);
  int rows = 0, accepted = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    const Json row = Json::parse(line);
    INFO(line);
    const PolicyScope global(row["global"].get<std::string>());
    std::optional<std::string> source;
    if (!row["source_name"].is_null())
      source = row["source_name"].get<std::string>();
    const Json result = recorded([&] { return describe(construct(row["call"], row["mode"], source)); });
    CHECK(result == row["result"]);
    accepted += result.contains("ok");
  }
  CHECK(rows == 187);
  CHECK(accepted > 30);
}

// policies 6.1
TEST_CASE("The mode of a policy's string chooses the class") {
  const char *rows[][4] = {{"int8_from_mixed_bfloat16", "QuantizedDTypePolicy", "int8", "bfloat16"},
                           {"int4_from_float16", "QuantizedDTypePolicy", "int4", "float16"},
                           {"int4/64_from_float32", "Int4DTypePolicy", "int4", "float32"},
                           {"float8_from_mixed_float16", "QuantizedFloat8DTypePolicy", "float8", "float16"},
                           {"gptq/3/-1_from_float32", "GPTQDTypePolicy", "gptq", "float32"},
                           {"awq/4/64_from_float32", "AWQDTypePolicy", "awq", "float32"}};
  for (const auto &row : rows) {
    const DTypePolicy policy = dtype_policies::get(row[0]);
    CHECK(policy.name() == row[0]);
    CHECK(policy.class_name() == row[1]);
    CHECK(policy.quantization_mode() == std::string(row[2]));
    CHECK(name(policy.compute_dtype()) == row[3]);
    CHECK(policy.repr() == "<" + std::string(row[1]) + " \"" + row[0] + "\">");
    CHECK(dtype_policies::deserialize(dtype_policies::serialize(policy)) == policy);
    CHECK(dtype_policies::deserialize(Config::parse(dtype_policies::serialize(policy).dump())) == policy);
  }
}

// policies 6.5
TEST_CASE("Integers in a quantization mode are read as Python reads them") {
  const Int4DTypePolicy int4("int4/ +1_28 ", "float32");
  CHECK(int4.name() == "int4/ +1_28 _from_float32"); // the name is kept as given; the config has normalized integers
  CHECK(int4.get_config().get_string("mode") == "int4/128");
  CHECK(int4.block_size() == 128);
  CHECK(Int4DTypePolicy("int4/007", "float32").block_size() == 7);
  const GPTQDTypePolicy gptq("gptq/ 4/0128", "float32");
  CHECK(gptq.name() == "gptq/ 4/0128_from_float32");
  CHECK(gptq.get_config().get_string("mode") == "gptq/4/128");
  CHECK(gptq.weight_bits() == 4);
  CHECK(gptq.group_size() == 128);
  for (const char *bad : {"int4/1__0", "int4/_1", "int4/1_", "int4/+", "int4/", "int4/1e3", "int4/0x10", "int4/- 1",
                          "int4/None", "int4/99999999999999999999"})
    CHECK_THAT(failureOf([&] { Int4DTypePolicy policy(bad, "float32"); }),
               Contains("ValueError: Invalid mode for Int4DTypePolicy. <block_size> must be an integer."));
}

// policies 6.6
TEST_CASE("Without a source, a quantized policy takes the global policy's name") {
  const PolicyScope global("mixed_bfloat16");
  CHECK(QuantizedDTypePolicy("int8").name() == "int8_from_mixed_bfloat16");
  CHECK(QuantizedFloat8DTypePolicy("float8").name() == "float8_from_mixed_bfloat16");
  const Int4DTypePolicy int4("int4/64");
  CHECK(int4.name() == "int4/64_from_None");
  CHECK(int4.get_config().get_string("source_name") == "mixed_bfloat16");
  CHECK(int4.compute_dtype() == bfloat16);
  const GPTQDTypePolicy gptq("gptq/4/128");
  CHECK(gptq.name() == "gptq/4/128_from_None");
  CHECK(gptq.get_config().get_string("source_name") == "mixed_bfloat16");
  CHECK(gptq.compute_dtype() == bfloat16);
  const QuantizedDTypePolicy kept("int8");
  {
    const PolicyScope other("float32");
    CHECK(kept.name() == "int8_from_mixed_bfloat16");
  }
  const PolicyScope quantized("int8_from_float32");
  CHECK_THAT(failureOf([] { QuantizedDTypePolicy policy("int8"); }),
             Contains("ValueError: Cannot convert 'int8_from_float32' to a mixed precision DTypePolicy."));
  CHECK_THAT(failureOf([] { DTypePolicy policy; }), Contains("ValueError: Cannot convert 'int8_from_float32'"));
}

// policies 6.7
TEST_CASE("The amax history length is an integer of at least 1, and only the config carries it") {
  CHECK(QuantizedFloat8DTypePolicy("float8", "float32").amax_history_length() == 1024);
  const QuantizedFloat8DTypePolicy policy("float8", "float32", 512);
  CHECK(policy.amax_history_length() == 512);
  CHECK(QuantizedFloat8DTypePolicy("float8", "float32", 1).amax_history_length() == 1);
  for (const int64_t bad : {0, -1, -3}) {
    const std::string told =
        fmt::format("must be at least 1: it counts the largest magnitudes that are kept. Received: "
                    "amax_history_length={}",
                    bad);
    CHECK_THAT(failureOf([&] { QuantizedFloat8DTypePolicy("float8", "float32", bad); }), Contains(told));
    const Config config = Config::parse(fmt::format(
        R"({{"class_name":"QuantizedFloat8DTypePolicy","config":{{"mode":"float8","amax_history_length":{}}}}})", bad));
    CHECK_THAT(failureOf([&] { (void)dtype_policies::deserialize(config); }), Contains("ValueError") && Contains(told));
  }
  CHECK_FALSE(policy == QuantizedFloat8DTypePolicy("float8", "float32"));
  CHECK(policy.name() == "float8_from_float32");
  CHECK(dtype_policies::deserialize(dtype_policies::serialize(policy)) == policy);
  for (const char *bad : {"\"512\"", "512.0", "null", "[1]"})
    CHECK_THAT(failureOf([&] {
                 (void)dtype_policies::deserialize(Config::parse(
                     std::string(R"({"class_name":"QuantizedFloat8DTypePolicy","config":{"mode":"float8",)") +
                     R"("source_name":"float32","amax_history_length":)" + bad + "}}"));
               }),
               Contains("TypeError: `amax_history_length` must be an integer."));
}

// policies 6.8
TEST_CASE("Quantized policies are equal by class, name, mode, source and integers") {
  CHECK_FALSE(dtype_policies::get("int4_from_float32") == dtype_policies::get("int4/-1_from_float32"));
  CHECK_FALSE(QuantizedDTypePolicy("float8", "float32") == QuantizedFloat8DTypePolicy("float8", "float32"));
  CHECK(QuantizedDTypePolicy("float8", "float32") == QuantizedDTypePolicy("float8", "float32"));
  CHECK_FALSE(QuantizedDTypePolicy("int8", "float32") == QuantizedDTypePolicy("int8", "bfloat16"));
  CHECK_FALSE(QuantizedDTypePolicy("int8", "mixed_bfloat16") == DTypePolicy("mixed_bfloat16"));
  CHECK_FALSE(GPTQDTypePolicy("gptq/4/128", "float32") == GPTQDTypePolicy("gptq/4/64", "float32"));
  const PolicyScope global("float32");
  CHECK_FALSE(GPTQDTypePolicy("gptq/4/128") == GPTQDTypePolicy("gptq/4/128", "float32")); // compared by name again
}

TEST_CASE("Each quantized policy class comes back from its config") {
  CHECK(FloatDTypePolicy::from_config(FloatDTypePolicy("float16").get_config()).class_name() == "FloatDTypePolicy");
  CHECK(QuantizedDTypePolicy::from_config(QuantizedDTypePolicy("int8", "float32").get_config()).name() ==
        "int8_from_float32");
  CHECK(QuantizedFloat8DTypePolicy::from_config(QuantizedFloat8DTypePolicy("float8", "float32", 7).get_config())
            .amax_history_length() == 7);
  CHECK(Int4DTypePolicy::from_config(Int4DTypePolicy("int4/-1", "float32").get_config()).block_size() == -1);
  CHECK(GPTQDTypePolicy::from_config(GPTQDTypePolicy("gptq/3/64", "float32").get_config()).weight_bits() == 3);
  CHECK(AWQDTypePolicy::from_config(AWQDTypePolicy("awq/4/64", "float32").get_config()).group_size() == 64);
  const DTypePolicyMap map("float16", {{"a", "int8_from_float32"}});
  CHECK(DTypePolicyMap::from_config(map.get_config()) == map);
}

TEST_CASE("A quantized policy copied into the base class keeps its class and fields") {
  DTypePolicy policy = Int4DTypePolicy("int4/32", "float16");
  CHECK(policy == Int4DTypePolicy("int4/32", "float16"));
  QuantizedFloat8DTypePolicy float8("float8", "float32");
  DTypePolicy &base = float8;
  base = DTypePolicy("float32");
  CHECK_THAT(failureOf([&] { (void)float8.amax_history_length(); }), Contains("AttributeError"));
}

// policies 6.9
TEST_CASE("A config that fits no quantized policy is refused") {
  const auto load = [](const std::string &className, const std::string &config) {
    return failureOf([&] {
      (void)dtype_policies::deserialize(
          Config::parse(R"({"class_name":")" + className + R"(","config":)" + config + "}"));
    });
  };
  CHECK_THAT(load("QuantizedDTypePolicy", R"({"source_name":"float32"})"),
             Contains("TypeError: QuantizedDTypePolicy.__init__() missing 1 required positional argument: 'mode'"));
  CHECK_THAT(load("Int4DTypePolicy", R"({"mode":"int4/8","size":2})"), Contains("TypeError") && Contains("'size'"));
  CHECK_THAT(load("QuantizedDTypePolicy", R"({"mode":"int8","amax_history_length":2})"), Contains("TypeError"));
  CHECK_THAT(load("QuantizedDTypePolicy", R"({"mode":"int8","source_name":123})"),
             Contains("TypeError: 'name' must be a string"));
  CHECK_THAT(load("AWQDTypePolicy", R"({"mode":4})"), Contains("TypeError"));
  CHECK(load("QuantizedDTypePolicy", R"({"mode":"int4","source_name":null})").empty());
  CHECK_THAT(load("TernaryDTypePolicy", R"({"mode":"ternary","source_name":null})"),
             Contains("TypeError: 'TernaryDTypePolicy' is not the class of a dtype policy"));
}

TEST_CASE("A bad quantized policy is reported at the user's line") {
  try {
    Int4DTypePolicy policy("int4/0", "float32");
    FAIL("accepted");
  } catch (const Error &error) {
    CHECK(error.where().line == __LINE__ - 3);
    CHECK(std::string(error.where().file) == __FILE__);
  }
}
