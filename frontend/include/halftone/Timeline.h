// The timeline of a training step: when its kernels run, and when its exchanges with other processes do.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Model.h"
#include <cstdint>
#include <string>
#include <vector>

namespace halftone {

/// All times are in seconds since the step's begin.
struct HALFTONE_API StepTimeline {
  /// exchange: values travel to and from other processes, on a thread of their own. wait: the step does nothing else until
  /// an exchange has ended.
  enum class Kind : uint8_t { kernel, exchange, wait };
  struct Row {
    Kind kind;
    std::string name;  // the kernel and where it comes from; "2 of 3" for exchanges and waits
    double begin, end; // an exchange is begun by the step, and may travel later: `travels` says when
    double travels;    // of other rows `begin`
    int64_t bytes = 0; // of an exchange: those of its values
  };
  std::vector<Row> rows; // by `begin`
  double seconds = 0;    // of the whole step
  int64_t rank = 0;      // of the process
  /// A table in milliseconds, and how much of the exchanges' time the step waited.
  std::string text() const;
  /// Chrome's trace format, which chrome://tracing and Perfetto show: the process is the rank, thread 0 the step, thread 1 the
  /// exchanges.
  std::string json() const;
};

/// Plays the training step that was compiled last a few times, on zeros and on copies of the variables, and gives the play of
/// median length; the model stays as it is. In several processes all make the call, and each gets its own times. value_error
/// for a model without compile(), that runs eagerly, or that is on a GPU, whose kernels the host does not wait for;
/// device_error when there is no room for the copies; runtime_error when another process leaves.
HALFTONE_API StepTimeline step_timeline(const Model &model);

} // namespace halftone
