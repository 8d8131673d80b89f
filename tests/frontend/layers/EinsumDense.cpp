// EinsumDense: outputs and gradients recorded from real Keras, shapes of weights, and rejected arguments.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/ConfigAccess.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <fstream>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Json = nlohmann::ordered_json;
using List = std::vector<Value>;

namespace {

void append(const Json &nested, std::vector<double> &values) {
  if (!nested.is_array())
    return values.push_back(nested.get<double>());
  for (const Json &each : nested)
    append(each, values);
}
std::vector<double> numbersOf(const Json &nested) {
  std::vector<double> values;
  append(nested, values);
  return values;
}
Tensor tensorOf(const Json &nested) {
  std::vector<int64_t> dims;
  for (Json each = nested; each.is_array(); each = Json(each[0]))
    dims.push_back(int64_t(each.size()));
  return Tensor(numbersOf(nested), Shape(dims)).astype(float32);
}

} // namespace

TEST_CASE("Outputs and gradients of recorded layers are Keras's") {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/einsum_dense.jsonl");
  int64_t rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    const Json row = Json::parse(line);
    INFO(row["config"]["equation"] << " under " << row["policy"]);
    const Json saved = {{"module", "keras.layers"},
                        {"class_name", "EinsumDense"},
                        {"config", row["config"]},
                        {"registered_name", nullptr}};
    Layer layer = deserialize(Config::parse(saved.dump()));
    CHECK(Json::parse(serialize(layer).dump()) == saved); // an ordered object: the order of keys matters
    const Tensor x = tensorOf(row["inputs"][0]), cotangent = tensorOf(row["cotangent"]);
    (void)layer(x);
    std::vector<Tensor> weights;
    for (const Json &each : row["weights"])
      weights.push_back(tensorOf(each));
    layer.set_weights(weights);
    const double tolerance = row["policy"] == "float32" ? 1e-5 : row["policy"] == "mixed_float16" ? 4e-3 : 3e-2;
    for (Run run : everyRun) {
      const std::vector<Tensor> results = runOnce(run, {x, cotangent}, [&](const List &v) {
        const Value y = layer(v[0]), loss = ops::sum(ops::cast(y, float32) * v[1]);
        List list{y, gradients(loss, List{v[0]})[0]};
        for (const Value &slope : gradients(loss, layer.trainable_variables()))
          list.push_back(slope);
        return list;
      });
      CHECK(results[0].dtype() == standardize_dtype(row["output_dtype"].get<std::string>()));
      CHECK(near(numbers(results[0]), numbersOf(row["output"]), tolerance));
      CHECK(near(numbers(results[1]), numbersOf(row["grad_x"]["inputs"]), tolerance));
      for (size_t i = 0; i < weights.size(); ++i)
        CHECK(near(numbers(results[2 + i]), numbersOf(row["grad_x"]["weights"][i]), tolerance));
    }
  }
  CHECK(rows == 15);
}

TEST_CASE("The equation and the output's shape say the shapes of kernel and bias") {
  struct Case {
    const char *equation;
    Shape output;
    const char *bias;
    Shape input, kernel, biasShape, result;
  };
  for (const Case &c : std::vector<Case>{
           {"ab,bc->ac", {64}, "c", {2, 32}, {32, 64}, {64}, {2, 64}},
           {"abc,cd->abd", {none, 64}, "bd", {2, 8, 32}, {32, 64}, {8, 64}, {2, 8, 64}},
           {"abc,cde->abde", {none, 2, 3}, "be", {2, 8, 4}, {4, 2, 3}, {8, 1, 3}, {2, 8, 2, 3}},
           {"...x,xy->...y", {5}, "y", {2, 3, 4}, {4, 5}, {5}, {2, 3, 5}},
           {"...x,xy->...y", {5}, "y", {2, 4}, {4, 5}, {5}, {2, 5}},
           {"...ab,bc->...ac", {3, 5}, "c", {2, 6, 3, 4}, {4, 5}, {5}, {2, 6, 3, 5}},
           {"ab...,bc->ac...", {5}, "c", {2, 3, 4, 6}, {3, 5}, {5, 1, 1}, {2, 5, 4, 6}},
           {"ab...,bc->ac...", {5, 4}, "c", {2, 3, 4}, {3, 5}, {5, 1}, {2, 5, 4}},
       }) {
    INFO(c.equation);
    const EinsumDense layer(c.equation, c.output, {.bias_axes = c.bias});
    CHECK(layer(Tensor::ones(c.input)).shape() == c.result);
    CHECK(layer.kernel().shape() == c.kernel);
    CHECK(layer.bias().shape() == c.biasShape);
    const EinsumDense plain(c.equation, c.output, {.bias_axes = ""});
    CHECK(plain(Tensor::ones(c.input)).shape() == c.result);
    CHECK(plain.weights().size() == 1);
  }
}

TEST_CASE("Equations, shapes and axes that do not fit are refused, and nothing is built") {
  struct Refused {
    const char *equation;
    Shape output;
    std::optional<std::string> bias;
    Shape input;
    const char *reason;
  };
  for (const Refused &each : std::vector<Refused>{
           {"ab,bc,cd->a", {5}, {}, {2, 3}, "Invalid einsum equation 'ab,bc,cd->a'"},
           {"abbcac", {5}, {}, {2, 3}, "Invalid einsum equation"},
           {"...ab,bc->ac", {5}, {}, {2, 3}, "Invalid einsum equation"},
           {"a...,bc->c...", {5}, {}, {2, 3}, "Invalid einsum equation"},
           {"ab,bc->ad", {5}, {}, {2, 3}, "'d' of the output is neither in the input nor in the kernel"},
           {"ab,bcd->ac", {5}, {}, {2, 3}, "'d' of the kernel is neither in the input nor in the output"},
           {"abc,cd->abd", {4, 5}, {}, {2, 3, 6}, "'b' has extent 3 in the input"},
           {"ab,bc->ac", {none}, {}, {2, 3}, "the extent of 'c', an axis of the kernel, is None"},
           {"ab,bc->ac", {5}, "b", {2, 3}, "'b' of bias_axes is not in the output"},
           {"ab,bc->ac", {5, 6}, {}, {2, 3}, "output_shape=(5, 6) has 2 extents; expected 1"},
           {"abc,cd->abd", {5}, {}, {2, 3, 4}, "has 1 extents; expected 2"},
           {"ab,bc->ac", {5}, {}, {2, 3, 4}, "the input has 3 axes"},
           {"...abc,cd->...abd", {3, 5}, {}, {2, 3}, "the input has 2 axes"},
       }) {
    INFO(each.equation);
    const EinsumDense layer(each.equation, each.output, {.bias_axes = each.bias});
    CHECK_THAT(errorOf([&] { (void)layer(Tensor::ones(each.input)); }),
               Contains("ValueError") && Contains(each.reason));
    CHECK(layer.weights().empty());
  }
}
