// Draws the progress bar; the only code that prints text from the library.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProgressBar.h"
#include "frontend/base/ProcessRun.h"
#include "halftone/Model.h"
#include "runtime/base/Environment.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/WriteFile.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <mutex>
#include <unistd.h>

namespace halftone {

namespace {
std::mutex sinkMutex;
std::function<void(std::string_view)> &sink() {
  static auto &made = *new std::function<void(std::string_view)>;
  return made;
}
} // namespace

void set_output(std::function<void(std::string_view)> newSink) {
  const ForkSafeLock lock(sinkMutex);
  sink().swap(newSink); // the old sink is destroyed after the unlock, since it may own user objects
}

namespace detail {

void writeOutput(const std::string &text) {
  if (!isFirstProcess())
    return;
  std::function<void(std::string_view)> target;
  {
    const ForkSafeLock lock(sinkMutex);
    target = sink();
  }
  if (target) {
    target(text);
    return;
  }
  (void)writeStream(stdout, text); // on failure the run continues without its log
}

bool takesColour() {
  {
    const ForkSafeLock lock(sinkMutex);
    if (sink())
      return false;
  }
  return ::isatty(STDOUT_FILENO) == 1 && environmentValue("NO_COLOR").empty() && environmentValue("TERM") != "dumb";
}

ProgressBar::ProgressBar(int64_t verbose, std::optional<int64_t> steps)
    : verbose_(verbose), isColoured_(verbose == 1 && takesColour()), steps_(steps) {}

// The codes are Keras's.
static constexpr const char *bold = "1", *green = "32", *white = "37";
std::string ProgressBar::painted(const char *code, const std::string &text) const {
  return isColoured_ && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}
/// The number of terminal columns of the text: its characters without escape codes.
static size_t columnsOf(std::string_view text) {
  size_t columns = 0;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\x1b')
      i = std::min(text.find('m', i), text.size());
    else
      columns += (static_cast<uint8_t>(text[i]) & 0xc0) != 0x80; // not a UTF-8 continuation byte
  return columns;
}

/// The remaining time, as Keras shows it: in whole seconds, minutes or hours.
static std::string remaining(double seconds) {
  auto whole = static_cast<int64_t>(std::max(seconds, 0.0));
  if (whole > 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole % 3600 / 60, whole % 60);
  if (whole > 60)
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}s", whole);
}
static std::string perStep(double seconds) {
  if (seconds >= 1.0 || seconds == 0.0)
    return fmt::format("{:.0f}s/step", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.0f}ms/step", seconds * 1e3) : fmt::format("{:.0f}us/step", seconds * 1e6);
}
static double secondsBetween(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::string ProgressBar::line(const Logs &logs, bool final) const {
  Clock::time_point now = Clock::now();
  double elapsed = secondsBetween(start_, now), each = 0.0;
  if (done_ > 1 && afterFirst_)
    each = secondsBetween(*afterFirst_, now) / static_cast<double>(done_ - 1);
  else if (done_ > 0)
    each = elapsed / static_cast<double>(done_);
  const bool known = steps_.value_or(0) > 0;
  std::string text = fmt::format("{:>7}/Unknown ", done_);
  if (known) {
    std::string total = std::to_string(*steps_);
    text = painted(bold, fmt::format("{:>{}}/{}", done_, total.size(), total)) + " ";
  }
  if (known && verbose_ == 1) {
    constexpr int64_t cells = 20;
    double share = static_cast<double>(done_) / static_cast<double>(*steps_);
    auto full = static_cast<int64_t>(cells * std::min(share, 1.0));
    std::string filled, rest;
    for (int64_t i = 0; i < cells; ++i)
      (i < full ? filled : rest) += i < full || isColoured_ ? "━" : "─";
    text += painted(green, filled) + painted(white, rest) + " ";
  }
  if (verbose_ == 2)
    text += "- ";
  text += painted(bold, known && !final ? remaining(each * static_cast<double>(*steps_ - done_))
                                        : fmt::format("{:.0f}s", elapsed));
  text += (verbose_ == 2 ? " - " : " ") + perStep(each);
  for (const auto &[name, value] : logs) {
    bool fixed = verbose_ == 1 ? std::abs(value) > 1e-3 : value > 1e-3;
    text += fixed ? fmt::format(" - {}: {:.4f}", name, value) : fmt::format(" - {}: {:.4e}", name, value);
  }
  return text;
}

void ProgressBar::update(int64_t step, const Logs &logs) {
  done_ = step;
  if (verbose_ != 1)
    return;
  Clock::time_point now = Clock::now();
  if (step == 1)
    afterFirst_ = now;
  if (now - drawn_ < std::chrono::milliseconds(50))
    return;
  drawn_ = now;
  logs_ = logs;
  draw(line(logs, false));
}

void ProgressBar::compiling(size_t done, size_t count) {
  if (verbose_ == 1)
    draw(fmt::format("{} - compiling: {}/{} kernels", line(logs_, false), done, count));
}

/// Redraws the line over the previous one and erases its remainder.
void ProgressBar::draw(const std::string &text) {
  const size_t length = columnsOf(text);
  writeOutput("\r" + text + std::string(width_ > length ? width_ - length : 0, ' '));
  width_ = length;
}

void ProgressBar::clear() {
  if (width_ == 0)
    return;
  draw("");
  writeOutput("\r");
}

int64_t ProgressBar::finish(const Logs &logs) {
  if (!steps_)
    steps_ = done_;
  done_ = *steps_;
  if (verbose_ == 1) {
    draw(line(logs, true));
    writeOutput("\n");
  } else if (verbose_ == 2 && done_ > 0) {
    writeOutput(line(logs, true) + "\n");
  }
  return done_;
}

} // namespace detail
} // namespace halftone
