// Trains a Wasserstein GAN with gradient penalty on MNIST with a custom train_step(), and draws the generated digits.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <halftone/Halftone.h>
#include <map>
#include <string>

using namespace halftone;
using namespace halftone::layers;

namespace {

constexpr int64_t batchSize = 64, latentSize = 32, side = 28;
using Options = std::map<std::string, std::string>;

/// The critic estimates the distance between generated images and the data, and the generator minimizes it. A single
/// compiled step trains both.
struct WassersteinGan {
  Model generator, critic;
  int64_t criticSteps = 3;
  double penaltyWeight = 10.0;
  Optimizer generatorOptimizer = optimizers::Adam(5e-4, {.beta_1 = 0.5, .beta_2 = 0.9});
  Optimizer criticOptimizer = optimizers::Adam(5e-4, {.beta_1 = 0.5, .beta_2 = 0.9});
  random::SeedGenerator seed{};

  Value latents(int64_t count) const { return random::normal({count, latentSize}, {.seed = seed}); }
  Value call(const Value &z) const { return generator(z); }

  /// A critic measures the Wasserstein distance if its gradient norm is 1 between the data and the generated images.
  Value gradientPenalty(const Value &real, const Value &fake) const {
    const Value place = random::uniform({real.shape()[0], 1, 1, 1}, {.seed = seed});
    const Value slope = grad([this](const Value &x) { return ops::sum(critic(x)); })(real + place * (fake - real));
    const Value norm = ops::sqrt(ops::sum(ops::square(slope), {1, 2, 3}) + 1e-12);
    return ops::mean(ops::square(norm - 1.0));
  }

  void train_step(const StepContext &step, const StepData &data) const {
    const Value real = data.x[0] / 127.5 - 1.0; // maps bytes to -1 (black) to 1 (white)
    const int64_t batch = real.shape()[0];
    Value distance, penalty;
    for (int64_t k = 0; k < criticSteps; ++k) {
      const Value fake = ops::stop_gradient(generator(latents(batch)));
      distance = ops::mean(critic(real)) - ops::mean(critic(fake));
      penalty = gradientPenalty(real, fake);
      criticOptimizer.minimize(penaltyWeight * penalty - distance, critic.trainable_variables());
    }
    generatorOptimizer.minimize(-ops::mean(critic(generator(latents(batch)))), generator.trainable_variables());
    step.report("distance", distance);
    step.report("penalty", penalty);
  }
};

Model newCritic() {
  return Sequential({Input({side, side, 1}), Conv2D(16, 5, {.strides = 2, .padding = "same"}), LeakyReLU(0.2),
                     Conv2D(32, 5, {.strides = 2, .padding = "same"}), LeakyReLU(0.2), Flatten(), Dense(1)},
                    {.name = "critic"});
}

Model newGenerator() {
  return Sequential({Input({latentSize}), Dense(7 * 7 * 32), LeakyReLU(0.2), Reshape({7, 7, 32}),
                     Conv2DTranspose(16, 4, {.strides = 2, .padding = "same"}), LeakyReLU(0.2),
                     Conv2DTranspose(1, 4, {.strides = 2, .padding = "same", .activation = "tanh"})},
                    {.name = "generator"});
}

/// Draws rows of images with values from -1 to 1 into an SVG file, as runs of equal pixels: a path for each of eight
/// grays.
void draw(const std::vector<Tensor> &rows, const std::string &filepath) {
  constexpr int64_t grays = 8, cell = side + 2;
  std::array<std::string, grays + 1> paths;
  int64_t top = 0, width = 0;
  for (const Tensor &row : rows) {
    int64_t left = 0;
    for (const Tensor &image : row) {
      const std::vector<float> pixels = image.to_vector<float>();
      const auto gray = [&](int64_t at) {
        return std::lround((pixels[static_cast<size_t>(at)] + 1) / 2 * static_cast<float>(grays));
      };
      for (int64_t at = 0, run = 1; at < std::ssize(pixels); at += run, run = 1) {
        while ((at + run) % side != 0 && gray(at + run) == gray(at))
          ++run;
        paths[static_cast<size_t>(gray(at))] += "M" + std::to_string(left + at % side) + " " +
                                                std::to_string(top + at / side) + "h" + std::to_string(run) + "v1h-" +
                                                std::to_string(run) + "z";
      }
      left += cell;
    }
    width = std::max(width, left);
    top += cell;
  }
  std::ofstream file(filepath);
  file << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << " " << top << "\" width=\""
       << 2 * width << "\" shape-rendering=\"crispEdges\">\n<rect width=\"100%\" height=\"100%\"/>\n";
  for (int64_t level = 1; level <= grays; ++level)
    file << "<path fill=\"hsl(0,0%," << 100 * level / grays << "%)\" d=\"" << paths[static_cast<size_t>(level)]
         << "\"/>\n";
  if (!(file << "</svg>\n").flush())
    std::fprintf(stderr, "10-gan: cannot write %s\n", filepath.c_str());
}

void run(const Options &options, int64_t epochs, int64_t count) {
  set_random_seed(1);
  const Tensor images = datasets::mnist(options.at("--data")).x_train.slice(0, count).reshape({none, side, side, 1});
  const Tensor sample = images.slice(0, std::min<int64_t>(count, 512)).astype(float32) / 127.5 - 1.0;
  const Model gan(WassersteinGan{.generator = newGenerator(), .critic = newCritic()});
  gan.compile();

  // Similarity measure: two sets of images are alike if the per-pixel means and standard deviations are.
  const auto difference = jit([](const Value &a, const Value &b) {
    const auto rms = [](const Value &x) { return ops::sqrt(ops::mean(ops::square(x))); };
    return std::array{rms(ops::mean(a, 0) - ops::mean(b, 0)), rms(ops::std(a, 0) - ops::std(b, 0))};
  });
  const Tensor z = Tensor::normal({sample.shape()[0], latentSize}, {.seed = 1});
  std::vector<Tensor> rows;
  const auto show = [&](int64_t epoch, const std::string &logs) {
    const Tensor generated = gan.predict(z, {.batch_size = 128, .verbose = 0});
    const auto [means, deviations] = difference(generated, sample);
    std::printf("after %lld epochs: pixels differ from the data by %.3f in the mean and %.3f in the deviation%s\n",
                static_cast<long long>(epoch), means.item(), deviations.item(), logs.c_str());
    std::fflush(stdout);
    rows.push_back(generated.slice(0, std::min<int64_t>(count, 16)));
  };
  show(0, "");
  gan.fit(Dataset(images).shuffle(count, 1).batch(batchSize, true),
          {.epochs = epochs,
           .verbose = 0,
           .callbacks = {callbacks::LambdaCallback(
               {.on_epoch_end = [&](int64_t epoch, Logs &logs) { show(epoch + 1, "; " + logs.str()); }})}});
  rows.push_back(sample.slice(0, std::min<int64_t>(count, 16)));
  draw(rows, options.at("--svg"));
}

int usage(const std::string &complaint) {
  std::fprintf(stderr, "10-gan: %s\nusage: 10-gan [--epochs N] [--images N] [--data FOLDER] [--svg FILE]\n",
               complaint.c_str());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  Options options{{"--epochs", "8"}, {"--images", "6400"}, {"--data", "examples/data/mnist"}, {"--svg", "gan.svg"}};
  for (int i = 1; i < argc; i += 2) {
    const auto option = options.find(argv[i]);
    if (option == options.end() || i + 1 == argc)
      return usage(std::string("expected an option and its value, got '") + argv[i] + "'");
    option->second = argv[i + 1];
  }
  char *end = nullptr;
  const int64_t epochs = std::strtoll(options["--epochs"].c_str(), &end, 10);
  if (epochs < 1 || *end)
    return usage("--epochs expects a whole number from 1, got '" + options["--epochs"] + "'");
  const int64_t images = std::strtoll(options["--images"].c_str(), &end, 10);
  if (images < batchSize || images > 60000 || *end)
    return usage("--images expects a whole number from 64 to 60000, got '" + options["--images"] + "'");
  try {
    run(options, epochs, images);
  } catch (const Error &error) {
    std::fprintf(stderr, "10-gan: %s\n", error.what());
    return 1;
  }
}
