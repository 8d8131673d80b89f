// Threads that represent processes: a communicator for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/communication/Communicator.h"
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace halftone::test {

/// The messages between threads, by sender and receiver.
struct Post {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages;
  std::map<std::pair<int, int>, std::deque<std::string>> labels;
};

class ThreadCommunicator final : public Communicator {
public:
  ThreadCommunicator(std::shared_ptr<Post> post, int rank, int size)
      : post_(std::move(post)), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Status exchange(std::string_view label, std::span<const Outgoing> sends,
                  std::span<const Incoming> receives) override {
    std::unique_lock lock(post_->mutex);
    std::set<int> receivers, senders;
    for (const Outgoing &send : sends) {
      if (receivers.insert(send.rank).second)
        post_->labels[{rank_, send.rank}].emplace_back(label);
      post_->messages[{rank_, send.rank}].emplace_back(send.bytes.begin(), send.bytes.end());
    }
    post_->changed.notify_all();
    for (const Incoming &receive : receives) {
      if (senders.insert(receive.rank).second) {
        auto &labels = post_->labels[{receive.rank, rank_}];
        post_->changed.wait(lock, [&] { return !labels.empty(); });
        if (labels.front() != label)
          return {ErrorKind::runtime_error,
                  fmt::format("the processes are not in step: rank {} is in {}, rank {} in {}", rank_, label,
                              receive.rank, labels.front())};
        labels.pop_front();
      }
      auto &queue = post_->messages[{receive.rank, rank_}];
      post_->changed.wait(lock, [&] { return !queue.empty(); });
      if (queue.front().size() != receive.bytes.size())
        return {ErrorKind::runtime_error, "a message of another size"};
      std::copy(queue.front().begin(), queue.front().end(), receive.bytes.begin());
      queue.pop_front();
    }
    return {};
  }
  void setAwaited(bool isAwaited) override { isAwaited_ = isAwaited; }
  bool isAwaited() const { return isAwaited_; }

private:
  std::atomic<bool> isAwaited_ = false;
  std::shared_ptr<Post> post_;
  int rank_, size_;
};

/// Held while a thread checks: Catch2 accepts assertions from one thread at a time.
inline std::mutex checking;

/// Runs `body` in one thread per rank.
inline void inThreads(int size, const std::function<void(Communicator &)> &body) {
  auto post = std::make_shared<Post>();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      ThreadCommunicator own(post, rank, size);
      body(own);
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace halftone::test
