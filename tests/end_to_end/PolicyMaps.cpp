// Policy maps over layers: in the constructor, as the global policy, on a built model; quantized and legacy policies.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "halftone/Legacy.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;

static Sequential blocks(const std::string &name) {
  return Sequential({Input({4}), Dense(6, {.activation = "relu", .name = "encoder_0"}), Dense(5, {.name = "middle"}),
                     Dense(2, {.name = "head"})},
                    {.name = name});
}

static DType outputOf(const Layer &layer) { return layer(Tensor::ones({2, 4})).dtype(); }

// policies 10.1, 10.2
TEST_CASE("under a policy map as the global policy each layer looks up its own path") {
  const DTypePolicyMap map("mixed_bfloat16", {{"net/encoder_[0-9]+", "mixed_float16"}, {"net/head", float32}});
  const PolicyScope scope(map);
  Sequential net = blocks("net");
  const std::vector<Layer> layers = net.layers();
  CHECK(net.get_layer("encoder_0").compute_dtype() == float16);
  CHECK(net.get_layer("middle").compute_dtype() == bfloat16);
  CHECK(net.get_layer("head").compute_dtype() == float32);
  for (const char *name : {"encoder_0", "middle", "head"}) {
    CHECK(net.get_layer(name).variable_dtype() == float32);
    CHECK(net.get_layer(name).dtype_policy().class_name() == "DTypePolicyMap");
  }
  CHECK(net(Tensor::ones({2, 4})).dtype() == float32);
  const SummaryReport summary = net.summary();
  std::vector<std::string> rules;
  for (const auto &row : summary.rows)
    rules.push_back(row.path + " " + row.policy + " " + row.rule);
  CHECK_THAT(rules, Catch::VectorContains(std::string("net/encoder_0 mixed_float16 net/encoder_[0-9]+")));
  CHECK_THAT(rules, Catch::VectorContains(std::string("net/middle mixed_bfloat16 ")));
  CHECK_THAT(summary.text(), Contains("Rule") && Contains("net/encoder_[0-9]+"));
  CHECK_THAT(summary.json(), Contains("\"rule\":\"net/head\""));
  CHECK_THAT(net.ir(Stage::graph, {.program = Program::predict, .batch_size = 2}),
             Contains("policy \"mixed_float16\"") && Contains("net/encoder_[0-9]+"));
}

// policies 10.3
// B-09: in Keras the first call uses the default of the map, the second the policy of the path
TEST_CASE("A first call computes by the path's policy already") {
  Dense dense(3, {.dtype = DTypePolicyMap("float32", {{"mapped", "mixed_bfloat16"}}), .name = "mapped"});
  CHECK(dense.compute_dtype() == float32); // without a path, the default applies
  CHECK(outputOf(dense) == bfloat16);
  CHECK(outputOf(dense) == bfloat16);
  CHECK(dense.compute_dtype() == bfloat16);
}

// policies 10.4, 11.4
TEST_CASE("setting the policy of a built layer replaces its entry in the shared map") {
  const DTypePolicyMap map("float32", {{"a", "float16"}});
  Dense a(3, {.dtype = map, .name = "a"}), b(3, {.dtype = map, .name = "b"});
  (void)outputOf(a);
  (void)outputOf(b);
  a.set_dtype_policy("bfloat16");
  CHECK(map["a"].name() == "bfloat16");
  CHECK(a.compute_dtype() == bfloat16);
  b.set_dtype_policy("mixed_float16");
  CHECK(map.size() == 2);
  CHECK(outputOf(b) == float16);
  Dense unbuilt(3, {.dtype = map, .name = "c"});
  unbuilt.set_dtype_policy("float64");
  CHECK(unbuilt.dtype_policy().name() == "float64");
  CHECK(map.size() == 2);
}

// policies 10.5
TEST_CASE("Two keys for one path stop the build, with the layer's path and the keys") {
  Dense dense(3, {.dtype = DTypePolicyMap("float32", {{"tw.", "float16"}, {".wo", "bfloat16"}}), .name = "two"});
  try {
    (void)outputOf(dense);
    FAIL("accepted");
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::value_error);
    CHECK(error.layer_path() == "two");
    CHECK_THAT(error.message(), Contains("['tw.', '.wo']"));
  }
  CHECK_FALSE(dense.built());
}

// policies 10.6, 11.4
TEST_CASE("apply_policy says which key decides, and which none") {
  Sequential net = blocks("applied");
  (void)net.predict(Tensor::ones({2, 4}), {.verbose = 0});
  const DTypePolicyMap map("mixed_bfloat16", {{"applied/middle", "float32"}, {"applied/typo", "float16"}});
  const PolicyReport report = net.apply_policy(map);
  REQUIRE(report.rows.size() == 3);
  CHECK(report.rows[0].path == "applied/encoder_0");
  CHECK(report.rows[0].policy == "mixed_bfloat16");
  CHECK_FALSE(report.rows[0].key);
  CHECK(report.rows[1].key == "applied/middle");
  CHECK(report.unused_keys == std::vector<std::string>{"applied/typo"});
  CHECK_THAT(report.text(), Contains("Unused key: applied/typo") && Contains("(default)"));
  CHECK(report.json().find(R"({"path":"applied/middle","policy":"float32","key":"applied/middle"})") !=
        std::string::npos);
  CHECK(net.get_layer("head").compute_dtype() == bfloat16);
  CHECK(net.get_layer("head").variables()[0].dtype() == float32);
  CHECK(net.predict(Tensor::ones({2, 4}), {.verbose = 0}).dtype() == bfloat16);
  CHECK(net.dtype_policy().name() == "float32");

  const DTypePolicyMap ambiguous("float32", {{"applied/head", "float16"}, {".*/m.*", "float16"}, {".*e", "bfloat16"}});
  CHECK_THROWS_WITH(net.apply_policy(ambiguous), Contains("'.*/m.*', '.*e'") && Contains("layer: applied/middle"));
  CHECK(net.get_layer("head").compute_dtype() == bfloat16); // nothing has changed
  Sequential unbuilt({Dense(2)});
  CHECK_THROWS_WITH(unbuilt.apply_policy(map), Contains("isn't built"));
}

// policies 10.7
TEST_CASE("No layer computes a quantized policy in silence") {
  LayerNormalization normal({.dtype = "int8_from_float32", .name = "quantized"});
  CHECK(normal.quantization_mode() == std::string("int8"));
  CHECK(normal.get_config().get_object("dtype").dump() ==
        dtype_policies::serialize(QuantizedDTypePolicy("int8", "float32")).dump());
  CHECK_THROWS_WITH(outputOf(normal),
                    Contains("NotImplementedError: Layer LayerNormalization does not have a `_int8_call` method "
                             "implemented.") &&
                        Contains("quantized"));
  Dense product(3);
  (void)outputOf(product);
  CHECK_THROWS_WITH(product.set_dtype_policy("gptq/4/-1_from_float32"),
                    Contains("ValueError: Implicitly enabling GPTQ quantization") && Contains("is not supported"));
  LayerNormalization plain;
  (void)outputOf(plain);
  CHECK_THROWS_WITH(plain.set_dtype_policy("int8_from_float32"), Contains("NotImplementedError: "));
  CHECK(plain.dtype_policy().name() == "float32");
  CHECK(outputOf(plain) == float32);
}

// policies 9.4
TEST_CASE("An inferring policy settles at the first call") {
  Dense infer(3, {.dtype = legacy::Policy("infer")}), vars(3, {.dtype = legacy::Policy("infer_with_float32_vars")});
  CHECK(infer(Tensor::ones({2, 4}, float16)).dtype() == float16);
  CHECK(infer.dtype_policy() == DTypePolicy("float16"));
  CHECK(infer.variables()[0].dtype() == float16);
  CHECK(infer(Tensor::ones({2, 4}, float32)).dtype() == float16); // later inputs are cast
  CHECK(vars(Tensor::ones({2, 4}, bfloat16)).dtype() == bfloat16);
  CHECK(vars.dtype_policy().name() == "bfloat16_with_float32_vars");
  CHECK(vars.variables()[0].dtype() == float32);
  Dense symbolic(3, {.dtype = legacy::Policy("infer")});
  CHECK(symbolic(Input({4}, {.dtype = float64})).dtype() == float64);
}

// policies 9.9
TEST_CASE("compile scales the loss as the model's legacy policy says") {
  const auto scaleOf = [](const legacy::Policy &policy) {
    legacy::set_policy(policy);
    Sequential net = blocks("legacy");
    net.compile({.optimizer = "sgd", .loss = "mse"});
    const auto scaled = net.loss_scale_optimizer();
    return scaled ? scaled->state().scale : 0.0;
  };
  const PolicyScope restore{PolicyArg()};
  CHECK(scaleOf(legacy::Policy("mixed_float16")) == 32768.0);
  CHECK(scaleOf(legacy::Policy("mixed_float16", std::nullopt)) == 0.0);
  CHECK(scaleOf(legacy::Policy("mixed_float16", 128.0)) == 128.0);
  CHECK(scaleOf(legacy::Policy("float16", legacy::DynamicLossScale({.initial_loss_scale = 64}))) == 64.0);
  CHECK(scaleOf(legacy::Policy("mixed_bfloat16")) == 0.0);
}

// policies 3.3
TEST_CASE("clear_session forgets the policy and the automatic names") {
  const PolicyScope restore{PolicyArg()};
  set_dtype_policy("mixed_float16");
  utils::clear_session();
  CHECK(dtype_policy().name() == "float32");
  CHECK(Dense(2).name() == "dense");
  CHECK(Dense(2).name() == "dense_1");
}

TEST_CASE("Acceptance checks A-050, A-054, A-056 of layers") {
  Dense narrow(2, {.dtype = "float16"}), mixed(2, {.dtype = "mixed_float16"});
  CHECK(outputOf(narrow) == float16);
  CHECK(outputOf(mixed) == float16);
  CHECK(narrow.variable_dtype() == float16);
  CHECK(mixed.variable_dtype() == float32);
  CHECK(mixed.variables()[0].dtype() == float32);

  Dense dense(2);
  dense.set_dtype_policy("mixed_bfloat16");
  CHECK(dense.dtype_policy().name() == "mixed_bfloat16");
  CHECK(dense.compute_dtype() == bfloat16);
  dense.set_dtype_policy(DTypePolicy("mixed_float16"));
  CHECK(dense.dtype_policy().name() == "mixed_float16");
  CHECK(dense.compute_dtype() == float16);

  for (const char *name : {"bfloat16", "int8_from_bfloat16"})
    CHECK(Dense(2, {.dtype = name}).get_config().get_object("dtype").dump() ==
          dtype_policies::serialize(dtype_policies::get(name)).dump());
}
