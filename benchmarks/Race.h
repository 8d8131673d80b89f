// Times several implementations of a task, interleaved in one run, so that other load on the machine affects all equally.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// The duration of `work` in seconds.
double secondsOf(const std::function<void()> &work);

double median(std::vector<double> values);

/// One implementation. `lap(times)` runs it `times` times and returns the seconds of a single run.
struct Contestant {
  std::string name;
  std::function<double(int times)> lap;
};

/// An implementation that runs in this process.
Contestant contestant(std::string name, std::function<void()> once);

/// The seconds of each contestant, over `rounds` rounds. In each round every contestant runs one lap of about
/// `lapSeconds`, after half an untimed lap; the order rotates from round to round. The result of the first contestant
/// is its median. The result of any other is that median times the median, over the rounds, of the ratio of its lap to
/// the first contestant's lap, since the machine's speed varies more between rounds than within one. Propagates
/// exceptions of contestants.
std::vector<double> race(const std::vector<Contestant> &contestants, int rounds, double lapSeconds);

} // namespace halftone::benchmarks
