// Compares plain dtype policies with tables and facts recorded from Keras.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Policy.h"
#include "tests/runtime/policy/PolicyFacts.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <type_traits>

using namespace halftone;

static std::string facts(const DTypePolicy &p) {
  return p.name() + " " + std::string(name(p.compute_dtype())) + " " + std::string(name(p.variable_dtype()));
}

/// "ValueError: message", or the facts of the policy that `make` returns.
template <class Function> static std::string outcome(Function function) {
  try {
    return facts(function());
  } catch (const Error &error) {
    return std::string(name(error.kind())) + ": " + error.message();
  }
}

static std::string cannotConvert(const std::string &text) {
  return "ValueError: Cannot convert '" + text +
         "' to a mixed precision DTypePolicy. Valid policies include 'mixed_float16', 'mixed_bfloat16', and the name "
         "of any "
         "float dtype such as 'float32'.";
}

static std::string notAPair(const std::string &text) {
  return "ValueError: Cannot convert `policy` into a valid pair (`mode`, `source_name`) to instantiate "
         "`QuantizedDTypePolicy`. Received: policy=" +
         text;
}

// policies 1.1
TEST_CASE("Every valid name makes a plain policy") {
  const char *rows[][3] = {{"mixed_float16", "float16", "float32"},
                           {"mixed_bfloat16", "bfloat16", "float32"},
                           {"int", "int32", "int32"},
                           {"torch.float16", "float16", "float16"},
                           {"jax.numpy.bfloat16", "bfloat16", "bfloat16"}};
  for (const auto &row : rows)
    CHECK(facts(DTypePolicy(row[0])) == std::string(row[0]) + " " + row[1] + " " + row[2]);
  for (const char *text :
       {"float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "int8", "int16", "int32", "int64",
        "uint8", "uint16", "uint32", "uint64", "bool", "string", "complex64", "complex128"}) {
    const DTypePolicy policy(text);
    CHECK(facts(policy) == std::string(text) + " " + text + " " + text);
    CHECK_FALSE(policy.quantization_mode());
    CHECK(policy.repr() == "<DTypePolicy \"" + std::string(text) + "\">");
  }
}

// policies 1.1
TEST_CASE("A name that is no policy is refused") {
  for (const char *text : {"",
                           " float32",
                           "FLOAT32",
                           "float",
                           "half",
                           "double",
                           "str",
                           "complex",
                           "mixed_float32",
                           "mixed_float64",
                           "mixed_float15",
                           "mixed_bfloat15",
                           "int4",
                           "int7_from_float32",
                           "float8",
                           "infer",
                           "_infer",
                           "infer_float32_vars",
                           "infer_with_float32_vars",
                           "float16_with_float32_vars",
                           "mixed_float16 ",
                           "mixed_float16mixed_float16",
                           "int8_from_float32",
                           "float8_from_mixed_bfloat16",
                           "int4/128_from_float32"}) {
    CHECK(outcome([&] { return DTypePolicy(text); }) == cannotConvert(text));
    CHECK(outcome([&] { return FloatDTypePolicy(text); }) == cannotConvert(text));
  }
}

// policies 2.2
TEST_CASE("dtype_policies::get reads a string that starts with a quantization mode as mode and source") {
  for (const char *text :
       {"int8", "float8_e4m3fn", "float8_e5m2", "int4", "float8", "int8_abc_", "awqx", "int8_from_int8_from_float32"}) {
    CHECK(outcome([&] { return dtype_policies::get(text); }) == notAPair(text));
    CHECK(outcome([&]() -> DTypePolicy {
            set_dtype_policy(text);
            return dtype_policy();
          }) == notAPair(text));
  }
  for (const char *text : {"ternary", "ternary_from_float32"})
    CHECK(outcome([&] { return dtype_policies::get(text); }) == cannotConvert(text));
  CHECK(outcome([] { return dtype_policies::get("int8_from_half"); }) == cannotConvert("half"));
  CHECK(outcome([] { return dtype_policies::get("int8_from_float32"); }) == "int8_from_float32 float32 float32");
  CHECK(outcome([] { return dtype_policies::get("uint8"); }) == "uint8 uint8 uint8");
  CHECK(outcome([] { return dtype_policies::get(int8); }) == "int8 int8 int8");
  CHECK(outcome([] { return dtype_policies::get(float8_e5m2); }) == "float8_e5m2 float8_e5m2 float8_e5m2");
  CHECK(outcome([] { return dtype_policies::get(DTypePolicy("int8")); }) == "int8 int8 int8");
  CHECK(outcome([] { return dtype_policies::get(std::string("mixed_float16")); }) == "mixed_float16 float16 float32");
  CHECK(dtype_policies::get(FloatDTypePolicy("float16")).class_name() == "FloatDTypePolicy");
}

// policies 1.1, 2.2, 6.1
TEST_CASE("Policy names give every row recorded from Keras") {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/policies.jsonl");
  REQUIRE(file);
  const PolicyScope restore{PolicyArg()};
  int rows = 0, errors = 0;
  for (std::string line; std::getline(file, line);) {
    const auto row = nlohmann::ordered_json::parse(line);
    const std::string call = row["call"], arg = row["arg"];
    INFO(call << "(" << arg << ")");
    nlohmann::ordered_json result;
    try {
      if (call == "DTypePolicy") {
        result["ok"] = describe(DTypePolicy(arg));
      } else if (call == "get") {
        result["ok"] = describe(dtype_policies::get(arg));
      } else {
        REQUIRE(call == "set_dtype_policy");
        set_dtype_policy(arg);
        result["ok"]["name"] = dtype_policy().name();
      }
    } catch (const Error &error) {
      result["error"] = name(error.kind());
      result["message"] = error.message();
      ++errors;
    }
    CHECK(result == row["result"]);
    ++rows;
  }
  CHECK(rows == 717);
  CHECK(errors > 300);
}

// policies 1.2
TEST_CASE("Plain policies are equal by name, in both classes") {
  CHECK(DTypePolicy("float16") == DTypePolicy("float16"));
  CHECK(DTypePolicy("float16") == FloatDTypePolicy("float16"));
  CHECK(FloatDTypePolicy("float16") == DTypePolicy("float16"));
  CHECK_FALSE(DTypePolicy("int") == DTypePolicy("int32"));
  CHECK_FALSE(DTypePolicy("float16") == DTypePolicy("mixed_float16"));
}

// policies 1.3
TEST_CASE("A copy of a policy keeps its class") {
  const FloatDTypePolicy original("mixed_bfloat16");
  DTypePolicy copy = original, moved = std::move(copy);
  CHECK(moved.class_name() == "FloatDTypePolicy");
  CHECK(copy.name() == "mixed_bfloat16");
  CHECK(moved.repr() == "<DTypePolicy \"mixed_bfloat16\">");
  CHECK_FALSE(std::is_assignable_v<DTypePolicy, DTypePolicy>);
  CHECK_FALSE(std::is_convertible_v<const char *, DTypePolicy>);
}

// policies 2.3
TEST_CASE("A bad name in an argument is reported at the user's line") {
  struct Arguments {
    PolicyArg dtype;
  };
  const unsigned line = __LINE__ + 2;
  try {
    (void)Arguments{.dtype = "float15"};
    FAIL("accepted");
  } catch (const Error &error) {
    CHECK(error.where().line == line);
    CHECK(std::string(error.where().file) == __FILE__);
    CHECK(std::string(error.what()) == cannotConvert("float15") + "\n  at: " + __FILE__ + ":" + std::to_string(line));
  }
  CHECK(outcome([] { return PolicyArg(std::string("int4")).get(); }) == notAPair("int4"));
}

/// The line in the error of a call; 0 if there is no error.
template <class Function> static unsigned lineOf(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return std::string(error.where().file) == __FILE__ ? error.where().line : 0;
  }
  return 0;
}

// policies 2.3
TEST_CASE("A bad name in a constructor or a setter is reported at the user's line") {
  CHECK(lineOf([] { DTypePolicy policy("x"); }) == __LINE__);
  CHECK(lineOf([] { FloatDTypePolicy policy("x"); }) == __LINE__);
  CHECK(lineOf([] { set_dtype_policy("x"); }) == __LINE__);
  CHECK(lineOf([] { mixed_precision::set_global_policy("int8"); }) == __LINE__);
  CHECK(lineOf([] { mixed_precision::set_dtype_policy(std::string("x")); }) == __LINE__);
  CHECK(lineOf([] { PolicyScope scope("x"); }) == __LINE__);
  CHECK(lineOf([] { (void)dtype_policies::get("x"); }) == __LINE__);
}

// policies 2.1
TEST_CASE("An empty policy argument is the global policy when it is read") {
  const PolicyArg empty, null(static_cast<const char *>(nullptr));
  CHECK(empty.empty());
  CHECK(null.empty());
  const PolicyScope scope("mixed_bfloat16");
  CHECK(empty.get().name() == "mixed_bfloat16");
  CHECK(dtype_policies::get(null).name() == "mixed_bfloat16");
  PolicyArg copy("float16");
  CHECK_FALSE(copy.empty());
  copy = empty;
  CHECK(copy.empty());
}
