// An MLP on MNIST: Sequential, compile, fit, callbacks. The final validation accuracy must be above 95 %.
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
#include <iostream>
using namespace halftone;
using namespace halftone::layers;

int main(int argc, char **argv) {
  set_random_seed(42);
  auto mnist = datasets::mnist(argc > 1 ? argv[1] : "examples/data/mnist");

  Sequential model({
      Input({28, 28}, {.dtype = uint8}),
      Rescaling(1.0 / 255),
      Flatten(),
      Dense(128, {.activation = "relu"}),
      Dropout(0.2),
      Dense(10, {.name = "logits"}),
  });
  model.compile({.optimizer = optimizers::Adam(1e-3),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});

  callbacks::EarlyStopping stopping({.patience = 2, .restore_best_weights = true});
  History history = model.fit(mnist.x_train, mnist.y_train,
                              {.batch_size = 128,
                               .epochs = 3,
                               .callbacks = {&stopping, callbacks::CSVLogger("mnist.csv"), callbacks::TerminateOnNaN()},
                               .validation_split = 0.1});

  std::cout << model.summary() << "stopped at " << stopping.stopped_epoch() << ", val_loss "
            << history["val_loss"].back() << "\n";
  return history["val_accuracy"].back() > 0.95 ? 0 : 1;
}
