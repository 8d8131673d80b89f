// Files with user-defined parts: a class and a function that no Python package registered, and names known at run time.
// SPDX-License-Identifier: Apache-2.0
#include "Check.h"
#include <sstream>
using namespace halftone;
using namespace halftone::layers;

struct Gain { // a Python class that was not decorated
  double initial = 1;
  Variable gamma{};
  void build(BuildContext &b, const Shape &input) {
    gamma = b.add_weight({.shape = {input[-1]}, .initializer = initializers::Constant(initial), .name = "gamma"});
  }
  Value call(const Value &x) const { return x * gamma; }
  void get_config(Config &c) const { c.set("initial", initial); }
  static Gain from_config(const Config &c) { return {.initial = c.get_double("initial")}; }
};

struct Timer : Callback {
  int64_t batches = 9, steps = 0, epochs = 0;
  std::string ended;
  void on_predict_begin(const Logs &) override { batches = 0; }
  void on_predict_batch_begin(int64_t, const Logs &) override { ++batches; }
  void on_predict_end(const Logs &) override { steps = params().steps.value_or(-1); }
  void on_epoch_end(int64_t epoch, Logs &) override {
    ended += std::to_string(epoch) + "/" + std::to_string(params().epochs) + " ";
    ++epochs;
  }
};

static Value scaledTanh(const Value &x) { return 1.7159 * ops::tanh(x * (2.0 / 3)); }
static Value cubes(const Value &y_true, const Value &y_pred) {
  return ops::mean(ops::power(ops::abs(y_true - y_pred), 3), -1);
}

static void files() {
  register_custom<Gain>(); // Python: custom_objects={"Gain": Gain}
  register_activation("scaled_tanh", scaledTanh);
  register_loss("mine>cubes", cubes);
  const Sequential made(
      {Input({2}), Dense(2, {.activation = scaledTanh, .kernel_initializer = "ones"}), Custom(Gain{.initial = 2})});
  made.compile({.optimizer = "sgd", .loss = cubes});
  made.save("language_10.keras");
  const Model model = load_model("language_10.keras");
  check(model.to_json() == made.to_json(), "the file holds the class and the functions by their names");
  std::ostringstream text;
  for (const Layer &layer : model.layers())
    text << layer << " ";
  check(text.str().find("<Dense name=dense, built=True> <Gain name=gain, built=True>") != std::string::npos,
        "layers print");
  const double y = 2 * 1.7159 * std::tanh(2.0);
  Timer timer;
  const Tensor x = Tensor::full({4, 2}, 1.5);
  check(near(model.predict(x, {.batch_size = 2, .verbose = 0, .callbacks = {&timer}}), std::vector<double>(8, y)),
        "the activation and the layer");
  model.fit(x, x, {.epochs = 3, .verbose = 0, .callbacks = {&timer}});
  check(timer.batches == 2 && timer.steps == 2, "a callback as a struct, at the batches of a prediction");
  check(timer.epochs == 3 && timer.ended == "0/3 1/3 2/3 ", "a callback as a struct, at epochs");
}

static void words(const std::string &word) {
  const Conv2D conv(8, 3, {.padding = choice<Padding>(word)});
  check(conv(Tensor::ones({1, 8, 8, 3})).shape() == Shape({1, 8, 8, 8}), "a word that is known at run time");
  try {
    (void)choice<Padding>(word + "s");
    check(false, "a misspelt word is refused");
  } catch (const Error &error) {
    check(error.kind() == ErrorKind::value_error, "the kind of the error");
    check(error.message().find(R"("valid", "same", "causal"; got "sames")") != std::string::npos, "it lists the words");
  }
}

int main(int argc, char **argv) {
  files();
  words(argc > 1 ? argv[1] : "same");
  return wrong;
}
