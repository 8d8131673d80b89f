// Weights from files with other names and axes: PyTorch state dicts, and maps that do not match.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/CapturedOutput.h"
#include "tests/frontend/Recorded.h"
#include <bit>
#include <catch2/catch.hpp>
#include <map>
#include <random>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

using Names = std::vector<std::pair<std::string, SavedTensor>>;

std::string stateDict(const std::string &name) {
  return std::string(HALFTONE_SOURCE_DIR "/tests/data/torch/") + name + ".safetensors";
}
std::map<std::string, Tensor> tensorsOf(const std::string &file) {
  std::map<std::string, Tensor> tensors;
  for (const auto &[name, tensor] : load_safetensors(file))
    tensors.emplace(name, tensor);
  return tensors;
}
/// Adds the entries for the weights of a layer, whose kernel is transposed.
void add(Names &names, const Layer &layer, const std::string &module, const std::vector<int64_t> &transpose) {
  static const std::map<std::string, std::string> words{{"kernel", "weight"},
                                                        {"embeddings", "weight"},
                                                        {"gamma", "weight"},
                                                        {"beta", "bias"},
                                                        {"bias", "bias"},
                                                        {"moving_mean", "running_mean"},
                                                        {"moving_variance", "running_var"}};
  for (const Variable &weight : layer.weights())
    names.emplace_back(weight.path(), SavedTensor{module + "." + words.at(weight.name()),
                                                  weight.name() == "kernel" ? transpose : std::vector<int64_t>{}});
}
const std::vector<int64_t> ofLinear{1, 0}, ofConvolution{2, 3, 1, 0}, ofDepthwise{2, 3, 0, 1};

Sequential mlp(const PolicyArg &policy = {}) {
  return Sequential({Input({5}), Dense(8, {.activation = "relu", .dtype = policy, .name = "a"}),
                     Dense(3, {.dtype = policy, .name = "b"})},
                    {.name = "net"});
}
Names namesOf(const Sequential &model) {
  Names names;
  add(names, model.get_layer("a"), "0", ofLinear);
  add(names, model.get_layer("b"), "2", ofLinear);
  return names;
}
std::vector<std::vector<double>> valuesOf(const Model &model) {
  std::vector<std::vector<double>> all;
  for (const Tensor &tensor : model.get_weights())
    all.push_back(numbers(tensor));
  return all;
}

} // namespace

TEST_CASE("A state dict of an MLP gives PyTorch's outputs, whatever float its weights have", "[files]") {
  for (const std::string file : {"mlp", "mlp_float16", "mlp_bfloat16", "mlp_float64"}) {
    INFO(file);
    const Sequential model = mlp();
    model.load_weights(stateDict(file), {.names = namesOf(model)});
    const auto tensors = tensorsOf(stateDict(file));
    CHECK(near(numbers(model.predict(tensors.at("x"))), numbers(tensors.at("y")), 1e-5));
  }
  const Sequential narrow = mlp("bfloat16");
  narrow.load_weights(stateDict("mlp_bfloat16"), {.names = namesOf(narrow)});
  CHECK(narrow.weights()[1].value().dtype() == bfloat16);
  CHECK(numbers(narrow.weights()[1]) == numbers(tensorsOf(stateDict("mlp_bfloat16")).at("0.bias")));
}

TEST_CASE("A state dict of a CNN gives PyTorch's outputs", "[files]") {
  const Conv2D stem(4, 3, {.padding = "same"}),
      grouped(8, {3, 1}, {.groups = 4, .activation = "relu", .use_bias = false});
  const BatchNormalization norm({.epsilon = 1e-5});
  const DepthwiseConv2D depthwise(3, {.activation = "relu"});
  const Conv2DTranspose up(3, {2, 3}, {.strides = {2, 3}});
  const Dense fc(5);
  const Input x({2, 7, 6});
  const Value last = ops::transpose(x, {0, 2, 3, 1}); // PyTorch's channels come first
  const Value features = up(grouped(depthwise(Activation("relu")(norm(stem(last))))));
  const Model model(x, fc(ops::mean(ops::square(features), {1, 2})));
  Names names;
  add(names, stem, "stem", ofConvolution);
  add(names, norm, "norm", {});
  add(names, depthwise, "depthwise", ofDepthwise);
  add(names, grouped, "grouped", ofConvolution);
  add(names, up, "up", ofConvolution);
  add(names, fc, "fc", ofLinear);
  model.load_weights(stateDict("cnn"), {.names = names});
  const auto tensors = tensorsOf(stateDict("cnn"));
  CHECK(tensors.contains("norm.num_batches_tracked")); // no entry names it
  CHECK(near(numbers(model.predict(tensors.at("x"))), numbers(tensors.at("y")), 1e-5));
}

TEST_CASE("A state dict of a transformer gives PyTorch's outputs", "[files]") {
  const int64_t width = 8, heads = 2, steps = 6;
  const Embedding tokens(11, width), places(steps, width);
  const LayerNormalizationArgs small{.epsilon = 1e-5};
  const LayerNormalization before(small), between(small), after(small);
  const Dense query(width), key(width), value(width), out(width), up(16), down(width), head(11, {.use_bias = false});
  const Input ids({steps}, {.dtype = int32}), at({steps}, {.dtype = int32});
  const auto split = [&](const Value &x) {
    return ops::transpose(ops::reshape(x, {-1, steps, heads, width / heads}), {0, 2, 1, 3});
  };
  Value x = tokens(ids) + places(at);
  const Value h = before(x);
  const Value scores = ops::matmul(split(query(h)), ops::transpose(split(key(h)), {0, 1, 3, 2})) / 2.0;
  const Value mixed = ops::matmul(ops::softmax(scores), split(value(h)));
  x = x + out(ops::reshape(ops::transpose(mixed, {0, 2, 1, 3}), {-1, steps, width}));
  x = x + down(ops::gelu(up(between(x)), false));
  const Model model({ids, at}, {head(after(x))});
  Names names;
  for (const auto &[layer, module] : std::vector<std::pair<Layer, std::string>>{{tokens, "tokens"},
                                                                                {places, "places"},
                                                                                {before, "before"},
                                                                                {between, "between"},
                                                                                {after, "after"},
                                                                                {query, "query"},
                                                                                {key, "key"},
                                                                                {value, "value"},
                                                                                {out, "out"},
                                                                                {up, "up"},
                                                                                {down, "down"},
                                                                                {head, "head"}})
    add(names, layer, module, ofLinear);
  model.load_weights(stateDict("transformer"), {.names = names});
  const auto tensors = tensorsOf(stateDict("transformer"));
  std::vector<int32_t> positions;
  for (int32_t i = 0; i < 18; ++i)
    positions.push_back(i % 6);
  const Tensor predicted = model.predict({tensors.at("x").astype(int32), Tensor(positions, {3, 6})});
  CHECK(near(numbers(predicted), numbers(tensors.at("y")), 1e-5));
}

TEST_CASE("A map that does not fit is refused as a whole, with each problem", "[files]") {
  const TemporaryFolder folder;
  const std::string path = folder / "w.safetensors";
  save_safetensors(path, {{"0.weight", Tensor::ones({8, 5})},
                          {"0.bias", Tensor::zeros({8}, int32)},
                          {"2.weight", Tensor::ones({4, 8})},
                          {"2.bias", Tensor::ones({3})}});
  const Sequential model = mlp();
  const auto before = valuesOf(model);
  const auto refused = [&](const std::function<void(Names &)> &change) {
    Names names{{"net/a/kernel", {"0.weight", {1, 0}}},
                {"net/a/bias", {"2.bias"}},
                {"net/b/kernel", {"0.weight"}},
                {"net/b/bias", {"2.bias"}}};
    change(names);
    const std::string error = errorOf([&] { model.load_weights(path, {.names = names}); });
    CHECK_THAT(error, Contains("ValueError: Cannot load weights from '" + path + "': "));
    CHECK(valuesOf(model) == before);
    return error;
  };
  CHECK_THAT(refused([](Names &) {}),
             Contains("\"net/a/bias\": \"2.bias\" is (3,) in float32, the model's variable (8,) in float32; "
                      "\"net/b/kernel\": \"0.weight\" is (8, 5) in float32, the model's variable (8, 3) in float32"));
  CHECK_THAT(refused([](Names &names) { names[1].second = {"0.bias"}; }), Contains("\"0.bias\" is (8,) in int32"));
  CHECK_THAT(
      refused([](Names &names) { names[2].second = {"2.weight", {1, 0}}; }),
      Contains("\"net/b/kernel\": \"2.weight\" is (8, 4) in float32, the model's variable (8, 3) in float32, after "
               "the transpose {1, 0}"));
  CHECK_THAT(refused([](Names &names) { names.pop_back(); }), Contains("`names` has no entry for \"net/b/bias\""));
  CHECK_THAT(refused([](Names &names) { names.push_back({"net/c/bias", {"2.bias"}}); }),
             Contains("`names` has an entry for \"net/c/bias\", which is not a weight of the model"));
  CHECK_THAT(refused([](Names &names) { names.push_back(names[3]); }),
             Contains("`names` has two entries for \"net/b/bias\""));
  CHECK_THAT(refused([](Names &names) { names[3].second.name = "1.bias"; }),
             Contains("the file has no tensor \"1.bias\", which is named for \"net/b/bias\""));
  for (const std::vector<int64_t> &wrong : std::vector<std::vector<int64_t>>{{0}, {0, 0}, {1, 2}, {-1, 0}, {0, 1, 2}})
    CHECK_THAT(refused([&](Names &names) { names[0].second.transpose = wrong; }),
               Contains("is not a permutation of the 2 axes of \"0.weight\", whose shape is (8, 5)"));
  for (const char *file : {"w.weights.h5", "w.ckpt"})
    CHECK_THAT(errorOf([&] { model.load_weights(folder / file, {.names = namesOf(model)}); }),
               Contains("ValueError: `names` apply only to a file that ends in `.safetensors`"));
  const Sequential unbuilt({Dense(2)});
  CHECK_THAT(errorOf([&] { unbuilt.load_weights(path, {.names = {{"kernel", {"0.weight"}}}}); }),
             Contains("needs a built model"));
}

TEST_CASE("With skip_mismatch the weights that fit are loaded, and a warning names the others", "[files]") {
  const TemporaryFolder folder;
  const std::string path = folder / "w.safetensors";
  save_safetensors(path, {{"w", Tensor::full({8, 5}, 0.5)}});
  const Sequential model = mlp();
  const auto before = valuesOf(model);
  CapturedOutput output;
  model.load_weights(path, {.skip_mismatch = true, .names = {{"net/a/kernel", {"w", {1, 0}}}, {"net/a/bias", {"w"}}}});
  CHECK(valuesOf(model)[0] == std::vector<double>(40, 0.5));
  CHECK(valuesOf(model)[1] == before[1]);
  CHECK(valuesOf(model)[2] == before[2]);
  CHECK_THAT(output.text, Contains("are skipped: ") && Contains("\"net/a/bias\"") && Contains("\"net/b/kernel\""));
  model.save_weights(path);
  const Sequential other = mlp();
  other.load_weights(path, {.skip_mismatch = false}); // without a map of names
  CHECK(valuesOf(other) == valuesOf(model));
}

TEST_CASE("A transpose of each rank and dtype moves elements and keeps their bits", "[files]") {
  const TemporaryFolder folder;
  const std::string path = folder / "w.safetensors";
  struct Holder {
    Shape shape;
    DType dtype;
    Variable w{};
    void build(BuildContext &c, const Shape &) {
      w = c.add_weight({.shape = shape, .initializer = "zeros", .dtype = dtype, .trainable = false, .name = "w"});
    }
    Value call(const Value &x) const { return x; }
  };
  std::mt19937 random(5);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<int64_t> dims(random() % 6), axes(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) {
      dims[i] = static_cast<int64_t>(random() % 4);
      axes[i] = static_cast<int64_t>(i);
    }
    std::ranges::shuffle(axes, random);
    const DType dtype = std::vector<DType>{float32, float16, float64, int64, uint8, bool_}[random() % 6];
    std::vector<float> data(static_cast<size_t>(Shape(dims).elements()));
    for (float &each : data)
      each = static_cast<float>(random() % 2000) / 8.0f - 100.0f;
    const Tensor given = Tensor(data, Shape(dims)).astype(dtype);
    std::vector<int64_t> moved;
    for (const int64_t axis : axes)
      moved.push_back(dims[static_cast<size_t>(axis)]);
    INFO(given.shape().str() << " in " << name(dtype) << ", trial " << trial);
    save_safetensors(path, {{"t", given}});
    const Sequential model({Input({1}), Custom<Holder>(Holder{Shape(moved), dtype})});
    model.load_weights(path, {.names = {{model.weights()[0].path(), {"t", axes}}}});
    const std::vector<double> found = numbers(model.weights()[0]), expected = numbers(given);
    for (size_t i = 0; i < found.size(); ++i) { // the element whose indices correspond to i
      size_t rest = i, at = 0;
      std::vector<size_t> index(dims.size());
      for (size_t axis = dims.size(); axis-- > 0;) {
        index[static_cast<size_t>(axes[axis])] = rest % static_cast<size_t>(moved[axis]);
        rest /= static_cast<size_t>(moved[axis]);
      }
      for (size_t axis = 0; axis < dims.size(); ++axis)
        at = at * static_cast<size_t>(dims[axis]) + index[axis];
      REQUIRE(found[i] == expected[at]);
    }
  }
  const float quiet = std::bit_cast<float>(0x7fc12345u), infinite = std::numeric_limits<float>::infinity();
  save_safetensors(path, {{"t", Tensor({quiet, infinite, -0.0f, 1.0f}, {2, 2})}});
  const Sequential model({Input({1}), Custom<Holder>(Holder{{2, 2}, float32})});
  model.load_weights(path, {.names = {{model.weights()[0].path(), {"t", {1, 0}}}}});
  const std::vector<float> found = model.get_weights()[0].to_vector<float>();
  CHECK(std::bit_cast<uint32_t>(found[0]) == 0x7fc12345u);
  CHECK(std::signbit(found[1]));
  CHECK(found[2] == infinite);
}
