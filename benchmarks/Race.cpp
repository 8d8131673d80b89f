// Interleaves the laps of several contestants.
// SPDX-License-Identifier: Apache-2.0
#include "Race.h"
#include <algorithm>
#include <chrono>
#include <cmath>

namespace halftone::benchmarks {

double secondsOf(const std::function<void()> &work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Contestant contestant(std::string name, std::function<void()> once) {
  return {std::move(name), [once = std::move(once)](int times) {
            return secondsOf([&] {
                     for (int i = 0; i < times; ++i)
                       once();
                   }) /
                   times;
          }};
}

std::vector<double> race(const std::vector<Contestant> &contestants, int rounds, double lapSeconds) {
  std::vector<int> times;
  for (const Contestant &one : contestants) {
    one.lap(1); // the first lap may compile or allocate
    const double seconds = one.lap(2);
    times.push_back(static_cast<int>(std::clamp(std::ceil(lapSeconds / std::max(seconds, 1e-9)), 1.0, 1e6)));
  }
  std::vector<std::vector<double>> laps(contestants.size(), std::vector<double>(static_cast<size_t>(rounds)));
  for (size_t round = 0; round < laps.front().size(); ++round)
    for (size_t turn = 0; turn < contestants.size(); ++turn) {
      const size_t i = (turn + round) % contestants.size();
      contestants[i].lap((times[i] + 1) / 2); // brings the contestant's data back into the caches
      laps[i][round] = contestants[i].lap(times[i]);
    }
  std::vector<double> seconds;
  const double first = median(laps[0]);
  for (const std::vector<double> &one : laps) {
    std::vector<double> ratios;
    for (size_t round = 0; round < one.size(); ++round)
      ratios.push_back(one[round] / laps[0][round]);
    seconds.push_back(first * median(std::move(ratios)));
  }
  return seconds;
}

} // namespace halftone::benchmarks
