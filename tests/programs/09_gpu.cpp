// The same model on a GPU if there is one: the program queries for a GPU and does not crash without one.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <halftone/Halftone.h>
#include <iostream>
#include <string>
using namespace halftone;
using namespace halftone::layers;

/// The first argument is the expected device.
int main(int, char **arguments) {
  for (Device device : Device::list())
    std::cout << device.str() << ": " << device.description() << "\n";
  const Device device = Device::find("cuda:0").value_or(Device::cpu());
  if (device.str() != arguments[1])
    return EXIT_FAILURE;

  set_random_seed(1);
  const PolicyScope scope(device.kind() == Device::Kind::cuda ? "mixed_float16" : "float32");
  const DeviceScope on(device);
  Sequential model({Input({64}), Dense(96, {.activation = "gelu"}), Dense(64)});
  model.compile({.optimizer = "adamw", .loss = "mse", .device = device});

  const Tensor x = Tensor::ones({32, 64}).to(device);
  double last = INFINITY;
  for (int step = 0; step < 3; ++step) {
    const double loss = model.train_on_batch(x, x)["loss"];
    std::cout << loss << "\n";
    if (!(loss < last))
      return EXIT_FAILURE;
    last = loss;
  }
  // Under mixed_float16 a model predicts float16.
  if (model.predict_on_batch(x).astype(float32).to_vector<float>().size() != 32 * 64)
    return EXIT_FAILURE;

  try {
    Device::cuda(99);
  } catch (const Error &error) {
    std::cout << error.what() << "\n";
    return error.kind() == ErrorKind::device_error ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  return EXIT_FAILURE;
}
