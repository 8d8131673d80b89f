// A metric is a struct: state in build(), sums in update_state(), the number in result().
// SPDX-License-Identifier: Apache-2.0
#include "Check.h"
using namespace halftone;
using namespace halftone::layers;

struct Specificity {
  double threshold = 0.5;
  Variable negatives{}, found{};
  void build(MetricContext &m) {
    negatives = m.add_variable({.name = "negatives"});
    found = m.add_variable({.name = "found"});
  }
  void update_state(const Value &y_true, const Value &y_pred) const {
    const Value negative = y_true == 0;
    negatives.assign_add(ops::sum(ops::cast(negative, float32)));
    found.assign_add(ops::sum(ops::cast(negative & (y_pred < threshold), float32)));
  }
  Value result() const { return ops::divide_no_nan(found, negatives); }
  void get_config(Config &c) const { c.set("threshold", threshold); }
  static Specificity from_config(const Config &c) { return {.threshold = c.get_double("threshold")}; }
};

int main() {
  set_random_seed(4);
  register_metric<Specificity>("mine"); // so that files can contain it
  const Sequential model({Input({4}), Dense(8, {.activation = "relu"}), Dense(1, {.activation = "sigmoid"})});
  model.compile({.optimizer = "adam",
                 .loss = "binary_crossentropy",
                 .metrics = {"accuracy", Specificity{}, Metric(Specificity{.threshold = 0.9}, {.name = "strict"})}});
  const Tensor x = Tensor::normal({256, 4}), y = Tensor::randint({256, 1}, 0, 2);
  const Logs logs = model.evaluate(x, y, {.verbose = 0});

  const std::vector<float> scores = model.predict(x, {.verbose = 0}).to_vector<float>();
  const std::vector<int32_t> labels = y.to_vector<int32_t>();
  double negatives = 0, below = 0, strictly = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    negatives += labels[i] == 0;
    below += labels[i] == 0 && scores[i] < 0.5F;
    strictly += labels[i] == 0 && scores[i] < 0.9F;
  }
  check(std::abs(logs["specificity"] - below / negatives) < 1e-6, "the metric of all batches");
  check(std::abs(logs["strict"] - strictly / negatives) < 1e-6, "another threshold under another name");
  std::string names;
  for (const Metric &metric : model.metrics())
    names += metric.name() + " ";
  check(names == "loss accuracy specificity strict ", "the compiled metrics");
  model.save("language_07.keras");
  const Model loaded = load_model("language_07.keras");
  check(loaded.evaluate(x, y, {.verbose = 0})["specificity"] == logs["specificity"], "the metric of a file");
  return wrong;
}
