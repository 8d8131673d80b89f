// The processes of a run, with the thread that talks to them while the others compute.
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

/// Says, while it lives, in which call this thread starts work of a group: "fit()". Scopes may be nested: "fit(): evaluate()".
class ExchangeScope {
public:
  explicit ExchangeScope(std::string_view words);
  ~ExchangeScope();
  ExchangeScope(const ExchangeScope &) = delete;
  static const std::string &words();

private:
  size_t outer_; // the length of the words around it
};

/// Totals over all work of a group.
struct GroupTimes {
  int64_t count = 0;
  double seconds = 0, waited = 0; // that the work took; that threads waited for it
};

/// Runs work with collectives in the order in which it was started, on a thread of its own or, if nobody has begun it, on
/// the thread that waits for it. After a failure all later work fails in the same way: the processes are no longer in
/// step. Safe to use from several threads, though all processes must start the same work in the same order.
class ProcessGroup {
public:
  using Work = std::function<Status(Collectives &)>;
  explicit ProcessGroup(std::unique_ptr<Communicator> communicator);
  /// Waits for the work that has begun; the rest is dropped.
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup &) = delete;

  int rank() const { return communicator_->rank(); }
  int size() const { return communicator_->size(); }
  /// Begins work. The number that it gets goes to wait(), which must be called before memory that the work uses is freed.
  /// The label of its exchanges consists of the words of the thread's scopes, of `name`, and of that number; so if processes
  /// differ in the calls that they make, an error names both. Neither may depend on the rank.
  uint64_t start(std::string_view name, Work work);
  /// Waits until the work of that number, and all work before, is done; returns the first failure so far.
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
  std::thread thread_; // none if the system starts none: threads that wait run the work
};

} // namespace halftone
