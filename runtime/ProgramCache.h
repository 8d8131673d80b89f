// A function compiled once per input signature: a cache of players and the function that makes new ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Device.h"
#include "runtime/Player.h"
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace halftone {

/// Division of feeds into consecutive groups, such as the inputs, targets and weights of a batch, or the arguments of a
/// function.
struct FeedLayout {
  std::vector<int64_t> groups{};      // number of feeds per group; empty if the function does not split its feeds
  int64_t allRows = 0;                // rows of a batch that processes share; the program may depend on it
  std::vector<int64_t> numbers{};     // function arguments that are compiled in
  std::vector<int64_t> openExtents{}; // data-dependent extents of feeds that the host computes from other feeds
  /// Splits a list with one element per feed into the elements of each group.
  template <class T> std::vector<std::vector<T>> split(const std::vector<T> &feeds) const {
    std::vector<std::vector<T>> parts;
    auto next = feeds.begin();
    for (const int64_t count : groups) {
      parts.emplace_back(next, next + count);
      next += count;
    }
    return parts;
  }
  friend bool operator==(const FeedLayout &, const FeedLayout &) = default;
};

/// Maps variables to the variables whose memory a program binds instead.
using VariableSubstitutes = std::map<VariableHandle, VariableHandle>;

/// The key of a player: the types and layout of the feeds, the configuration epoch (policies, flags) of the trace, the
/// device, the thread's settings if the trace read them, and substitutes for its variables.
struct ProgramKey {
  static constexpr uint64_t anySettings = 0; // valid for every thread
  static constexpr uint64_t statesOfEpoch =
      64; // epoch / statesOfEpoch counts changes; the remainder is a state that can recur

  std::vector<TensorType> feeds;
  FeedLayout layout{};
  uint64_t epoch = 0;
  Device device = Device::cpu();
  uint64_t threadSettings = anySettings;
  std::shared_ptr<const VariableSubstitutes> substitutes{}; // null: the variables' own memory
  std::string str() const;                                  // "(128x784xf32; 128xi32)": groups end with a semicolon
  friend bool operator==(const ProgramKey &, const ProgramKey &) = default;
};

/// Safe to use from several threads. While one thread compiles, others that need a new key wait, so no key is compiled
/// twice. No lock is held meanwhile, since `compile` runs user code. runtime_error if `compile` uses the same program,
/// or waits for a thread whose own `compile` waits for this one.
class ProgramCache {
public:
  /// Creates the player for a key. It may set the key's threadSettings to anySettings.
  using Compile = std::function<StatusOr<std::shared_ptr<Player>>(ProgramKey &key)>;
  using Warn = std::function<void(const std::string &message)>;
  /// Limits on the players kept. Text and images commonly come in some hundred sizes, and the player of a small model
  /// takes a few KiB. The player of a large model holds its own arena, so the total size of the arenas is limited too.
  struct Bounds {
    size_t limit = 1024;
    size_t always = 64; // kept regardless of the size of their arenas
    int64_t arenaBytes = int64_t(2) << 30;
  };

  /// `name` appears in messages. Without `compile` the program is closed: it holds only inserted players.
  explicit ProgramCache(std::string name, Compile compile = {}, Warn warn = {}) // Bounds() needs the whole class
      : ProgramCache(std::move(name), std::move(compile), std::move(warn), Bounds()) {}
  ProgramCache(std::string name, Compile compile, Warn warn, Bounds bounds);

  /// Returns the player for `key` in constant time. If there is none, the cache compiles one and drops players of older
  /// configuration epochs, which no call can request again. While the cache then exceeds its bounds, it drops the least
  /// recently used player; the first time, it calls `warn` with the feed and the dimension that vary. A closed program
  /// gives key_error with the list of its keys.
  StatusOr<std::shared_ptr<Player>> find(ProgramKey key);
  /// Calls find() with the types of `feeds`, then play().
  StatusOr<std::vector<Tensor>> play(std::span<const Tensor> feeds, const FeedLayout &layout = {}, uint64_t epoch = 0,
                                     Device device = Device::cpu(), uint64_t threadSettings = ProgramKey::anySettings,
                                     const std::shared_ptr<const VariableSubstitutes> &substitutes = nullptr);
  void insert(ProgramKey key, std::shared_ptr<Player> player);
  void clear();

  int64_t compileCount() const;         // successful calls of Compile so far
  std::vector<ProgramKey> keys() const; // most recently used first
  /// The most recently used player for these types, or for any types if the list is empty; null if there is none.
  std::shared_ptr<Player> latest(const std::vector<TensorType> &feeds, const FeedLayout &layout) const;

private:
  struct Entry {
    ProgramKey key;
    std::shared_ptr<Player> player;
  };
  using Entries = std::list<Entry>;
  /// The player whose key has this hash and satisfies `matches`, which becomes the most recently used one; null if
  /// there is none. Call it under the mutex. `hash` is called only if the most recently used player has another key.
  template <class Matches, class Hash> std::shared_ptr<Player> knownLocked(Matches matches, Hash hash);
  void eraseLocked(Entries::iterator entry);
  void evict(std::string &warning);
  Status refuseWhileCompiling() const;
  Status refusal() const;
  void insertLocked(ProgramKey key, std::shared_ptr<Player> player, std::string &warning);

  const std::string name_;
  const Compile compile_;
  const Warn warn_;
  const Bounds bounds_;
  mutable std::mutex mutex_;
  std::atomic<std::thread::id> compiler_{};                   // the thread that is compiling, if any
  Entries entries_;                                           // most recently used first
  std::unordered_multimap<size_t, Entries::iterator> byHash_; // by the hash of the key
  int64_t arenaBytes_ = 0;                                    // of all players
  int64_t compileCount_ = 0;
  bool warned_ = false;
};

} // namespace halftone
