// Grad-CAM and features of a model from a file: layer.output() makes intermediate models.
// SPDX-License-Identifier: Apache-2.0
#include "Check.h"
#include <sstream>
using namespace halftone;
using namespace halftone::layers;

static void save() { // the file that load_model() reads
  const Input image({16, 16, 3});
  const Value maps = Conv2D(4, 3, {.padding = "same", .activation = "relu", .name = "last_conv"})(MaxPool2D(2)(image));
  const Value pooled = GlobalAveragePooling2D({.name = "avg_pool"})(maps);
  Model({image}, {Dense(5, {.activation = "softmax"})(pooled)}).save("language_06.keras");
}

static void gradCam(const Model &model) {
  const Value maps = model.get_layer("last_conv").output();
  std::ostringstream text;
  text << maps;
  check(text.str().starts_with("<Value shape=(None, 8, 8, 4), dtype=float32, layer="), "a Value prints its type");
  const Model both(model.inputs(), {maps, model.output()});
  const auto heat = jit([=](const Value &image) -> Value {
    const Values out = both.outputs(image);
    const Value score = ops::sum(ops::max(out[1], -1));
    const Value weights = ops::mean(gradient(score, out[0]), {1, 2}, true);
    const Value map = ops::relu(ops::sum(weights * out[0], -1));
    return ops::divide_no_nan(map, ops::max(map, {1, 2}, true));
  });
  const Tensor image = Tensor::uniform({16, 16, 3}) * 255;
  const Tensor map = heat(Tensor::stack({image / 127.5 - 1.0}))[0];
  check(map.shape() == Shape({8, 8}), "the shape of the map");
  double largest = 0, least = 0;
  for (const float v : map.to_vector<float>()) {
    largest = std::max(largest, static_cast<double>(v));
    least = std::min(least, static_cast<double>(v));
  }
  check(least == 0 && (largest == 1 || largest == 0), "a map from 0 to 1");
}

static void transfer(const Model &model) { // a new head on a frozen backbone
  const Model features(model.inputs(), {model.get_layer("avg_pool").output()});
  features.set_trainable(false);
  const std::vector<float> before = features.get_weights()[0].to_vector<float>();
  const Input input({16, 16, 3});
  const Model flowers({input}, {Dense(5, {.activation = "softmax"})(features(input, {.training = false}))});
  flowers.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  flowers.fit(Tensor::uniform({32, 16, 16, 3}), Tensor::randint({32}, 0, 5), {.epochs = 2, .verbose = 0});
  check(features.get_weights()[0].to_vector<float>() == before, "the backbone is frozen");
  const Logs logs = flowers.get_metrics_result();
  check(logs["loss"] > 0 && logs["accuracy"] >= 0 && logs["accuracy"] <= 1, "the results of the last epoch");
}

int main() {
  set_random_seed(2);
  save();
  const Model model = load_model("language_06.keras");
  gradCam(model);
  transfer(model);
  return wrong;
}
