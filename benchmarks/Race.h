// Times several ways of doing the same, interleaved in one run, so that what else the machine does falls on all alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// Seconds that `work` takes.
double secondsOf(const std::function<void()> &work);

double median(std::vector<double> values);

/// One way of doing it. `lap(times)` does it so many times and returns the seconds for one.
struct Contestant {
  std::string name;
  std::function<double(int times)> lap;
};

/// A contestant that runs here.
Contestant contestant(std::string name, std::function<void()> once);

/// Seconds of each contestant, over `rounds` rounds in which each has one lap of about `lapSeconds` after half an untimed one;
/// the order turns from round to round. The first contestant's are its median; another's are those times the median, over the
/// rounds, of its lap by the first's: the machine's speed changes between rounds more than within one. An exception of a
/// contestant is the caller's.
std::vector<double> race(const std::vector<Contestant> &contestants, int rounds, double lapSeconds);

} // namespace halftone::benchmarks
