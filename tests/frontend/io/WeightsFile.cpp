// save_weights and load_weights: by name, by class, across dtypes, and the files that are rejected.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/WeightsFile.h"
#include "halftone/Saving.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/CapturedOutput.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::layers;
using Catch::Matchers::Contains;

namespace {

/// Layers with given or automatic names. The weights differ from call to call.
Sequential net(const PolicyArg &policy = {}, bool named = true, int64_t units = 3) {
  const auto called = [&](const char *name) { return std::string(named ? name : ""); };
  return Sequential({Input({2}), Dense(units, {.dtype = policy, .name = called("a")}),
                     BatchNormalization({.dtype = policy, .name = called("b")}), Dropout(0.5),
                     Dense(1, {.dtype = policy, .name = called("c")})},
                    {.name = called("net")});
}
std::vector<std::vector<double>> weightsOf(const Model &model) {
  std::vector<std::vector<double>> all;
  for (const Tensor &tensor : model.get_weights())
    all.push_back(numbers(tensor));
  return all;
}
} // namespace

TEST_CASE("Weights in a safetensors file have their variables' paths, and come back bit by bit", "[files]") {
  TemporaryFolder folder;
  const std::string path = folder / "w.safetensors";
  const Sequential model = net(), other = net();
  model.save_weights(path);
  std::vector<std::string> names;
  for (const auto &[name, tensor] : load_safetensors(path))
    names.push_back(name);
  CHECK(names == std::vector<std::string>{"net/a/kernel", "net/a/bias", "net/b/gamma", "net/b/beta",
                                          "net/b/moving_mean", "net/b/moving_variance", "net/c/kernel", "net/c/bias"});
  CHECK(weightsOf(other) != weightsOf(model));
  other.load_weights(path);
  CHECK(weightsOf(other) == weightsOf(model));
}

TEST_CASE("Where automatic names differ, weights find their variables by the layers' classes", "[files]") {
  TemporaryFolder folder;
  const std::string path = folder / "w.safetensors";
  const Sequential model = net({}, false), other = net({}, false);
  model.save_weights(path);
  REQUIRE(model.variables()[0].path() != other.variables()[0].path());
  other.load_weights(path);
  CHECK(weightsOf(other) == weightsOf(model));
}

TEST_CASE("Loading weights of another float dtype converts them", "[files]") {
  TemporaryFolder folder;
  const std::string path = folder / "w.safetensors";
  const Sequential wide = net(), narrow = net("bfloat16");
  wide.save_weights(path);
  narrow.load_weights(path);
  for (size_t i = 0; i < wide.get_weights().size(); ++i) {
    CHECK(narrow.get_weights()[i].dtype() == bfloat16);
    CHECK(numbers(narrow.get_weights()[i]) == numbers(wide.get_weights()[i].astype(bfloat16)));
  }
}

TEST_CASE("Weights that do not fit are all listed and none is loaded, or are skipped on request", "[files]") {
  TemporaryFolder folder;
  const std::string path = folder / "w.safetensors";
  net({}, true, 4).save_weights(path);
  const Sequential model = net();
  const auto before = weightsOf(model);
  const std::string error = errorOf([&] { model.load_weights(path); });
  CHECK_THAT(error, Contains("ValueError: Cannot load weights from '" + path + "'"));
  CHECK_THAT(error, Contains("\"net/a/kernel\" is (2, 4) in float32, the model's variable (2, 3) in float32"));
  CHECK_THAT(error, Contains("\"net/c/kernel\" is (4, 1)"));
  CHECK(weightsOf(model) == before);
  CapturedOutput output;
  model.load_weights(path, /*skip_mismatch=*/true);
  CHECK_THAT(output.text, Contains("warning: weights from '" + path + "' are skipped: \"net/a/kernel\""));
  CHECK(weightsOf(model)[0] == before[0]);
  CHECK(model.get_weights().back().to_vector<float>() == load_safetensors(path).back().second.to_vector<float>());

  save_safetensors(path, {{"net/a/kernel", Tensor::zeros({2, 3}, int32)}, {"other", Tensor::zeros({2})}});
  CHECK_THAT(errorOf([&] { model.load_weights(path); }), Contains("\"net/a/kernel\" is (2, 3) in int32") &&
                                                             Contains("no value for \"net/a/bias\"") &&
                                                             Contains("the model has no variable for \"other\""));
}

TEST_CASE("The ending of its name decides how a file of weights is read and written", "[files]") {
  TemporaryFolder folder;
  const Sequential model = net(), unbuilt({Dense(2)});
  CHECK_THAT(errorOf([&] { model.save_weights(folder / "w.npz"); }),
             Contains("must end in `.weights.h5`, in `.safetensors`"));
  CHECK_THAT(errorOf([&] { model.load_weights(folder / "w.npz"); }),
             Contains("must end in `.weights.h5`, in `.safetensors`"));
  CHECK_THAT(errorOf([&] { model.save_weights(folder / "w.ckpt"); }),
             Contains("A Checkpoint writes files that end in `.ckpt`"));
  CHECK_THAT(errorOf([&] { unbuilt.save_weights(folder / "w.safetensors"); }), Contains("needs a built model"));
  CHECK_THAT(errorOf([&] { model.load_weights(folder / "w.safetensors"); }), Contains("No such file"));
  CHECK(folder.entries() == 0);
  model.save_weights(folder / "w.safetensors", {.overwrite = false});
  CHECK_THAT(errorOf([&] { model.save_weights(folder / "w.safetensors", {.overwrite = false}); }),
             Contains("w.safetensors: the file exists, and overwrite=false"));
  Checkpoint(model).save(folder / "whole.ckpt");
  const Sequential other = net();
  other.load_weights(folder / "whole.ckpt");
  CHECK(weightsOf(other) == weightsOf(model));
}

namespace {
/// Two weights with the same name.
struct Twice {
  Variable first, second;
  void build(BuildContext &context, const Shape &) {
    first = context.add_weight({.shape = {2}, .name = "w"});
    second = context.add_weight({.shape = {2}, .name = "w"});
  }
  Value call(const Value &x) const { return x * first + second; }
};
} // namespace

TEST_CASE("Weights of one path are told apart, and weights of shared layers stand in a file once", "[files]") {
  TemporaryFolder folder;
  const std::string path = folder / "w.safetensors";
  const auto made = [] {
    const Input x({2}), y({2});
    const Dense shared(2, {.use_bias = false});
    const Sequential inner({Input({2}), shared, Custom<Twice>(Twice{})});
    return Model({x, y}, {inner(shared(x)) + shared(y)});
  };
  const Model model = made(), other = made();
  model.save_weights(path);
  const auto tensors = load_safetensors(path);
  REQUIRE(tensors.size() == 3);
  CHECK(tensors[2].first == tensors[1].first + "#2");
  other.load_weights(path);
  CHECK(weightsOf(other) == weightsOf(model));
  CHECK(weightsOf(model)[1] != weightsOf(model)[2]);
}

TEST_CASE("A file with the weights of other terms is refused and changes nothing", "[files]") {
  TemporaryFolder folder;
  const auto lookup = [](const std::vector<std::string> &terms, double weight, const char *name) {
    return StringLookup({.vocabulary = terms,
                         .idf_weights = std::vector<double>(terms.size(), weight),
                         .output_mode = "tf_idf",
                         .name = name});
  };
  const auto made = [](const StringLookup &first, const StringLookup &second) {
    const Input text({1}, {.dtype = DType::string}), x({2});
    return Model({text, x}, {first(text), second(text), Dense(1, {.name = "product"})(x)});
  };
  const StringLookup first = lookup({"a", "b"}, 1.0, "first");
  const Model reader = made(first, lookup({"a", "b", "c"}, 1.0, "second"));
  const Model writer = made(lookup({"a", "b"}, 2.0, "first"), lookup({"a", "b"}, 2.0, "second"));
  writer.save_weights(folder / "w.weights.h5");
  const std::vector<std::vector<double>> before = weightsOf(reader);
  CHECK_THAT(errorOf([&] { reader.load_weights(folder / "w.weights.h5"); }),
             Contains("must be the same length as vocabulary"));
  CHECK(weightsOf(reader) == before);
  CHECK(numbers(first(Tensor(std::vector<std::string>{"a"}))) == std::vector<double>{0, 1, 0});
}
