// Measures the duration of each launch of a plan, and records when the launches and collectives of a play run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/Player.h"
#include <vector>

namespace halftone {

/// The times of a player's steps.
struct StepTimes {
  int64_t plays = 0; // number of plays; the times are medians over them
  /// One per step of the plan, with all iterations of a repeat together; 0 for copies and for launches joined to the
  /// previous one.
  std::vector<double> seconds;
  double total = 0; // of one play: the launches and the player's overhead between them
};

/// Plays the plan with feeds of zeros on copies of its variables: once to warm up, then up to 20 times, until about a
/// second has passed. The player and its variables are unchanged. value_error for a device other than the host's, whose
/// launches the host does not wait for; device_error if there is no memory for the copies.
StatusOr<StepTimes> measureSteps(const Player &player);

/// A record of one play of a plan. Times are in seconds since its start.
struct PlayRecord {
  struct Launch {
    size_t step; // of the plan
    double begin, end;
  };
  struct Collective {
    size_t step;
    double started;          // by the play; the exchange may begin later, on another thread
    double begin, end;       // of the exchange with the other processes
    double awaited, arrived; // the play waited from `awaited` to `arrived`
  };
  std::vector<Launch> launches;
  std::vector<Collective> collectives; // none if the process runs alone
  double total = 0;
};

/// Plays the plan a few times as measureSteps() does, but together with the other processes, which make the same call,
/// and records the play of median duration. Errors are those of measureSteps() and play().
StatusOr<PlayRecord> recordPlay(const Player &player);

} // namespace halftone
