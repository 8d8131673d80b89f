// Forecasts the next day's temperatures from five days of weather with an LSTM and a Conv1D, and draws both forecasts.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <halftone/Halftone.h>
#include <map>
#include <numbers>
#include <string>
#include <vector>

using namespace halftone;
using namespace halftone::layers;

namespace {

using Options = std::map<std::string, std::string>;

constexpr int64_t stepsOfDay = 8, past = 5 * stepsOfDay, future = stepsOfDay, features = 4;

double turn(double share) { return std::sin(2.0 * std::numbers::pi * share); }

/// Deterministic noise in [-1, 1), a function of `place` alone.
double noise(uint64_t place) {
  uint64_t bits = (place + 1) * 0x9e3779b97f4a7c15; // SplitMix64
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-52 - 1.0;
}

/// Synthetic weather in steps of three hours. The temperature depends on the season, the hour and random weather
/// fronts. The pressure announces a front some hours earlier.
struct Weather {
  std::vector<double> temperature, pressure;
  explicit Weather(int64_t steps) {
    std::vector<double> fronts;
    double front = 0.0;
    for (int64_t step = 0; step < steps + stepsOfDay; ++step)
      fronts.push_back(front = 0.95 * front + 0.3 * noise(static_cast<uint64_t>(step)));
    for (int64_t step = 0; step < steps; ++step) {
      const double day = static_cast<double>(step) / stepsOfDay;
      temperature.push_back(9.0 + 9.0 * turn((day - 110.0) / 365.0) + 4.0 * turn(day - 0.4) +
                            6.0 * fronts[static_cast<size_t>(step)]);
      pressure.push_back(fronts[static_cast<size_t>(step + stepsOfDay)] +
                         0.05 * noise(static_cast<uint64_t>(step + steps)));
    }
  }
};

struct Samples {
  Tensor x, y; // scaled; y is relative to the temperature of the last input step
  double persistence = 0.0;
};
constexpr double scale = 10.0;

/// Samples from steps `begin` to `end`, one every `every` steps: the past days, and the next day as the target.
Samples select(const Weather &weather, int64_t begin, int64_t end, int64_t every) {
  std::vector<float> x, y;
  double error = 0.0;
  int64_t count = 0;
  for (int64_t now = begin + past; now + future <= end; now += every, ++count) {
    const auto at = [&](int64_t step) { return static_cast<size_t>(step); };
    for (int64_t step = now - past; step < now; ++step)
      for (const double value :
           {weather.temperature[at(step)] / scale, weather.pressure[at(step)],
            turn(static_cast<double>(step) / stepsOfDay), turn(static_cast<double>(step) / stepsOfDay + 0.25)})
        x.push_back(static_cast<float>(value));
    for (int64_t step = now; step < now + future; ++step) {
      y.push_back(static_cast<float>((weather.temperature[at(step)] - weather.temperature[at(now - 1)]) / scale));
      error += std::abs(weather.temperature[at(step)] - weather.temperature[at(step - stepsOfDay)]);
    }
  }
  return {Tensor(x, {count, past, features}), Tensor(y, {count, future}), error / static_cast<double>(count * future)};
}

Sequential recurrent() { return Sequential({Input({past, features}), LSTM(32), Dense(future)}, {.name = "LSTM"}); }
Sequential convolving() {
  std::vector<Layer> stack{Input({past, features})};
  for (const int64_t dilation : {1, 2, 4, 8})
    stack.push_back(Conv1D(32, 3, {.padding = "causal", .dilation_rate = dilation, .activation = "relu"}));
  stack.push_back(Cropping1D({past - 1, 0}));
  stack.push_back(Flatten());
  stack.push_back(Dense(future));
  return Sequential(std::move(stack), {.name = "Conv1D"});
}

/// The forecasts of consecutive days, joined into one line.
LineChart::Line line(const Weather &weather, const Tensor &forecast, int64_t begin, const std::string &name,
                     int64_t color) {
  LineChart::Line drawn{name, {}, true, color};
  const std::vector<float> values = forecast.to_vector<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const auto step = static_cast<int64_t>(i);
    const double last = weather.temperature[static_cast<size_t>(begin + past + step / future * future - 1)];
    drawn.points.emplace_back(static_cast<double>(step) / stepsOfDay, last + scale * values[i]);
  }
  return drawn;
}

void run(const Options &options, int64_t epochs) {
  set_random_seed(1);
  constexpr int64_t year = 365 * stepsOfDay, days = 8;
  const Weather weather(3 * year);
  const Samples train = select(weather, 0, 2 * year, 1), test = select(weather, 2 * year, 3 * year, 1),
                shown = select(weather, 2 * year, 2 * year + past + days * future, future);
  std::printf("as the day before: mean error %.2f degrees\n", test.persistence);

  LineChart::Line truth{"measured", {}, false, 0};
  for (int64_t step = 0; step < days * future; ++step)
    truth.points.emplace_back(static_cast<double>(step) / stepsOfDay,
                              weather.temperature[static_cast<size_t>(2 * year + past + step)]);
  LineChart forecast{"forecasts of one day each, in degrees", "days", {truth}},
      errors{"mean error of the forecasts, in degrees", "epochs", {}};
  int64_t color = 0;
  for (const Sequential &model : {recurrent(), convolving()}) {
    model.compile({.optimizer = optimizers::Adam(3e-3), .loss = "mae"});
    const History history = model.fit(
        train.x, train.y, {.batch_size = 64, .epochs = epochs, .verbose = 0, .validation_data = {test.x, test.y}});
    LineChart::Line losses{model.name(), {}, false, ++color};
    for (const double loss : history["val_loss"])
      losses.points.emplace_back(static_cast<double>(losses.points.size() + 1), scale * loss);
    std::printf("%s, %lld weights: mean error %.2f degrees\n", model.name().c_str(),
                static_cast<long long>(model.count_params()), losses.points.back().second);
    std::fflush(stdout);
    errors.lines.push_back(losses);
    forecast.lines.push_back(line(weather, model.predict(shown.x, {.verbose = 0}), 2 * year, model.name(), color));
  }
  plot_charts({forecast, errors}, options.at("--svg"));
}

int usage(const std::string &complaint) {
  std::fprintf(stderr, "07-forecast: %s\nusage: 07-forecast [--epochs N] [--svg FILE]\n", complaint.c_str());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  Options options{{"--epochs", "10"}, {"--svg", "forecast.svg"}};
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
    std::fprintf(stderr, "07-forecast: %s\n", error.what());
    return 1;
  }
}
