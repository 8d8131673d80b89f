// A custom train_step(): two networks, two optimizers, one compiled program per step.
// SPDX-License-Identifier: Apache-2.0
#include "Check.h"
using namespace halftone;
using namespace halftone::layers;

struct GAN {
  Model discriminator, generator;
  int64_t latent_dim = 8;
  Optimizer d_optimizer = optimizers::Adam(3e-3), g_optimizer = optimizers::Adam(3e-3);
  losses::BinaryCrossentropy loss{{.from_logits = true}};

  Value call(const Value &z) const { return generator(z); }
  void train_step(const StepContext &step, const StepData &data) const {
    const Value real = data.x[0];
    const int64_t batch = real.shape()[0];
    const Value scores = discriminator(ops::concatenate({generator(random::normal({batch, latent_dim})), real}, 0));
    Value labels = ops::concatenate({ops::ones({batch, 1}), ops::zeros({batch, 1})}, 0);
    labels += 0.05 * random::uniform(labels.shape());
    const Value d_loss = loss(labels, scores);
    d_optimizer.minimize(d_loss, discriminator.trainable_variables());

    const Value g_loss = loss(ops::zeros({batch, 1}), discriminator(generator(random::normal({batch, latent_dim}))));
    g_optimizer.minimize(g_loss, generator.trainable_variables());
    step.report("d_loss", d_loss);
    step.report("g_loss", g_loss);
  }
};

static std::vector<std::vector<float>> weightsOf(const Model &model) {
  std::vector<std::vector<float>> all;
  for (const Tensor &weight : model.get_weights())
    all.push_back(weight.to_vector<float>());
  return all;
}

int main() {
  set_random_seed(5);
  const Sequential discriminator(
      {Input({8, 8, 1}), Conv2D(8, 3, {.strides = 2, .padding = "same"}), LeakyReLU(0.2), GlobalMaxPool2D(), Dense(1)});
  const Sequential generator({Input({8}), Dense(2 * 2 * 8), LeakyReLU(0.2), Reshape({2, 2, 8}),
                              Conv2DTranspose(4, 4, {.strides = 2, .padding = "same"}), LeakyReLU(0.2),
                              Conv2DTranspose(1, 4, {.strides = 2, .padding = "same", .activation = "sigmoid"})});
  const Model gan(GAN{.discriminator = discriminator, .generator = generator});
  gan.compile();
  const auto first = weightsOf(generator), second = weightsOf(discriminator);
  int64_t drawn = 0;
  const Dataset images = Dataset(Tensor::uniform({64, 8, 8, 1})).cache().shuffle(64).batch(16, true).prefetch(2);
  callbacks::LambdaCallback draw(
      {.on_epoch_end = [&](int64_t, Logs &) { drawn += gan.predict(Tensor::normal({1, 8}), {.verbose = 0}).size(); }});
  const History history = gan.fit(images, {.epochs = 3, .verbose = 0, .callbacks = {&draw}});
  check(drawn == 3 * 64, "pictures between the epochs");
  check(history["d_loss"].size() == 3 && std::isfinite(history["d_loss"][2]), "the discriminator's loss");
  check(history["g_loss"].size() == 3 && history["g_loss"][0] > 0, "the generator's loss");
  check(weightsOf(generator) != first && weightsOf(discriminator) != second, "both networks train");
  return wrong;
}
