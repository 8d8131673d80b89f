// Keras's progress bar: 20 cells, n/N, elapsed or remaining time, time per step, values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Callbacks.h"
#include <chrono>
#include <optional>
#include <string>

namespace halftone::detail {

/// Writes to the sink of set_output(). `verbose` 1: a bar that redraws itself, in colour if it goes to a terminal; 2: one line at
/// the end; any other value: nothing.
class ProgressBar {
public:
  ProgressBar(int64_t verbose, std::optional<int64_t> steps);
  void update(int64_t step, const Logs &logs);
  /// Appends to the line, until its next update, how many kernels of a compile are done.
  void compiling(size_t done, size_t count);
  /// Leaves nothing of the line.
  void clear();
  /// Writes the last line, which shows all steps, and returns how many steps there were.
  int64_t finish(const Logs &logs);

private:
  std::string line(const Logs &logs, bool final) const;
  void draw(const std::string &text);
  using Clock = std::chrono::steady_clock;
  /// The text between the codes of a colour, or of bold letters.
  std::string painted(const char *code, const std::string &text) const;
  int64_t verbose_;
  bool isColoured_;
  std::optional<int64_t> steps_;
  int64_t done_ = 0;
  Logs logs_; // that were drawn last
  size_t width_ = 0;
  Clock::time_point start_ = Clock::now(), drawn_{};
  std::optional<Clock::time_point> afterFirst_; // the end of the first step, which is slower than the others
};

/// Whether writeOutput() writes to a terminal whose user wants colours: stdout, without a NO_COLOR in the environment.
bool takesColour();
/// Writes text to the sink of set_output(). Of several processes only the first writes.
void writeOutput(const std::string &text);

} // namespace halftone::detail
