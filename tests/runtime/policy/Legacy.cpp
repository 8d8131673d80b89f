// The policies of TensorFlow 2.0.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Legacy.h"
#include "runtime/policy/LegacyPolicy.h"
#include "tests/runtime/policy/PolicyFacts.h"
#include <catch2/catch.hpp>

using namespace halftone;
using Catch::Contains;

// policies 9.1
TEST_CASE("Every name of a TensorFlow 2.0 policy has its dtypes") {
  struct Row {
    const char *name;
    std::optional<DType> compute, variable;
    bool shouldCast, scaled;
  };
  const std::optional<DType> inferred;
  for (const Row &row :
       {Row{"float32", float32, float32, false, false}, Row{"int8", int8, int8, false, false},
        Row{"half", float16, float16, false, false}, Row{"mixed_float16", float16, float32, true, true},
        Row{"mixed_bfloat16", bfloat16, float32, true, false}, Row{"infer", inferred, inferred, false, false},
        Row{"infer_with_float32_vars", inferred, float32, true, false},
        Row{"float16_with_float32_vars", float16, float32, true, false},
        Row{"float64_with_float32_vars", float64, float32, true, false}}) {
    const legacy::Policy policy(row.name);
    INFO(row.name);
    CHECK(policy.name() == row.name);
    CHECK(policy.compute_dtype() == row.compute);
    CHECK(policy.variable_dtype() == row.variable);
    CHECK(policy.default_variable_dtype() == row.variable);
    CHECK(policy.should_cast_variables() == row.shouldCast);
    CHECK(policy.loss_scale().has_value() == row.scaled);
  }
  CHECK(legacy::Policy("infer_float32_vars").name() == "infer_with_float32_vars");
  CHECK(legacy::Policy("float32_with_float32_vars").name() == "float32");
}

// policies 9.2
TEST_CASE("A name that is no TensorFlow 2.0 policy is refused") {
  for (const char *bad : {"", "Float32", "mixed_float32", "inferred", "_with_float32_vars",
                          "mixed_float16_with_float32_vars", "float15_with_float32_vars", "int8_from_float32"}) {
    const std::string failure = failureOf([&] { legacy::Policy policy(bad); });
    CHECK_THAT(failure, Contains("ValueError: Cannot convert value " + std::string(bad) +
                                 " to a mixed precision Policy. Valid policies include include 'mixed_float16', "));
  }
  try {
    legacy::Policy policy("x");
  } catch (const Error &error) {
    CHECK(error.where().line == __LINE__ - 2);
  }
}

// policies 9.3
TEST_CASE("A legacy policy lists the warnings that TensorFlow would have logged") {
  CHECK(legacy::Policy("mixed_float16").warnings().empty());
  CHECK(legacy::Policy("infer").warnings().empty());
  CHECK(legacy::Policy("float16_with_float32_vars").warnings() ==
        std::vector<std::string>{"WARNING: The 'float16_with_float32_vars' policy is deprecated and will be removed in "
                                 "TensorFlow 2.1. Please use the 'mixed_float16' policy instead."});
  CHECK(legacy::Policy("float64_with_float32_vars").warnings().at(0).find("Please") == std::string::npos);
  CHECK_THAT(legacy::Policy("infer_float32_vars").warnings().at(0), Contains("'infer_with_float32_vars'"));
  CHECK_THAT(legacy::Policy("float32", 2.0).warnings().at(0), Contains("only useful for float16 policies"));
  CHECK(legacy::Policy("infer", 2.0).warnings().empty());
  CHECK(legacy::Policy("float16", "dynamic").warnings().empty());
}

TEST_CASE("A legacy policy keeps the loss scale that it was given") {
  CHECK(legacy::Policy("float16", 2.0).repr() == "<Policy \"float16\", loss_scale=FixedLossScale(2.0)>");
  CHECK(legacy::Policy("mixed_float16", std::nullopt).repr() == "<Policy \"mixed_float16\", loss_scale=None>");
  CHECK((*legacy::Policy("mixed_float16", 128.0).loss_scale())() == 128.0);
  const legacy::DynamicLossScale scale({.increment_period = 1000});
  CHECK_FALSE(scale.update(false));
  CHECK((*legacy::Policy("float16", scale).loss_scale())() == 16384.0); // the same scale
}

// policies 9.4
TEST_CASE("A legacy policy becomes the dtype policy of a layer") {
  CHECK(DTypePolicy(legacy::Policy("mixed_bfloat16")) == DTypePolicy("mixed_bfloat16"));
  const DTypePolicy infer = legacy::Policy("infer"), vars = legacy::Policy("infer_with_float32_vars");
  CHECK(infer.class_name() == "Policy");
  CHECK(inferredPolicy(infer, DType::float16)->name() == "float16");
  CHECK(inferredPolicy(infer, DType::int32)->compute_dtype() == int32);
  const DTypePolicy settled = *inferredPolicy(vars, DType::float16);
  CHECK(settled.name() == "float16_with_float32_vars");
  CHECK(settled.compute_dtype() == float16);
  CHECK(settled.variable_dtype() == float32);
  CHECK(inferredPolicy(vars, DType::float32)->name() == "float32");
  CHECK_FALSE(inferredPolicy(settled, DType::float64));
  CHECK_FALSE(inferredPolicy(DTypePolicy("float32"), DType::float64));
  const auto scalesLoss = [](const DTypePolicy &policy) {
    return lossScaler(policy, LossScaler::none) == LossScaler::added;
  };
  CHECK(scalesLoss(DTypePolicy("mixed_float16")));
  CHECK(lossScaler(DTypePolicy("mixed_float16"), LossScaler::given) == LossScaler::given);
  CHECK(lossScaler(DTypePolicy("mixed_float16"), LossScaler::factor) == LossScaler::added);
  CHECK(lossScaler(DTypePolicy("mixed_float16"), LossScaler::factor, false) == LossScaler::factor);
  CHECK(lossScaler(DTypePolicy("float16"), LossScaler::given) == LossScaler::given);
  CHECK_FALSE(scalesLoss(DTypePolicy("float16")));
  CHECK_FALSE(scalesLoss(legacy::Policy("mixed_float16", std::nullopt)));
  CHECK(scalesLoss(legacy::Policy("float16", 128.0)));
  CHECK_FALSE(legacyLossScale(DTypePolicy("mixed_float16")).has_value());
  const auto unscaled = legacyLossScale(legacy::Policy("mixed_float16", std::nullopt));
  REQUIRE(unscaled.has_value());
  CHECK_FALSE(unscaled->has_value());
}

// policies 9.8
TEST_CASE("Legacy policies survive JSON, and bad JSON is refused") {
  for (const legacy::Policy &policy :
       {legacy::Policy("infer"), legacy::Policy("float16_with_float32_vars"), legacy::Policy("float16", 4.0),
        legacy::Policy("mixed_float16", std::nullopt),
        legacy::Policy("float16", legacy::DynamicLossScale({.initial_loss_scale = 8, .increment_period = 5}))}) {
    const DTypePolicy given = policy;
    const DTypePolicy again = dtype_policies::deserialize(Config::parse(dtype_policies::serialize(given).dump()));
    CHECK(again == given);
    CHECK(again.repr() == policy.repr());
  }
  for (const char *bad : {R"({})", R"({"name":1})", R"({"name":"x"})", R"({"name":"float16","loss_scale":3})",
                          R"({"name":"float16","loss_scale":{"class_name":"X","config":{}}})",
                          R"({"name":"float16","loss_scale":{"class_name":"FixedLossScale","config":3}})",
                          R"({"name":"float16","size":3})"})
    CHECK_FALSE(failureOf([&] {
                  (void)dtype_policies::deserialize(
                      Config::parse(R"({"class_name":"Policy","config":)" + std::string(bad) + "}"));
                }).empty());
}

// policies 9.5
TEST_CASE("legacy::set_policy sets the thread's policy, and nullopt leaves none set") {
  const PolicyScope restore{PolicyArg()};
  legacy::set_policy(std::nullopt);
  CHECK(legacy::global_policy().name() == "float32");
  config::set_floatx("float64"); // each call rereads floatx; the library keeps no policy
  CHECK(legacy::global_policy().name() == "float64");
  config::set_floatx("float32");
  CHECK(dtype_policy().name() == "float32");
  legacy::set_policy("mixed_float16");
  CHECK(dtype_policy() == DTypePolicy("mixed_float16"));
  legacy::set_policy(legacy::Policy("float16", 2.0));
  CHECK(legacy::global_policy().repr() == "<Policy \"float16\", loss_scale=FixedLossScale(2.0)>");
  CHECK(dtype_policy().compute_dtype() == float16);
  set_dtype_policy("bfloat16");
  CHECK(legacy::global_policy().name() == "bfloat16");
}

TEST_CASE("IR names a policy so that its name alone tells the policy") {
  const PolicyScope global("mixed_bfloat16");
  for (const DTypePolicy &policy :
       {DTypePolicy("int8"), DTypePolicy("float8_e4m3fn"), DTypePolicy("mixed_float16"),
        DTypePolicy(QuantizedDTypePolicy("int8", "float32")), DTypePolicy(Int4DTypePolicy("int4/64")),
        DTypePolicy(Int4DTypePolicy("int4/ +64", "float32")), DTypePolicy(GPTQDTypePolicy("gptq/4/128")),
        DTypePolicy(legacy::Policy("float16_with_float32_vars"))}) {
    const std::string name = nameInIR(policy);
    INFO(policy.name() << " is " << name);
    const DTypePolicy named = policyNamed(name);
    CHECK(named.compute_dtype() == policy.compute_dtype());
    CHECK(named.variable_dtype() == policy.variable_dtype());
    CHECK(named.quantization_mode() == policy.quantization_mode());
  }
  CHECK(nameInIR(Int4DTypePolicy("int4/64")) == "int4/64_from_mixed_bfloat16");
  CHECK_THROWS_AS(policyNamed("int4/64_from_None"), Error);
}
