// A function compiled once per input signature: the players made so far, and how to make one more.
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

/// How feeds fall into groups, one after the other: a batch's inputs, targets and weights; the arguments of a function.
struct FeedLayout {
  std::vector<int64_t> groups{};      // the count of feeds of each; empty if the function does not split its feeds
  int64_t allRows = 0;                // of a batch that processes share, on which the program may depend
  std::vector<int64_t> numbers{};     // arguments of a function that are compiled in
  std::vector<int64_t> openExtents{}; // of feeds that the host computes of other feeds, as the data tell them
  /// The members of each group, of a list with a member for each feed.
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

/// The memory that a program binds in place of that of variables, by theirs.
using VariableSubstitutes = std::map<VariableHandle, VariableHandle>;

/// The key of a player: the types and layout of the feeds, the configuration epoch (policies, flags) under which the trace
/// was made, the device, the thread's own settings, if the trace read them, and substitutes of its variables.
struct ProgramKey {
  static constexpr uint64_t anySettings = 0; // serves every thread
  static constexpr uint64_t statesOfEpoch =
      64; // epoch / statesOfEpoch counts changes; the rest is a state that comes back

  std::vector<TensorType> feeds;
  FeedLayout layout{};
  uint64_t epoch = 0;
  Device device = Device::cpu();
  uint64_t threadSettings = anySettings;
  std::shared_ptr<const VariableSubstitutes> substitutes{}; // null for the variables' own memory
  std::string str() const;                                  // "(128x784xf32; 128xi32)": groups end with a semicolon
  friend bool operator==(const ProgramKey &, const ProgramKey &) = default;
};

/// Safe to use from several threads. One compiles while the others that need a new key wait, so that no key is compiled
/// twice; it holds no lock meanwhile, since `compile` runs users' code. runtime_error if `compile` uses the same program,
/// or waits for a thread whose own `compile` waits for it.
class ProgramCache {
public:
  /// Makes the player for a key. It may set the key's threadSettings to anySettings.
  using Compile = std::function<StatusOr<std::shared_ptr<Player>>(ProgramKey &key)>;
  using Warn = std::function<void(const std::string &message)>;
  /// How many players stay. Texts and images of some hundred sizes are common, and a player of a small model takes a few KiB; one
  /// of a large model holds an arena of its own, so many of them must not fill the memory.
  struct Bounds {
    size_t most = 1024;
    size_t always = 64; // stay, whatever their arenas take
    int64_t arenaBytes = int64_t(2) << 30;
  };

  /// `name` appears in messages. Without `compile` the program is closed: it holds only players that were inserted.
  explicit ProgramCache(std::string name, Compile compile = {}, Warn warn = {}) // Bounds() needs the whole class
      : ProgramCache(std::move(name), std::move(compile), std::move(warn), Bounds()) {}
  ProgramCache(std::string name, Compile compile, Warn warn, Bounds bounds);

  /// The player for `key`, in constant time. If there is none, the cache compiles one, and drops those of older configuration
  /// epochs, which no call can ask for again. While there are then more than the bounds allow, it drops the least recently used
  /// one, and the first time calls `warn` with the feed and the dimension that vary. A closed program gives key_error with the
  /// list of its keys.
  StatusOr<std::shared_ptr<Player>> find(ProgramKey key);
  /// find() by the types of `feeds`, then play().
  StatusOr<std::vector<Tensor>> play(std::span<const Tensor> feeds, const FeedLayout &layout = {}, uint64_t epoch = 0,
                                     Device device = Device::cpu(), uint64_t threadSettings = ProgramKey::anySettings,
                                     const std::shared_ptr<const VariableSubstitutes> &substitutes = nullptr);
  void insert(ProgramKey key, std::shared_ptr<Player> player);
  void clear();

  int64_t compileCount() const;         // successful calls of Compile, since the start
  std::vector<ProgramKey> keys() const; // most recently used first
  /// The most recently used player for these types, or for any if they are empty; null if there is none.
  std::shared_ptr<Player> latest(const std::vector<TensorType> &feeds, const FeedLayout &layout) const;

private:
  struct Entry {
    ProgramKey key;
    std::shared_ptr<Player> player;
  };
  using Entries = std::list<Entry>;
  /// The player with a key of this hash that satisfies `matches`, now the most recently used one; null when there is none. Call it
  /// under the mutex. `hash` is called if the most recently used one has another key.
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
  std::atomic<std::thread::id> compiler_{};                   // the thread that compiles now, if any
  Entries entries_;                                           // most recently used first
  std::unordered_multimap<size_t, Entries::iterator> places_; // by the hash of the key
  int64_t arenaBytes_ = 0;                                    // of all players
  int64_t compileCount_ = 0;
  bool warned_ = false;
};

} // namespace halftone
