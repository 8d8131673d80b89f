// Trains Keras's MNIST convnet under several dtype policies; prints accuracy and seconds of each, and draws the curves.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <halftone/Halftone.h>
#include <map>
#include <sstream>
#include <string>

using namespace halftone;
using namespace halftone::layers;

namespace {

constexpr int64_t batchSize = 128;
using Options = std::map<std::string, std::string>;

/// One policy's run: the running mean of the loss, and the accuracy on the test data after each epoch.
struct Curve {
  std::string policy;
  std::vector<std::pair<double, double>> loss, accuracy; // (epochs, value)
};

class Recorder : public Callback {
public:
  Recorder(Curve &curve, int64_t stepsPerEpoch) : curve_(&curve), stepsPerEpoch_(stepsPerEpoch) {}
  void on_epoch_begin(int64_t epoch, const Logs &) override { epoch_ = static_cast<double>(epoch); }
  void on_train_batch_end(int64_t step, const Logs &logs) override {
    if (step % 10 == 9) // reading the logs waits for the step
      curve_->loss.emplace_back(epoch_ + static_cast<double>(step + 1) / static_cast<double>(stepsPerEpoch_),
                                logs["loss"]);
  }
  void on_epoch_end(int64_t epoch, Logs &logs) override {
    curve_->accuracy.emplace_back(static_cast<double>(epoch + 1), logs["val_accuracy"]);
  }

private:
  Curve *curve_;
  int64_t stepsPerEpoch_;
  double epoch_ = 0.0;
};

Model convnet() {
  Input image({28, 28, 1}, {.dtype = uint8});
  Value x = Rescaling(1.0 / 255)(image);
  x = MaxPooling2D(2)(Conv2D(32, 3, {.activation = "relu"})(x));
  x = MaxPooling2D(2)(Conv2D(64, 3, {.activation = "relu"})(x));
  x = Dropout(0.5)(Flatten()(x));
  return Model({image}, {Dense(10, {.activation = "softmax", .dtype = "float32"})(x)});
}

Curve train(const std::string &policy, const datasets::Arrays &mnist, int64_t epochs) {
  set_random_seed(1);
  set_dtype_policy(policy);
  const int64_t steps = (mnist.x_train.shape()[0] + batchSize - 1) / batchSize;
  Curve curve{policy, {}, {}};
  const auto start = std::chrono::steady_clock::now();
  const Model model = convnet();
  model.compile({.optimizer = optimizers::Adam(schedules::CosineDecay(2e-3, epochs * steps)),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"}});
  model.fit(mnist.x_train, mnist.y_train,
            {.batch_size = batchSize,
             .epochs = epochs,
             .verbose = 2,
             .callbacks = {Recorder(curve, steps)},
             .validation_data = {mnist.x_test, mnist.y_test}});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%s: test accuracy %.4f after %lld epochs, %.1f s\n", policy.c_str(), curve.accuracy.back().second,
              static_cast<long long>(epochs), seconds.count());
  std::fflush(stdout);
  return curve;
}

/// One chart: its place in the drawing, and the values at its bottom and top.
struct Chart {
  const char *title;
  double left, bottomValue, topValue, epochs;
  double x(double epoch) const { return left + 360 * epoch / epochs; }
  double y(double value) const {
    return 330 - 280 * (std::clamp(value, bottomValue, topValue) - bottomValue) / (topValue - bottomValue);
  }
};

void drawAxes(std::ostream &svg, const Chart &chart) {
  svg << "<text x='" << chart.left << "' y='35' font-size='15'>" << chart.title << "</text>\n";
  for (int i = 0; i <= 4; ++i) {
    const double value = chart.bottomValue + (chart.topValue - chart.bottomValue) * i / 4;
    char label[32];
    std::snprintf(label, sizeof label, "%.3g", value);
    svg << "<path d='M" << chart.left << " " << chart.y(value) << "h360' stroke='#ddd'/><text x='" << chart.left - 6
        << "' y='" << chart.y(value) + 4 << "' text-anchor='end'>" << label << "</text>\n";
  }
  svg << "<text x='" << chart.left + 360 << "' y='350' text-anchor='end'>" << chart.epochs << " epochs</text>\n";
}

void drawLine(std::ostream &svg, const Chart &chart, const std::vector<std::pair<double, double>> &points,
              const char *colour) {
  svg << "<polyline fill='none' stroke-width='1.5' stroke='" << colour << "' points='";
  for (const auto &[epoch, value] : points)
    svg << chart.x(epoch) << "," << chart.y(value) << " ";
  svg << "'/>\n";
}

void draw(const std::string &path, const std::vector<Curve> &curves, double epochs) {
  static constexpr const char *colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf"};
  const Chart loss{"training loss", 60, 0.0, 0.4, epochs}, accuracy{"test accuracy", 500, 0.96, 1.0, epochs};
  std::ofstream svg(path);
  svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 900 " << 370 + 20 * curves.size()
      << "' font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n";
  drawAxes(svg, loss);
  drawAxes(svg, accuracy);
  for (size_t i = 0; i < curves.size(); ++i) {
    const char *colour = colours[i % std::size(colours)];
    drawLine(svg, loss, curves[i].loss, colour);
    drawLine(svg, accuracy, curves[i].accuracy, colour);
    svg << "<text x='60' y='" << 375 + 20 * i << "' fill='" << colour << "'>" << curves[i].policy << "</text>\n";
  }
  svg << "</svg>\n";
  svg.close();
  if (!svg)
    throw Error(ErrorKind::io_error, "cannot write '" + path + "'");
}

void run(const Options &options, int64_t epochs) {
  datasets::Arrays mnist = datasets::mnist(options.at("--data"));
  mnist.x_train = mnist.x_train.reshape({none, 28, 28, 1});
  mnist.x_test = mnist.x_test.reshape({none, 28, 28, 1});
  std::vector<Curve> curves;
  std::istringstream policies(options.at("--policies"));
  for (std::string policy; std::getline(policies, policy, ',');)
    curves.push_back(train(policy, mnist, epochs));
  draw(options.at("--svg"), curves, static_cast<double>(epochs));
}

int usage(const std::string &complaint) {
  std::fprintf(stderr,
               "02-mnist-cnn: %s\nusage: 02-mnist-cnn [--policies NAME,NAME...] [--epochs N] [--data FOLDER] "
               "[--svg FILE]\n",
               complaint.c_str());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  Options options{{"--policies", "float32,mixed_bfloat16,mixed_float16"},
                  {"--epochs", "3"},
                  {"--data", "examples/data/mnist"},
                  {"--svg", "mnist-cnn.svg"}};
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
  try {
    run(options, epochs);
  } catch (const Error &error) {
    std::fprintf(stderr, "02-mnist-cnn: %s\n", error.what());
    return 1;
  }
}
