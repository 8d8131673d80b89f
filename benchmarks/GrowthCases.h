// The cases of the benchmark growth: work on models, files and configs of a given size.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// The CPU time of this process in seconds.
double cpuSeconds();

/// The CPU time of the measured part of a case. Everything before begin() is setup.
class CpuClock {
public:
  void begin() { begun_ = cpuSeconds(); }
  double seconds() const { return cpuSeconds() - begun_; }

private:
  double begun_ = cpuSeconds();
};

struct GrowthCase {
  std::string what;
  int64_t count; // n; 4n is measured too
  std::function<void(int64_t, CpuClock &)> work;
};
/// Files are written to the working directory.
std::vector<GrowthCase> growthCases();

} // namespace halftone::benchmarks
