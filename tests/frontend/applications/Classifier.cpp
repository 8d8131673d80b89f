// The architectures of keras.applications: Keras's layers, configs and counts, and rejected arguments.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Applications.h"
#include "runtime/base/Sha256.h"
#include "tests/frontend/RecordedJson.h"

using namespace halftone;
using namespace halftone::applications;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

std::optional<Shape> shapeIn(const Json &arguments) {
  if (!arguments.contains("input_shape"))
    return std::nullopt;
  return Shape(arguments["input_shape"].get<std::vector<int64_t>>());
}
template <class Args> Args argsOf(const Json &arguments) {
  Args args;
  args.input_shape = shapeIn(arguments);
  args.include_top = arguments.value("include_top", true);
  args.classes = arguments.value("classes", int64_t{1000});
  args.name = arguments.value("name", "");
  args.pooling = choice<FeaturePooling>(arguments.value("pooling", "none"));
  if (arguments.contains("classifier_activation"))
    args.classifier_activation = {};
  return args;
}
Model make(const std::string &architecture, const Json &arguments) {
  if (architecture == "MobileNetV2") {
    auto args = argsOf<MobileNetV2Args>(arguments);
    args.alpha = arguments.value("alpha", 1.0);
    return MobileNetV2(args);
  }
  const auto args = argsOf<ApplicationArgs>(arguments);
  return architecture == "ResNet50"      ? ResNet50(args)
         : architecture == "DenseNet121" ? DenseNet121(args)
                                         : EfficientNetB0(args);
}
/// JSON text without blanks, with sorted keys.
std::string sorted(const Json &value) { return nlohmann::json::parse(value.dump()).dump(); }

} // namespace

TEST_CASE("Each architecture has Keras's name, layers, configs and counts of parameters") {
  int64_t models = 0;
  for (const std::string &line : recordedLines("applications.jsonl")) {
    const Json row = Json::parse(line);
    INFO(row["architecture"] << " " << row["arguments"]);
    utils::clear_session();
    const Model model = make(row["architecture"].get<std::string>(), row["arguments"]);
    CHECK(model.name() == row["name"].get<std::string>());
    CHECK(model.count_params() == row["parameters"].get<int64_t>());
    int64_t trainable = 0;
    for (const Variable &variable : model.trainable_variables())
      trainable += variable.shape().elements();
    CHECK(trainable == row["trainable"].get<int64_t>());
    const Json layers = Json::parse(model.to_json())["config"]["layers"];
    REQUIRE(layers.size() == row["layers"].size());
    for (size_t i = 0; i < layers.size(); ++i) {
      Json layer = layers[i];
      layer.erase("build_config"); // Keras writes it for layers without weights too
      const Json found = {layer["name"], layer["class_name"], sha256(sorted(layer)).substr(0, 12)};
      if (found != row["layers"][i]) {
        FAIL_CHECK(found << " " << row["layers"][i] << ": " << sorted(layer));
        break;
      }
    }
    ++models;
  }
  CHECK(models == 22);
}

TEST_CASE("An architecture takes a tensor as its images, and gives features") {
  const Value images = layers::Input({40, 40, 3}, {.name = "photo"});
  const Model model = MobileNetV2({.input_shape = Shape{40, 40, 3},
                                   .alpha = 0.35,
                                   .include_top = false,
                                   .input_tensor = layers::Rescaling(2.0)(images),
                                   .pooling = "avg"});
  CHECK(model.inputs()[0].shape().str() == "(None, 40, 40, 3)");
  CHECK(model.name() == "mobilenetv2_0.35_40");
  CHECK(model.predict(Tensor::ones({2, 40, 40, 3}), {.verbose = 0}).shape() == Shape{2, 1280});
}

TEST_CASE("Architectures refuse shapes that they cannot have") {
  CHECK_THAT(errorOf([] { (void)ResNet50({.input_shape = Shape{31, 64, 3}}); }),
             Contains("ValueError: Input size must be at least 32x32; Received: input_shape=(31, 64, 3)"));
  CHECK_THAT(errorOf([] { (void)DenseNet121({.input_shape = Shape{64, 64}}); }),
             Contains("ValueError: `input_shape` must be a tuple of three integers"));
  CHECK_THAT(errorOf([] { (void)EfficientNetB0({.input_shape = Shape{none, none, 3}}); }),
             Contains("ValueError: If `include_top` is True, you should specify a static `input_shape`"));
  CHECK_THAT(errorOf([] { (void)MobileNetV2({.alpha = 0.0}); }),
             Contains("ValueError: alpha must be positive and below 2147483648, got 0"));
  for (const double alpha : {1e300, double(INFINITY), double(NAN)})
    CHECK_THAT(errorOf([=] { (void)MobileNetV2({.alpha = alpha}); }),
               Contains("alpha must be positive and below 2147483648"));
}
