// Streams and events: work that the host has queued, and the late, seeded order in which it runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Random.h"
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace halftone::emulator {

/// One record of an event in a stream.
struct Mark {
  bool reached = false;
  std::chrono::steady_clock::time_point time{};
};

struct Event {
  std::shared_ptr<Mark> mark; ///< of its last record; null if never recorded
};

struct Operation {
  std::function<void()> run;
  std::shared_ptr<Mark> after; ///< may run once this mark is reached; null: immediately
  /// May run once this returns true, which another process or device brings about; null: immediately.
  std::function<bool()> isReady = nullptr;
};

struct Stream {
  std::deque<Operation> queue;
  bool isBlocking = true; ///< ordered with the null stream
};

/// All streams of a context. Queued work runs only when the host waits for something.
class Streams {
public:
  /// `pause` lets others work while all remaining work waits for them.
  Streams(Random &random, std::function<void()> pause) : random_(random), pause_(std::move(pause)) {}

  Stream *create(bool isBlocking);
  bool isStream(const Stream *stream) const;
  size_t size() const { return streams_.size(); }
  /// Returns true if all queued work has run.
  bool isIdle() const;
  /// Runs the stream's work, then removes it.
  void destroy(Stream *stream);

  /// Queues work. On the null stream (null) it runs immediately, after all work of blocking streams.
  void add(Stream *stream, std::function<void()> run);
  void addWhenReady(Stream *stream, std::function<void()> run, std::function<bool()> isReady);
  void wait(Stream *stream, std::shared_ptr<Mark> mark);
  void record(Stream *stream, Event &event);

  /// Runs one operation of a stream that `Random` draws among those that can proceed, or pauses if all of them wait for
  /// others. Returns false if there is nothing to do.
  bool runOne();
  void finish(const Stream *stream);
  void finish(const Mark &mark);
  void finishAll();
  /// Drops all queued work, since an earlier launch has failed.
  void drop();

private:
  void finishBlocking();

  Random &random_;
  std::function<void()> pause_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

} // namespace halftone::emulator
