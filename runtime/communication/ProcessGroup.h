// The processes of a run, and the thread that communicates with them while other threads compute.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/communication/Collectives.h"
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace halftone {

/// Names, while it lives, the call in which this thread starts work of a group: "fit()". Scopes may be nested: "fit():
/// evaluate()".
class ExchangeScope {
public:
  explicit ExchangeScope(std::string_view words);
  ~ExchangeScope();
  ExchangeScope(const ExchangeScope &) = delete;
  static const std::string &words();

private:
  size_t outer_; // length of the enclosing scopes' words
};

/// Totals over all work of a group.
struct GroupTimes {
  int64_t count = 0;
  double seconds = 0, waited = 0; // duration of the work; time for which threads waited for it
};

/// Runs work with collectives in the order in which it was started, on its own thread or, if the work has not begun, on
/// the thread that waits for it. After a failure all later work fails with the same error, since the processes are no
/// longer in step. Safe to use from several threads, but all processes must start the same work in the same order.
class ProcessGroup {
public:
  using Work = std::function<Status(Collectives &)>;
  explicit ProcessGroup(std::unique_ptr<Communicator> communicator);
  /// Waits for work that has begun and drops the rest.
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup &) = delete;

  int rank() const { return communicator_->rank(); }
  int size() const { return communicator_->size(); }
  /// Starts work and returns its number. wait() must be called for it before memory that the work uses is freed. The
  /// label of its exchanges consists of the words of the thread's scopes, of `name`, and of that number, so if
  /// processes make different calls, an error names both. Neither the words nor `name` may depend on the rank.
  uint64_t start(std::string_view name, Work work);
  /// Waits until the work of that number and all earlier work is done; returns the first failure so far.
  Status wait(uint64_t number);
  Status run(std::string_view name, Work work) { return wait(start(name, std::move(work))); }
  GroupTimes times();

private:
  struct Labelled {
    std::string label;
    Work work;
  };
  void serve();
  void runNext(std::unique_lock<std::mutex> &lock);

  std::unique_ptr<Communicator> communicator_;
  Collectives collectives_;
  std::mutex mutex_; // guards the fields below
  std::condition_variable changed_;
  std::deque<Labelled> open_; // not begun
  uint64_t started_ = 0, done_ = 0;
  bool running_ = false, stopping_ = false;
  int waiting_ = 0; // threads in wait()
  Status failure_;
  GroupTimes times_;
  std::thread thread_; // none if the system starts no thread; waiting threads then run the work
};

} // namespace halftone
