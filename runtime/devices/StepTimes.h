// Measures how long each launch of a plan takes, and records when launches and collectives of a play run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Player.h"
#include <vector>

namespace halftone {

/// The time that a player's steps take.
struct StepTimes {
  int64_t plays = 0; // the times are medians over these
  /// Of each step of the plan, all iterations of a repeat together; 0 for copies and for launches joined to the one before.
  std::vector<double> seconds;
  double total = 0; // of one play: the launches, and all that the player does between them
};

/// Plays the plan with feeds of zeros on copies of its variables: once to warm up, then a few times, until about a
/// second has passed. The player and its variables stay as they are. value_error for a device that is not the host's,
/// whose launches the host does not wait for; device_error when there is no room for the copies.
StatusOr<StepTimes> measureSteps(const Player &player);

/// One play of a plan: times in seconds since its begin.
struct PlayRecord {
  struct Launch {
    size_t step; // of the plan
    double begin, end;
  };
  struct Collective {
    size_t step;
    double started;          // by the play; the exchange may begin later, on another thread
    double begin, end;       // of the exchange with the other processes
    double awaited, arrived; // the play waited from one to the other
  };
  std::vector<Launch> launches;
  std::vector<Collective> collectives; // none if the process is alone
  double total = 0;
};

/// Plays the plan a few times as measureSteps() does, but together with the other processes, which make the same call, and
/// records the play of median length. Errors as measureSteps(), and those of play().
StatusOr<PlayRecord> recordPlay(const Player &player);

} // namespace halftone
