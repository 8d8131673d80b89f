// A variational autoencoder: noise in the graph, a custom loss that fit() scales, and a reported value in the logs.
// SPDX-License-Identifier: Apache-2.0
#include "Check.h"
using namespace halftone;
using namespace halftone::layers;

struct Sampling {
  random::SeedGenerator seed{1337};
  Value call(const Values &in) const {
    return in[0] + ops::exp(0.5 * in[1]) * random::normal(in[0].shape(), {.dtype = in[0].dtype(), .seed = seed});
  }
};

struct VAE {
  Model encoder, decoder;
  Value call(const Value &x) const { return decoder(encoder.outputs(x)[2]); }
  Value compute_loss(const StepContext &step, const StepData &data, const Values &) const {
    const Values z = encoder.outputs(data.x);
    const Value mean = z[0], log_var = z[1], image = decoder(z[2]);
    const Value reconstruction = ops::mean(ops::sum(losses::binary_crossentropy(data.x[0], image), {1, 2}));
    Value kl = -0.5 * (1 + log_var - ops::square(mean) - ops::exp(log_var));
    kl = ops::mean(ops::sum(kl, 1));
    step.report("kl", kl);
    return reconstruction + kl;
  }
};

int main() {
  set_random_seed(3);
  set_dtype_policy("mixed_float16"); // fit() scales this loss too
  const Input image({8, 8, 1});
  Value h = Conv2D(4, 3, {.strides = 2, .padding = "same", .activation = "relu"})(image);
  h = Dense(8, {.activation = "relu"})(Flatten()(h));
  const Value mean = Dense(2, {.dtype = "float32"})(h), log_var = Dense(2, {.dtype = "float32"})(h);
  const Model encoder({image}, {mean, log_var, Custom(Sampling{})({mean, log_var})});
  const Sequential decoder({Input({2}), Dense(4 * 4 * 2, {.activation = "relu"}), Reshape({4, 4, 2}),
                            UpSampling2D(2, {.interpolation = "bilinear"}),
                            Conv2D(1, 3, {.padding = "same", .activation = "sigmoid", .dtype = "float32"})});
  const Model vae(VAE{encoder, decoder}, {.name = "vae"});
  vae.compile({.optimizer = optimizers::Adam(0.01)});
  const Tensor x = Tensor::full({64, 8, 8, 1}, 0.9);
  const History history = vae.fit(x, {}, {.batch_size = 16, .epochs = 6, .verbose = 0, .validation_split = 0.25});
  const std::vector<double> loss = history["loss"], kl = history["kl"];
  check(loss.size() == 6 && loss.back() < loss.front(), "the loss falls");
  check(kl.size() == 6 && kl.back() > 0 && std::isfinite(kl.back()), "the report of each epoch");
  check(history["val_loss"].size() == 6 && history["val_kl"].size() == 6, "both of the validation");
  const Tensor sample = decoder.predict(Tensor::normal({1, 2}), {.verbose = 0});
  check(sample.shape() == Shape({1, 8, 8, 1}) && sample.dtype() == float32, "a sample");
  return wrong;
}
