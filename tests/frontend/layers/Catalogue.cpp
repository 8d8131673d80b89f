// Conversion of layers to configs and back: the configs that real Keras writes, and rejected ones.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/ConfigAccess.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <set>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Json = nlohmann::ordered_json;

namespace {

std::vector<std::string> recordedConfigs() {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/layer_configs.jsonl");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}
std::string fieldsOf(const char *className, const std::string &fields) {
  return errorOf([&] {
    (void)layers::deserialize(Config::parse(R"({"module":"keras.layers","class_name":")" + std::string(className) +
                                            R"(","config":{)" + fields + R"(},"registered_name":null})"));
  });
}

/// The losses that a layer adds when it is called.
double penaltyOf(const Layer &layer, const std::vector<Tensor> &inputs) {
  const std::vector<Tensor> results = runOnce(Run::interpreted, inputs, [&](const std::vector<Value> &v) {
    (void)layer(Values(v));
    std::vector<Value> losses;
    for (const detail::AddedLoss &added : detail::Trace::current()->losses)
      losses.push_back(added.value);
    return losses;
  });
  double sum = 0;
  for (const Tensor &loss : results)
    sum += numbers(loss).at(0);
  return sum;
}

/// The arguments that every layer has. `made` makes the layer from its own arguments and these.
template <class Args, class Make>
void checkShared(const char *className, Make made, size_t inputCount = 1, const Shape &shape = {2, 4}) {
  INFO(className);
  const Tensor input = Tensor({0.25f, 0.5f, 1, 2, 0.125f, 0.5f, 0.75f, 3}, {2, 4}).reshape(shape);
  std::vector<Tensor> inputs(inputCount, input);
  if (className == std::string("Subtract")) // the difference of equal inputs has no penalty
    inputs.back() = Tensor::ones(shape);
  Args args;
  args.name = "given";
  args.trainable = false;
  args.dtype = "float16";
  const Layer narrow = made(args);
  CHECK(narrow.class_name() == className);
  CHECK(narrow.name() == "given");
  CHECK_FALSE(narrow.trainable());
  CHECK(narrow.compute_dtype() == float16);
  CHECK(narrow(Tensors(inputs)).dtype() == float16);
  if constexpr (requires { args.autocast; }) {
    args.autocast = false;
    static const std::set<std::string> casting = {"BatchNormalization", "MultiHeadAttention", "GroupedQueryAttention"};
    if (!casting.contains(className)) // the others cast their results anyway
      CHECK(made(args)(Tensors(inputs)).dtype() == float32);
  }
  Args penalized;
  CHECK(penaltyOf(made(penalized), inputs) == 0.0);
  penalized.activity_regularizer = regularizers::L1(0.5);
  const Layer layer = made(penalized);
  CHECK(penaltyOf(layer, inputs) > 0.0);
  if (className != std::string("Lambda")) // a Lambda has no config
    CHECK(layer.get_config().get_object("activity_regularizer").get_string("class_name") == "L1");
}

} // namespace

TEST_CASE("A layer made from a config of Keras has that config, key by key in the same order") {
  const std::vector<std::string> lines = recordedConfigs();
  REQUIRE(lines.size() == 172);
  for (const std::string &line : lines) {
    INFO(line);
    const Layer layer = layers::deserialize(Config::parse(line));
    const Json expected = Json::parse(line);
    Json found = Json::parse(layers::serialize(layer).dump());
    if (layer.class_name().starts_with("SpatialDropout")) // Keras stores only the name of the variable dtype
      found["config"]["dtype"] = found["config"]["dtype"]["config"]["name"];
    if (layer.class_name() == "ELU" || layer.class_name() == "Identity") // Keras lists these in another order
      CHECK(nlohmann::json(found) == nlohmann::json(expected));
    else
      CHECK(found == expected); // an ordered object: the order of keys matters
    CHECK(layer.name() == expected.at("config").at("name").get<std::string>());
    CHECK(layer.built() == (layer.class_name() == "InputLayer")); // InputLayer has no weights to create
  }
}

TEST_CASE("Every layer takes the arguments of every layer") {
  using namespace layers;
  checkShared<DenseArgs>("Dense", [](const auto &args) { return Dense(3, args); });
  checkShared<EinsumDenseArgs>("EinsumDense", [](const auto &args) { return EinsumDense("ab,bc->ac", {3}, args); });
  checkShared<MultiHeadAttentionArgs>("MultiHeadAttention",
                                      [](const auto &args) { return MultiHeadAttention(2, 3, args); }, 2, {2, 2, 2});
  checkShared<GroupQueryAttentionArgs>(
      "GroupedQueryAttention", [](const auto &args) { return GroupQueryAttention(3, 4, 2, args); }, 2, {2, 2, 2});
  checkShared<AttentionArgs>("Attention", [](const auto &args) { return Attention(args); }, 2, {2, 2, 2});
  checkShared<AdditiveAttentionArgs>("AdditiveAttention", [](const auto &args) { return AdditiveAttention(args); }, 2,
                                     {2, 2, 2});
  checkShared<LayerArgs>("Masking", [](const auto &args) { return Masking(0.0, args); });
  checkShared<PositionEmbeddingArgs>("PositionEmbedding", [](const auto &args) { return PositionEmbedding(2, args); });
  checkShared<EmbeddingArgs>("Embedding", [](const auto &args) { return Embedding(4, 2, args); });
  checkShared<ReversibleEmbeddingArgs>("ReversibleEmbedding",
                                       [](const auto &args) { return ReversibleEmbedding(4, 2, args); });
  checkShared<LayerNormalizationArgs>("LayerNormalization", [](const auto &args) { return LayerNormalization(args); });
  checkShared<GroupNormalizationArgs>("GroupNormalization", [](auto args) {
    args.groups = 2;
    return GroupNormalization(args);
  });
  checkShared<BatchNormalizationArgs>("BatchNormalization", [](const auto &args) { return BatchNormalization(args); });
  checkShared<RMSNormalizationArgs>("RMSNormalization", [](const auto &args) { return RMSNormalization(args); });
  checkShared<UnitNormalizationArgs>("UnitNormalization", [](const auto &args) { return UnitNormalization(args); });
  checkShared<DropoutArgs>("Dropout", [](const auto &args) { return Dropout(0.5, args); });
  checkShared<GaussianNoiseArgs>("GaussianNoise", [](const auto &args) { return GaussianNoise(0.5, args); });
  checkShared<GaussianNoiseArgs>("GaussianDropout", [](const auto &args) { return GaussianDropout(0.5, args); });
  checkShared<DropoutArgs>("AlphaDropout", [](const auto &args) { return AlphaDropout(0.5, args); });
  checkShared<LayerArgs>("Identity", [](const auto &args) { return layers::Identity(args); });
  checkShared<ActivationArgs>("Activation", [](const auto &args) { return Activation("relu", args); });
  checkShared<ReLUArgs>("ReLU", [](const auto &args) { return ReLU(args); });
  checkShared<SoftmaxArgs>("Softmax", [](const auto &args) { return Softmax(-1, args); });
  checkShared<FlattenArgs>("Flatten", [](const auto &args) { return Flatten(args); });
  checkShared<ReshapeArgs>("Reshape", [](const auto &args) { return Reshape({2, 2}, args); });
  checkShared<RescalingArgs>("Rescaling", [](const auto &args) { return Rescaling(2, 0.5, args); });
  checkShared<ActivationArgs>("LeakyReLU", [](const auto &args) { return LeakyReLU(0.5, args); });
  checkShared<ActivationArgs>("ELU", [](const auto &args) { return ELU(0.5, args); });
  checkShared<PReLUArgs>("PReLU", [](const auto &args) { return PReLU(args); });
  checkShared<MergeArgs>("Add", [](const auto &args) { return Add(args); }, 2);
  checkShared<MergeArgs>("Subtract", [](const auto &args) { return Subtract(args); }, 2);
  checkShared<MergeArgs>("Multiply", [](const auto &args) { return Multiply(args); }, 2);
  checkShared<MergeArgs>("Average", [](const auto &args) { return Average(args); }, 2);
  checkShared<MergeArgs>("Maximum", [](const auto &args) { return Maximum(args); }, 2);
  checkShared<MergeArgs>("Minimum", [](const auto &args) { return Minimum(args); }, 2);
  checkShared<MergeArgs>("Concatenate", [](const auto &args) { return Concatenate(1, args); }, 2);
  checkShared<DotArgs>("Dot", [](const auto &args) { return Dot(1, args); }, 2);
  checkShared<LambdaArgs>("Lambda",
                          [](const auto &args) { return Lambda([](const Value &x) { return x * 2.0; }, args); });
}

TEST_CASE("Every layer for images takes the arguments of every layer") {
  using namespace layers;
  const Shape line{1, 4, 2}, image{1, 2, 2, 2}, volume{1, 2, 1, 2, 2};
  const auto check = [&]<class R, class Args>(const char *name, const Shape &shape, R (*made)(const Args &)) {
    checkShared<Args>(name, made, 1, shape);
  };
  check(
      "AdaptiveAveragePooling1D", line,
      +[](const AdaptivePoolingArgs &args) { return AdaptiveAveragePooling1D(2, args); });
  check(
      "AdaptiveAveragePooling2D", image,
      +[](const AdaptivePoolingArgs &args) { return AdaptiveAveragePooling2D(1, args); });
  check(
      "AdaptiveAveragePooling3D", volume,
      +[](const AdaptivePoolingArgs &args) { return AdaptiveAveragePooling3D(1, args); });
  check("AdaptiveMaxPooling1D", line, +[](const AdaptivePoolingArgs &args) { return AdaptiveMaxPooling1D(2, args); });
  check("AdaptiveMaxPooling2D", image, +[](const AdaptivePoolingArgs &args) { return AdaptiveMaxPooling2D(1, args); });
  check("AdaptiveMaxPooling3D", volume, +[](const AdaptivePoolingArgs &args) { return AdaptiveMaxPooling3D(1, args); });
  check("ZeroPadding1D", line, +[](const DataFormatArgs &args) { return ZeroPadding1D(1, args); });
  check("ZeroPadding2D", image, +[](const DataFormatArgs &args) { return ZeroPadding2D(1, args); });
  check("ZeroPadding3D", volume, +[](const DataFormatArgs &args) { return ZeroPadding3D(1, args); });
  check("Cropping1D", line, +[](const LayerArgs &args) { return Cropping1D(1, args); });
  check("Cropping2D", image, +[](const DataFormatArgs &args) { return Cropping2D({{1, 0}, {0, 1}}, args); });
  check("Cropping3D", volume, +[](const DataFormatArgs &args) { return Cropping3D({{1, 0}, 0, 0}, args); });
  check("UpSampling1D", line, +[](const LayerArgs &args) { return UpSampling1D(2, args); });
  check("UpSampling2D", image, +[](const UpSampling2DArgs &args) { return UpSampling2D(2, args); });
  check("UpSampling3D", volume, +[](const DataFormatArgs &args) { return UpSampling3D(2, args); });
  check("Permute", line, +[](const LayerArgs &args) { return Permute({2, 1}, args); });
  check("RepeatVector", {2, 4}, +[](const LayerArgs &args) { return RepeatVector(2, args); });
  check("Conv1D", line, +[](const ConvArgs &args) { return Conv1D(3, 2, args); });
  check("Conv2D", image, +[](const ConvArgs &args) { return Conv2D(3, 2, args); });
  check("Conv3D", volume, +[](const ConvArgs &args) { return Conv3D(3, 1, args); });
  check("Conv1DTranspose", line, +[](const ConvTransposeArgs &args) { return Conv1DTranspose(3, 2, args); });
  check("Conv2DTranspose", image, +[](const ConvTransposeArgs &args) { return Conv2DTranspose(3, 2, args); });
  check("Conv3DTranspose", volume, +[](const ConvTransposeArgs &args) { return Conv3DTranspose(3, 1, args); });
  check("DepthwiseConv1D", line, +[](const DepthwiseConvArgs &args) { return DepthwiseConv1D(2, args); });
  check("DepthwiseConv2D", image, +[](const DepthwiseConvArgs &args) { return DepthwiseConv2D(2, args); });
  check("SeparableConv1D", line, +[](const SeparableConvArgs &args) { return SeparableConv1D(3, 2, args); });
  check("SeparableConv2D", image, +[](const SeparableConvArgs &args) { return SeparableConv2D(3, 2, args); });
  check("MaxPooling1D", line, +[](const PoolingArgs &args) { return MaxPooling1D(2, args); });
  check("MaxPooling2D", image, +[](const PoolingArgs &args) { return MaxPooling2D(2, args); });
  check("MaxPooling3D", volume, +[](const PoolingArgs &args) { return MaxPooling3D(1, args); });
  check("AveragePooling1D", line, +[](const PoolingArgs &args) { return AveragePooling1D(2, args); });
  check("AveragePooling2D", image, +[](const PoolingArgs &args) { return AveragePooling2D(2, args); });
  check("AveragePooling3D", volume, +[](const PoolingArgs &args) { return AveragePooling3D(1, args); });
  check("Resizing", image, +[](const ResizingArgs &args) { return Resizing(3, 3, args); });
  check("CenterCrop", image, +[](const CenterCropArgs &args) { return CenterCrop(1, 2, args); });
  check("RandomFlip", image, +[](const RandomImageArgs &args) { return RandomFlip(FlipMode::vertical, args); });
  check("RandomTranslation", image, +[](const RandomTransformArgs &args) { return RandomTranslation(0, 0, args); });
  check("Normalization", image, +[](const NormalizationArgs &args) { return Normalization(-1, args); });
  check("GlobalMaxPooling2D", image, +[](const GlobalPoolingArgs &args) { return GlobalMaxPooling2D(args); });
  check("GlobalAveragePooling1D", line, +[](const GlobalPoolingArgs &args) { return GlobalAveragePooling1D(args); });
}

TEST_CASE("If a config leaves arguments out, the layer has Keras's defaults") {
  const auto given = [](const char *text) { return layers::deserialize(Config::parse(text)).get_config(); };
  const Config dense = given(R"({"class_name":"Dense","config":{"units":3}})");
  CHECK(dense.get_string("activation") == "linear");
  CHECK(dense.get_object("kernel_initializer").get_string("class_name") == "GlorotUniform");
  CHECK(dense.get_string("name").rfind("dense", 0) == 0);
  CHECK(given(R"({"class_name":"Dropout","config":{"rate":0.5,"dtype":"float16","name":null}})")
            .get_object("dtype")
            .get_object("config")
            .get_string("name") == "float16");
  CHECK(
      given(R"({"class_name":"Dense","config":{"units":3,"kernel_initializer":"ones","kernel_constraint":"max_norm"}})")
          .get_object("kernel_constraint")
          .get_object("config")
          .get_double("max_value") == 2.0);
  CHECK(layers::deserialize(
            Config::parse(R"({"class_name":"Dense","config":{"units":3,"dtype":{"module":"keras","class_name":)"
                          R"("DTypePolicy","config":{"name":"mixed_float16"},"registered_name":null,)"
                          R"("shared_object_id":140430558501392}},"registered_name":null,"build_config":{}})"))
            .compute_dtype() == float16); // as in a saved model
}

TEST_CASE("A config is checked as the constructor checks its arguments") {
  CHECK(fieldsOf("Dense", R"("units":0)") == errorOf([] { layers::Dense(0); }));
  CHECK(fieldsOf("ReLU", R"("threshold":-1.0)") == errorOf([] { layers::ReLU({.threshold = -1}); }));
  CHECK(fieldsOf("LeakyReLU", R"("negative_slope":-1.0)") == errorOf([] { layers::LeakyReLU(-1); }));
  CHECK(fieldsOf("Dot", R"("axes":[1,2,3])") == errorOf([] { layers::Dot({1, 2, 3}); }));
  CHECK(fieldsOf("Dropout", R"("rate":2.0)") == errorOf([] { layers::Dropout(2); }));
  CHECK(fieldsOf("Dropout", R"("rate":0.5,"noise_shape":[2,0])") ==
        errorOf([] { layers::Dropout(0.5, {.noise_shape = Shape{2, 0}}); }));
  CHECK(fieldsOf("Reshape", R"("target_shape":[-1,-1])") == errorOf([] { layers::Reshape({-1, -1}); }));
}

TEST_CASE("A config that no layer can be made of is an error that names the class, the key or the value") {
  CHECK_THAT(fieldsOf("Gate", ""), Contains("ValueError: Could not locate class 'Gate'") &&
                                       Contains("register_custom<Gate>") &&
                                       Contains(". The layers are: Activation, Activity"));
  CHECK_THAT(fieldsOf("Desne", ""), Contains("Did you mean 'Dense'? The layers are: Activation, Activity"));
  CHECK_THAT(fieldsOf("Dense2", ""), Contains("Did you mean 'Dense'?"));
  CHECK_THAT(fieldsOf(std::string(300, 'x').c_str(), ""), !Contains("Did you mean"));
  CHECK_THAT(fieldsOf("Dense", ""), Contains("KeyError: The config has no key 'units'"));
  CHECK_THAT(fieldsOf("Dense", R"("units":"3")"), Contains("TypeError"));
  CHECK(fieldsOf("Dense", R"("units":3,"depth":4)") == "ValueError: Dense: Argument(s) not recognized: {'depth': 4}");
  CHECK_THAT(fieldsOf("Dense", R"("units":3,"activation":"swash")"), Contains("activation function identifier: swash"));
  CHECK_THAT(fieldsOf("Dense", R"("units":3,"kernel_initializer":{"class_name":"STFT","config":{}})"),
             Contains("Could not interpret initializer identifier: STFT"));
  CHECK_THAT(fieldsOf("Dense", R"("units":3,"bias_constraint":7)"),
             Contains("TypeError: The value of 'bias_constraint' must be a name, an object or null; it is 7"));
  CHECK(fieldsOf("Embedding", R"("input_dim":3,"output_dim":2,"quantization_config":true)") ==
        "TypeError: The value of 'quantization_config' must be an object or null; it is true");
  CHECK(fieldsOf("BatchNormalization", R"("renorm":true)") ==
        "NotImplementedError: `renorm` is true: it can only be false");
  CHECK_THAT(fieldsOf("Flatten", R"("data_format":"channels")"), Contains("The `data_format` argument must be one of"));
  CHECK_THAT(fieldsOf("LayerNormalization", R"("axis":[1,"a"])"), Contains("must be a list of numbers"));
  CHECK_THAT(fieldsOf("RandomFlip", R"("mode":"diagonal")"),
             Contains("ValueError: The `mode` argument must be one of {\"horizontal\", \"vertical\", "));
  CHECK_THAT(fieldsOf("ZeroPadding2D", R"("padding":[[1,2,3],0])"), Contains("TypeError: The value of 'padding'"));
  CHECK_THAT(fieldsOf("ZeroPadding2D", R"("padding":"1")"), Contains("TypeError: The value of 'padding'"));
  CHECK_THAT(fieldsOf("Conv2D", R"("filters":2)"), Contains("KeyError: The config has no key 'kernel_size'"));
  CHECK_THAT(
      fieldsOf("Conv2D", R"("filters":2,"kernel_size":3,"padding":"full")"),
      Contains("ValueError: The `padding` argument must be one of {\"valid\", \"same\", \"causal\"}. Received: full"));
  CHECK(fieldsOf("Conv2D", R"("filters":2,"kernel_size":3,"padding":"SAME")").empty());
  CHECK_THAT(fieldsOf("UpSampling2D", R"("size":[1,2,3])"), Contains("must be a tuple of 2 integers"));
  CHECK_THAT(fieldsOf("RandomTranslation", R"("height_factor":[0.5,"a"],"width_factor":0.5)"), Contains("TypeError"));
  for (const char *uneven : {"[[1],[1,2]]", "[1,[2]]", "[[1],2]", "[[],1]", "[[1],[[2]]]", "\"a\""})
    CHECK_THAT(fieldsOf("Normalization", R"("axis":[1,2],"variance":1.0,"mean":)" + std::string(uneven)),
               Contains("nested lists of numbers with equal lengths"));
  CHECK(fieldsOf("Resizing", R"("height":2,"width":2,"fill_mode":"reflect")") ==
        "NotImplementedError: `fill_mode` is \"reflect\": it can only be \"constant\"");
  CHECK_THAT(fieldsOf("SpatialDropout1D", R"("rate":0.5,"trainable":true)"), Contains("Argument(s) not recognized"));
  CHECK_THAT(fieldsOf("InputLayer", R"("batch_shape":[])"), Contains("`batch_shape` of an InputLayer"));
  CHECK_THAT(errorOf([] {
               (void)layers::deserialize(
                   Config::parse(R"({"class_name":"Dense","config":{"units":3},"registered_name":"mine>Dense"})"));
             }),
             Contains("Could not locate class 'Dense', which a user registered in Python as 'mine>Dense'") &&
                 Contains("register_custom<Dense>(\"mine\")"));
}

TEST_CASE("A function in the place of a name has no config") {
  const auto halved = [](const Value &x) { return x * 0.5; };
  CHECK_THROWS_WITH(layers::Dense(2, {.activation = halved}).get_config(), Contains("`activation` is a function"));
  CHECK_THROWS_WITH(layers::Dense(2, {.kernel_constraint = halved}).get_config(),
                    Contains("A constraint that is a function cannot be saved"));
  CHECK_THROWS_WITH(layers::Lambda(halved).get_config(), Contains("A Lambda has no config"));
}

TEST_CASE("A built normalization writes the axes that it has") {
  const auto axisOf = [](const Layer &layer) {
    (void)layer(Tensor::ones({2, 3, 4}));
    return Json::parse(layer.get_config().dump()).at("axis");
  };
  CHECK(axisOf(layers::LayerNormalization()) == Json::parse("[2]"));
  CHECK(axisOf(layers::RMSNormalization()) == Json::parse("[-1]"));
  CHECK(axisOf(layers::GroupNormalization({.groups = -1})) == Json(-1));
  CHECK(axisOf(layers::UnitNormalization()) == Json(-1));
  layers::GroupNormalization grouped({.groups = -1});
  (void)grouped(Tensor::ones({2, 4}));
  CHECK(grouped.get_config().get_int("groups") == 4);
}

TEST_CASE("Keras's second names of layers are the layers") {
  using namespace layers;
  CHECK(std::same_as<Convolution1D, Conv1D>);
  CHECK(std::same_as<Convolution2D, Conv2D>);
  CHECK(std::same_as<Convolution3D, Conv3D>);
  CHECK(std::same_as<MaxPool1D, MaxPooling1D>);
  CHECK(std::same_as<MaxPool2D, MaxPooling2D>);
  CHECK(std::same_as<MaxPool3D, MaxPooling3D>);
  CHECK(std::same_as<AvgPool1D, AveragePooling1D>);
  CHECK(std::same_as<AvgPool2D, AveragePooling2D>);
  CHECK(std::same_as<AvgPool3D, AveragePooling3D>);
  CHECK(std::same_as<GlobalMaxPool1D, GlobalMaxPooling1D>);
  CHECK(std::same_as<GlobalMaxPool2D, GlobalMaxPooling2D>);
  CHECK(std::same_as<GlobalAvgPool1D, GlobalAveragePooling1D>);
  CHECK(std::same_as<GlobalAvgPool2D, GlobalAveragePooling2D>);
}

TEST_CASE("Wrong values in a config are quoted as Keras writes them, and text that is not UTF-8 is an Error too") {
  CHECK_THAT(fieldsOf("Dense", R"("units":2,"use_bias":true,"rate":[Infinity])"), Contains("'rate': [Infinity]"));
  Config fields;
  fields.set("units", "caf\xe9");
  Config layer;
  layer.set("class_name", "Dense");
  layer.set("config", fields);
  CHECK_THAT(errorOf([&] { (void)layers::deserialize(layer); }), Contains("'units' must be"));
  fields.set("units", 2);
  fields.set("rate", "caf\xe9");
  layer.set("config", fields);
  CHECK_THAT(errorOf([&] { (void)layers::deserialize(layer); }), Contains("ValueError") && Contains("UTF-8"));
}
