// Calls in files: their `training` argument, and a Keras model with every layer of random augmentation.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Json = nlohmann::json;

namespace {

struct RandomShift {
  Value call(const Value &x, const CallContext &context) const { return context.training() ? x + 1.0 : x; }
  void get_config(Config &) const {}
  static RandomShift from_config(const Config &) { return {}; }
};

} // namespace

TEST_CASE("A file of Keras with every layer that changes images at random predicts as its saver, and is saved again") {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/augmented.json");
  const Json row = Json::parse(file);
  const Tensor x = Tensor(row["x"].get<std::vector<double>>(), {2, 6, 7, 3}).astype(float32);
  const Model model = load_model(HALFTONE_SOURCE_DIR "/tests/data/keras/augmented.keras");
  CHECK(near(numbers(model.predict(x, {.verbose = 0})), row["y"].get<std::vector<double>>(), 1e-5));
  const TemporaryFolder folder;
  model.save(folder / "again.keras");
  const Model again = load_model(folder / "again.keras");
  CHECK(numbers(again.predict(x, {.verbose = 0})) == numbers(model.predict(x, {.verbose = 0})));
  CHECK(again.to_json() == model.to_json());
  model.compile({.optimizer = optimizers::SGD(0.01), .loss = "mse"});
  const std::vector<double> before = numbers(model.get_weights()[0]);
  model.fit(x, Tensor::zeros({2, 3}), {.epochs = 2, .verbose = 0});
  CHECK(numbers(model.get_weights()[0]) != before);
}

TEST_CASE("The default of `training`, which Keras records with a call, does not keep a layer of a file from training") {
  const Input x({8, 8});
  const std::vector<Value> outputs{Dropout(0.5)(x), LSTM(4, {.dropout = 0.5})(x), Attention({.dropout = 0.5})(x, x),
                                   MultiHeadAttention(2, 4, {.dropout = 0.5})(x, x)};
  for (const Value &output : outputs) {
    std::string text = Model({x}, {output}).to_json();
    const std::string none = R"("kwargs":{})", recorded = R"("kwargs":{"training":false})";
    const size_t last = text.rfind(none);
    REQUIRE(last != text.npos);
    text.replace(last, none.size(), recorded);
    const Model loaded = Model::from_config(Config::parse(text));
    const Tensor ones = Tensor::ones({2, 8, 8});
    INFO(text);
    CHECK(numbers(loaded.predict(ones, {.verbose = 0})) == numbers(loaded(ones, {.training = false})));
    CHECK(numbers(loaded(ones, {.training = true})) != numbers(loaded(ones, {.training = false})));
  }
}

TEST_CASE("A call of attention with heads on a list is saved as Keras's call, with separate arguments") {
  const Input x({6, 8}), y({5, 8});
  for (const bool hasKey : {false, true})
    for (const bool shares : {false, true}) {
      const Layer layer = shares ? Layer(GroupQueryAttention(4, 2, 1)) : Layer(MultiHeadAttention(2, 4));
      const Value output = hasKey ? layer({x, y, y}) : layer({x, y});
      const Model model({x, y}, {output});
      const Json calls = Json::parse(model.to_json())["config"]["layers"][2]["inbound_nodes"];
      CHECK(calls[0]["args"].size() == 2);
      CHECK(calls[0]["kwargs"].contains("key") == hasKey);
      const TemporaryFolder folder;
      model.save(folder / "model.keras");
      const Tensors data{Tensor::ones({2, 6, 8}), Tensor::full({2, 5, 8}, 0.5)};
      CHECK(numbers(load_model(folder / "model.keras").predict(data, {.verbose = 0})) ==
            numbers(model.predict(data, {.verbose = 0})));
    }
}

TEST_CASE("A file keeps `training` of a call of a user's layer, whose name may begin as those of layers of images") {
  register_custom<RandomShift>("test");
  const Input x({2});
  const Model model({x}, {Custom<RandomShift>(RandomShift{})(x, {.training = true})});
  const Model loaded = Model::from_config(Config::parse(model.to_json()));
  const Tensor zeros = Tensor::zeros({1, 2});
  CHECK(numbers(model.predict(zeros, {.verbose = 0})) == std::vector<double>{1, 1});
  CHECK(numbers(loaded.predict(zeros, {.verbose = 0})) == std::vector<double>{1, 1});
}
