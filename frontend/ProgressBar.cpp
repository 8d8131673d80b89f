// The progress bar, and the one place where the library writes.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ProgressBar.h"
#include "halftone/Model.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <mutex>

namespace halftone {

namespace {
std::mutex sinkMutex;
std::function<void(std::string_view)> sink;
} // namespace

void set_output(std::function<void(std::string_view)> newSink) {
  std::lock_guard lock(sinkMutex);
  sink = std::move(newSink);
}

namespace detail {

void writeOutput(const std::string &text) {
  std::function<void(std::string_view)> target;
  {
    std::lock_guard lock(sinkMutex);
    target = sink;
  }
  if (target) {
    target(text);
    return;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

ProgressBar::ProgressBar(int verbose, std::optional<int64_t> steps) : verbose_(verbose), steps_(steps) {}

static std::string duration(double seconds) {
  auto whole = static_cast<int64_t>(seconds);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole % 3600 / 60, whole % 60);
  if (whole >= 60)
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}s", whole);
}
static std::string perStep(double seconds) {
  if (seconds >= 1.0 || seconds == 0.0)
    return fmt::format("{:.0f}s/step", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.0f}ms/step", seconds * 1e3) : fmt::format("{:.0f}us/step", seconds * 1e6);
}

std::string ProgressBar::line(const Logs &logs, bool final) const {
  double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  double each = done_ ? elapsed / static_cast<double>(done_) : 0.0;
  std::string text;
  if (verbose_ == 1) {
    constexpr int64_t cells = 20;
    std::string total = steps_ ? std::to_string(*steps_) : "Unknown";
    int64_t full = final ? cells : steps_ && *steps_ ? cells * done_ / *steps_ : 0;
    text = fmt::format("{:>{}}/{} ", done_, total.size(), total);
    for (int64_t i = 0; i < cells; ++i)
      text += i < full ? "━" : "─";
    text += " ";
  } else {
    text = fmt::format("{}/{} - ", done_, steps_ ? *steps_ : done_);
  }
  text += final || !steps_ ? duration(elapsed) : duration(each * static_cast<double>(*steps_ - done_));
  text += " " + perStep(each);
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
  if (now - drawn_ < std::chrono::milliseconds(100))
    return;
  drawn_ = now;
  std::string text = line(logs, false);
  size_t length = text.size();
  text.append(width_ > length ? width_ - length : 0, ' ');
  width_ = std::max(width_, length);
  writeOutput("\r" + text);
}

void ProgressBar::finish(const Logs &logs) {
  if (verbose_ == 0)
    return;
  std::string text = line(logs, true);
  if (verbose_ == 1) {
    text.append(width_ > text.size() ? width_ - text.size() : 0, ' ');
    text = "\r" + text;
  }
  writeOutput(text + "\n");
}

} // namespace detail
} // namespace halftone
