// Functional models saved by real Keras: calls of inner models with lists, dicts and masks.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/KerasArchive.h"
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/RecordedJson.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

std::string nested(const std::string &file) { return HALFTONE_SOURCE_DIR "/tests/data/keras/nested/" + file; }

void checkOutputs(const Model &model, const Json &row) {
  std::vector<Tensor> x;
  for (const Json &input : row.at("x"))
    x.push_back(tensorOf(input.at("values"), input.at("dtype")));
  const Tensors y = model.predict_all(Tensors(x), {.verbose = 0});
  REQUIRE(y.size() == row.at("y").size());
  for (size_t i = 0; i < y.size(); ++i)
    CHECK(distance(numbers(y[i]), elementsOf(row.at("y")[i])) <= 2e-6);
}

/// The config of a file in which `from`, which must occur, is replaced by `to`.
Config edited(const std::string &file, const std::string &from, const std::string &to) {
  std::string text = detail::KerasArchive(nested(file)).json("config.json").dump();
  const size_t place = text.find(from);
  REQUIRE(place != text.npos);
  return Config::parse(text.replace(place, from.size(), to));
}

} // namespace

TEST_CASE(
    "Models with recorded structures, arrays and layers of applications give Keras's outputs, also when saved again") {
  size_t files = 0;
  for (const std::string &line : recordedLines("nested/predictions.jsonl")) {
    const Json row = Json::parse(line);
    INFO(row.at("file").get<std::string>());
    const Model model = load_model(nested(row.at("file")));
    checkOutputs(model, row);
    const TemporaryFolder folder;
    model.save(folder / "again.keras");
    const Model again = load_model(folder / "again.keras");
    CHECK(again.to_json() == model.to_json());
    checkOutputs(again, row);
    ++files;
  }
  CHECK(files == 14);
}

TEST_CASE("A file keeps the dicts and lists in which a model and its inner models take inputs and give outputs") {
  const Config config = detail::KerasArchive(nested("dict_by_key.keras")).json("config.json");
  const Config again = Config::parse(load_model(nested("dict_by_key.keras")).to_json());
  for (const char *ends : {"input_layers", "output_layers"})
    CHECK(nlohmann::json::parse(again.get_object("config").get_object(ends).dump()) ==
          nlohmann::json::parse(config.get_object("config").get_object(ends).dump()));
  CHECK_THAT(again.dump(), Contains(R"("kwargs":{"inputs":{"z":{"class_name":"__keras_tensor__")"));
}

TEST_CASE("The outputs of a model that gives a dict are named by its keys, also for losses in a file") {
  const TemporaryFolder folder;
  const Model model = load_model(nested("dict_by_key.keras"));
  model.compile({.optimizer = "sgd", .loss = {{"s", "mse"}, {"d", "mae"}}});
  const Tensors x{Tensor::ones({2, 3}), Tensor::zeros({2, 3})}, y{Tensor::ones({2, 2}), Tensor::ones({2, 3})};
  const std::string logs = model.evaluate(x, y, {.verbose = 0}).str();
  CHECK_THAT(logs, Contains("s_loss") && Contains("d_loss"));
  model.save(folder / "again.keras");
  CHECK(load_model(folder / "again.keras").evaluate(x, y, {.verbose = 0}).str() == logs);
}

TEST_CASE("A recorded call with other inputs, masks or names than its inner model takes is one error with its place") {
  const std::string place = "config.layers[2]: ";
  CHECK_THROWS_WITH(Model::from_config(edited("dict_by_name.keras", R"("args":[{"pair_a")", R"("args":[{"other")")),
                    Contains(place) && Contains("'pair'") && Contains("pair_z, pair_a"));
  CHECK_THROWS_WITH(Model::from_config(edited("twice.keras", R"("mask":[null,null])", R"("mask":[null])")),
                    Contains(place) && Contains("has 2 inputs and the mask [null]"));
  CHECK_THROWS_WITH(Model::from_config(edited("twice.keras", R"("mask":[null,null])", R"("mask":[null,3])")),
                    Contains(place) && Contains("has the argument 3"));
  CHECK_THROWS_WITH(Model::from_config(edited("twice.keras", R"("mask":[null,null])", R"("masks":[null,null])")),
                    Contains(place) && Contains("`masks`"));
}

TEST_CASE("The fields of a model's config are checked as those of a layer's: a wrong value is no default") {
  using layers::Dense;
  const Input x({3}, {.name = "x"});
  const Value hidden = Dense(2)(x);
  const Model functional({x}, {hidden + hidden});
  const Model sequential = Sequential({Input({3}), Dense(2)});
  const auto refusal = [](const Model &model, const char *place, const Json &value) {
    nlohmann::ordered_json config = nlohmann::ordered_json::parse(model.to_json());
    config[nlohmann::ordered_json::json_pointer(place)] = value;
    return errorOf([&] { (void)Model::from_config(Config::parse(config.dump())); });
  };
  for (const Model &model : {functional, sequential}) {
    INFO(model.class_name());
    for (const Json &wrong : {Json(0), Json(1), Json("x"), Json::array()}) {
      CHECK_THAT(refusal(model, "/config/trainable", wrong), Contains("TypeError: ") && Contains("trainable"));
      if (!wrong.is_string())
        CHECK_THAT(refusal(model, "/config/name", wrong), Contains("TypeError: ") && Contains("name"));
      CHECK_THAT(refusal(model, "/config/dtype", wrong), Contains("Error: "));
    }
    CHECK_THAT(refusal(model, "/module", 5), Contains("TypeError: module: expected a string"));
    CHECK_THAT(refusal(model, "/registered_name", 5), Contains("TypeError: registered_name: expected a string"));
    CHECK(refusal(model, "/config/trainable", false).empty());
    CHECK(refusal(model, "/config/trainable", nullptr).empty());
  }
  CHECK_THAT(refusal(sequential, "/config/build_input_shape", "x"), Contains("TypeError: config.build_input_shape"));
  CHECK_THAT(refusal(sequential, "/config/layers/0/config/batch_shape", {-1, 3}), Contains("integers from 0"));
  CHECK_THAT(refusal(sequential, "/config/layers/0/config/batch_shape", {UINT64_MAX, 3}), Contains("integers from 0"));
  CHECK_THAT(refusal(functional, "/config/layers/2/config/name", 0),
             Contains("layers[2].config.name: expected a string"));
}
