// Pointers to activations and losses of the library act as names, whatever address the program's linker gives them.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <halftone/Halftone.h>

using namespace halftone;
using namespace halftone::layers;

int main() {
  const ActivationArg activation = activations::mish;
  const Loss loss = losses::log_cosh;
  const Metric metric = losses::mean_absolute_error;
  if (activation.name() != "mish" || loss.name() != "log_cosh" || metric.name() != "mean_absolute_error") {
    std::printf("named %s, %s, %s\n", activation.name().c_str(), loss.name().c_str(), metric.name().c_str());
    return 1;
  }
  const Sequential model({Input({3}), Dense(4, {.activation = activations::relu6})});
  model.compile({.optimizer = "sgd", .loss = losses::log_cosh, .metrics = {losses::hinge}});
  model.save("named.keras");
  return load_model("named.keras").to_json() == model.to_json() ? 0 : 2;
}
