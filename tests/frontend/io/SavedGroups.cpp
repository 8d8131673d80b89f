// How files identify the inner layers of user-defined layers: by given names, or by class and place.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/SavedGroups.h"
#include "frontend/io/Safetensors.h"
#include "frontend/layers/LayerImpl.h"
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

/// Two layers of the same shape; call() calls them in order.
struct TwoLayers {
  std::vector<Layer> parts;
  Value call(const Value &x) const { return parts[1](parts[0](x)); }
  void get_config(Config &config) const {
    config.set("first", serialize(parts[0]));
    config.set("second", serialize(parts[1]));
  }
  static TwoLayers from_config(const Config &config) {
    return {{deserialize(config.get_object("first")), deserialize(config.get_object("second"))}};
  }
};
enum class Making { forwards, backwards };
/// The automatic names are those of a new process in which the parts are the first layers.
TwoLayers made(Making making, const std::string &first = "", const std::string &second = "") {
  utils::clear_session();
  if (making == Making::forwards) {
    const Dense a(3, {.name = first}), b(3, {.name = second});
    return {{a, b}};
  }
  const Dense b(3, {.name = second}), a(3, {.name = first});
  return {{a, b}};
}

const Tensor x({1, 2, 3, 4, 5, 6}, {2, 3});
std::vector<double> resultOf(const Model &model) { return numbers(model.predict_on_batch(x)); }

Model modelOf(const TwoLayers &parts) {
  const Model model(parts);
  (void)resultOf(model);
  return model;
}
Sequential sequentialOf(const TwoLayers &parts) { return Sequential({Input({3}), Custom(parts)}); }

} // namespace

TEST_CASE("Layers of one shape keep their places if the reader makes them in another order, in each format",
          "[files]") {
  const TemporaryFolder folder;
  const Model writer = modelOf(made(Making::forwards));
  const Model reader = modelOf(made(Making::backwards));
  REQUIRE(writer.layers()[0].name() == reader.layers()[1].name());
  for (const char *file : {"a.weights.h5", "a.safetensors"}) {
    INFO(file);
    writer.save_weights(folder / file);
    const Model other = modelOf(made(Making::backwards));
    other.load_weights(folder / file);
    CHECK(resultOf(other) == resultOf(writer));
  }
  Checkpoint(writer).save(folder / "a.ckpt");
  (void)Checkpoint(reader).restore(folder / "a.ckpt");
  CHECK(resultOf(reader) == resultOf(writer));
}

TEST_CASE("The slots of an optimizer follow the places of their variables in a checkpoint", "[files]") {
  const TemporaryFolder folder;
  const auto compiled = [](Making making) {
    Model model = modelOf(made(making));
    model.compile({.optimizer = "adam", .loss = "mse"});
    (void)model.train_on_batch(x, Tensor::ones({2, 3}));
    return model;
  };
  const Model writer = compiled(Making::forwards), reader = compiled(Making::backwards);
  Checkpoint(writer).save(folder / "a.ckpt");
  (void)Checkpoint(reader).restore(folder / "a.ckpt");
  for (const Model &model : {writer, reader})
    (void)model.train_on_batch(x, Tensor::zeros({2, 3}));
  CHECK(resultOf(reader) == resultOf(writer));
}

TEST_CASE("Layers with given names are found by them, wherever they stand in the other model", "[files]") {
  const TemporaryFolder folder;
  const Model writer = modelOf(made(Making::forwards, "up", "down"));
  const Model reader = modelOf(made(Making::forwards, "down", "up"));
  for (const char *file : {"a.weights.h5", "a.safetensors"}) {
    INFO(file);
    writer.save_weights(folder / file);
    reader.load_weights(folder / file);
    CHECK(numbers(reader.layers()[1].get_weights()[0]) == numbers(writer.layers()[0].get_weights()[0]));
    CHECK(numbers(reader.layers()[0].get_weights()[0]) == numbers(writer.layers()[1].get_weights()[0]));
  }
}

TEST_CASE("A safetensors file has each variable's place, and one without places is read by name", "[files]") {
  const TemporaryFolder folder;
  const Model writer = modelOf(made(Making::forwards, "up", ""));
  writer.save_weights(folder / "a.safetensors");
  detail::Safetensors contents = detail::readSafetensors(folder / "a.safetensors");
  CHECK(contents.metadata.at("place:" + writer.weights()[0].path()) == "layer/up/kernel");
  CHECK(contents.metadata.at("place:" + writer.weights()[2].path()) == "layer/dense/kernel");
  std::erase_if(contents.metadata, [](const auto &text) { return text.first.starts_with("place:"); });
  detail::writeSafetensors(folder / "old.safetensors", contents);
  const Model reader = modelOf(made(Making::forwards, "up", ""));
  reader.load_weights(folder / "old.safetensors");
  CHECK(resultOf(reader) == resultOf(writer));
}

TEST_CASE("A struct whose config holds its layers comes back from a file, whatever their names are") {
  const TemporaryFolder folder;
  register_custom<TwoLayers>("groups");
  const auto [first, second, making] =
      GENERATE(table<const char *, const char *, Making>({{"", "", Making::forwards},
                                                          {"", "", Making::backwards},
                                                          {"up", "down", Making::forwards},
                                                          {"up", "", Making::backwards},
                                                          {"dense_1", "dense_2", Making::forwards},
                                                          {"dense_7", "", Making::forwards},
                                                          {"with blanks", " ", Making::forwards},
                                                          {".", "..", Making::forwards},
                                                          {"same", "same", Making::forwards},
                                                          {"vars", "layers", Making::forwards},
                                                          {"Größe", "two\nlines", Making::forwards}}));
  INFO(first << ", " << second);
  const Sequential model = sequentialOf(made(making, first, second));
  model.save(folder / "a.keras");
  utils::clear_session();
  CHECK(resultOf(load_model(folder / "a.keras")) == resultOf(model));
  model.save_weights(folder / "a.weights.h5");
  const Sequential same = sequentialOf(made(making, first, second)), loaded(load_model(folder / "a.keras").layers());
  same.load_weights(folder / "a.weights.h5");
  CHECK(resultOf(same) == resultOf(model));
}

TEST_CASE(
    "Given names that count other layers' places are refused when they are written, and told when they are read") {
  const TemporaryFolder folder;
  const Model crossed = modelOf(made(Making::forwards, "dense_1", "dense"));
  CHECK_THROWS_WITH(crossed.save_weights(folder / "a.weights.h5"),
                    Contains("'dense', 'dense_1'") && Contains("rename the layers"));
  CHECK(folder.entries() == 0);
  modelOf(made(Making::forwards)).save_weights(folder / "a.weights.h5");
  const std::vector<double> before = resultOf(crossed);
  CHECK_THROWS_WITH(crossed.load_weights(folder / "a.weights.h5"),
                    Contains("'dense', 'dense_1'") && Contains("rename the layers"));
  CHECK(resultOf(crossed) == before);
}

TEST_CASE("Groups are numbered by class among the layers without a name, and no two have one path") {
  const Dense named(3, {.name = "dense"}), other(3, {.name = "other"}), last(3);
  struct Three {
    std::vector<Layer> parts;
    Value call(const Value &x) const { return parts[2](parts[1](parts[0](x))); }
  };
  const Model model(Three{{last, other, named}});
  (void)resultOf(model);
  std::vector<std::string> paths;
  for (const detail::SavedGroup &group : detail::savedGroups(model))
    paths.push_back(group.path());
  CHECK(paths == std::vector<std::string>{"", "dense_1", "other", "dense"});
  CHECK(detail::namesByPlace(*model.impl()) == std::vector<std::string>{"dense", "other", "dense_1"});
}
