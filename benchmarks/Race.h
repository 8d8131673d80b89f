// Times several ways of doing the same, interleaved in one run, so that other load of the machine hits all alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// The seconds that `work` takes.
double secondsOf(const std::function<void()> &work);

double median(std::vector<double> values);

/// One way of doing it. `lap(times)` does it `times` times and returns the seconds of one.
struct Contestant {
  std::string name;
  std::function<double(int times)> lap;
};

/// A contestant that runs in this process.
Contestant contestant(std::string name, std::function<void()> once);

/// The seconds of each contestant, over `rounds` rounds. In each round each contestant has one lap of about
/// `lapSeconds`, after half an untimed lap; the order turns from round to round. The result of the first contestant is
/// its median. The result of another is that median times the median, over the rounds, of the quotient of its lap and
/// the first contestant's lap: the machine's speed changes more between rounds than within one. Passes on exceptions of
/// contestants.
std::vector<double> race(const std::vector<Contestant> &contestants, int rounds, double lapSeconds);

} // namespace halftone::benchmarks
