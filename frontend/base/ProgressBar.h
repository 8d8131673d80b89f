// Keras's progress bar: 20 cells, n/N, elapsed or remaining time, time per step, values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Callbacks.h"
#include <chrono>
#include <optional>
#include <string>

namespace halftone::detail {

/// Writes to the sink of set_output(). `verbose` 1: a bar that redraws itself, in color on a terminal; 2: one line at
/// the end; any other value: nothing.
class ProgressBar {
public:
  ProgressBar(int64_t verbose, std::optional<int64_t> steps);
  void update(int64_t step, const Logs &logs);
  /// Appends the number of compiled kernels to the line, until its next update.
  void compiling(size_t done, size_t count);
  /// Erases the line.
  void clear();
  /// Writes the final line, which shows all steps, and returns the number of steps.
  int64_t finish(const Logs &logs);

private:
  std::string line(const Logs &logs, bool final) const;
  void draw(const std::string &text);
  using Clock = std::chrono::steady_clock;
  /// The text enclosed in the escape codes for a color, or for bold.
  std::string painted(const char *code, const std::string &text) const;
  int64_t verbose_;
  bool isColoured_;
  std::optional<int64_t> steps_;
  int64_t done_ = 0;
  Logs logs_; // as last drawn
  size_t width_ = 0;
  Clock::time_point start_ = Clock::now(), drawn_{};
  std::optional<Clock::time_point> afterFirst_; // end of the first step, which is slower than the others
};

/// Returns true if writeOutput() writes to a terminal with colors enabled: stdout, without NO_COLOR in the environment.
bool takesColour();
/// Writes text to the sink of set_output(). In a distributed run only the first process writes.
void writeOutput(const std::string &text);

} // namespace halftone::detail
