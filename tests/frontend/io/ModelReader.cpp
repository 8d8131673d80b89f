// Files whose root is a subclass of keras.Model: a registered struct reads them.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/CapturedOutput.h"
#include "tests/frontend/io/KerasModels.h"
#include <catch2/catch.hpp>
#include <fstream>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

const std::string folder = HALFTONE_SOURCE_DIR "/tests/data/keras/subclassed/";

struct Mlp {
  int64_t units;
  layers::Dense hidden{units, {.activation = "relu", .name = "hidden"}}, head{2, {.name = "head"}};

  Value call(const Value &x) const { return head(hidden(x)); }
  void get_config(Config &config) const { config.set("units", units); }
  static Mlp from_config(const Config &config) { return {config.get_int("units")}; }
};
namespace partial {
struct Mlp { // lacks the second layer of the class in Python
  layers::Dense hidden;

  Value call(const Value &x) const { return hidden(x); }
  static Mlp from_config(const Config &config) {
    return {layers::Dense(config.get_int("units"), {.activation = "relu", .name = "hidden"})};
  }
};
} // namespace partial

Tensor tensorOf(const Json &rows) {
  std::vector<float> numbers;
  for (const Json &row : rows)
    for (const Json &number : row)
      numbers.push_back(number.get<float>());
  return Tensor(std::move(numbers), {static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size())});
}

/// The relative difference that is allowed under a policy.
double toleranceOf(const std::string &policy) {
  return policy == "float32" ? 2e-6 : policy == "mixed_float16" ? 3e-3 : 2e-2;
}

} // namespace

TEST_CASE("A subclass of keras.Model predicts and trains on like its saver, and so does the file saved here") {
  CHECK_THROWS_WITH(load_model(folder + "float32.keras"), Contains("register_custom<Mlp>(\"mine\")"));
  register_custom<Mlp>("mine");
  std::ifstream rows(folder + "facts.jsonl");
  int64_t files = 0;
  for (std::string row; std::getline(rows, row); ++files) {
    const Json facts = Json::parse(row);
    const std::string policy = facts.at("policy");
    INFO(policy);
    const PolicyScope scope(policy);
    const Tensor x = tensorOf(facts.at("x")), y = tensorOf(facts.at("y"));
    const TemporaryFolder copies;
    load_model(folder + policy + ".keras").save(copies / "again.keras");
    for (const std::string &file : {folder + policy + ".keras", copies / "again.keras"}) {
      const Model model = load_model(file);
      CHECK(model.class_name() == "Mlp");
      CHECK(near(numbers(model.predict(x, {.verbose = 0})), numbers(tensorOf(facts.at("prediction"))),
                 toleranceOf(policy)));
      CHECK(model.predict(Tensor::ones({7, 3}), {.verbose = 0}).shape() == Shape{7, 2});
      for (const Json &loss : facts.at("losses"))
        CHECK(near({model.train_on_batch(x, y)["loss"]}, {loss.get<double>()}, toleranceOf(policy)));
    }
  }
  CHECK(files == 3);
}

TEST_CASE("A warning lists the weights of a file that the struct lacks") {
  register_custom<partial::Mlp>("mine");
  const CapturedOutput output;
  CHECK(load_model(folder + "float32.keras", {.compile = false}).weights().size() == 2);
  CHECK_THAT(output.text, Contains("no layer of the model has the weights of: head/vars"));
}

TEST_CASE("The dtypes of a struct's inputs are one per input") {
  register_custom<Mlp>("mine");
  const Model model(Mlp{3});
  (void)model.predict_on_batch(Tensor::ones({2, 4}));
  const std::string text = model.to_json(), written = R"("input_dtypes":["float32"])";
  const size_t begin = text.find(written);
  REQUIRE(begin != text.npos);
  for (const auto &[dtypes, error] :
       {std::pair(R"(["float32", "int32"])", "one dtype per input shape"),
        std::pair(R"(["float31"])", "Invalid dtype: float31"), std::pair(R"("float32")", "a list")}) {
    std::string changed = text;
    changed.replace(begin, written.size(), std::string(R"("input_dtypes":)") + dtypes);
    CHECK_THROWS_WITH(Model::from_config(Config::parse(changed)), Contains(error));
  }
}
