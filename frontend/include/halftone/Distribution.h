// Training by several processes: keras.distribution.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Version.h"
#include <cstdint>
#include <optional>
#include <string>

namespace halftone::distribution {

struct DataParallelArgs {
  /// "mpi": the processes that mpirun, Slurm or PMIx has started.
  std::string communicator = "mpi";
  /// fit() compares all weights of all processes after so many steps, and runtime_error names the first rank and the
  /// first variable that differ. 0: never.
  int64_t check_weights_every = 0;
  /// Training divides the slot variables of the optimizer among the processes: each keeps those of the elements that it
  /// updates, and then all get the new weights. The results have the same bits. Every process must then call
  /// Model::save() and Checkpoint::save(), which write in rank 0. A state that was divided stays so.
  bool shard_optimizer_state = false;
};

/// Every process has the whole model and computes its part of each batch. A batch has the size that the user gives to
/// fit(), for all processes together. fit() begins with the weights, the state of the optimizer and the seeds of rank 0.
/// Logs, and so callbacks, have the same values in every process; rank 0 alone prints and writes files.
class HALFTONE_API DataParallel {
public:
  explicit DataParallel(const DataParallelArgs &args = {});
  const DataParallelArgs &args() const { return args_; }

private:
  DataParallelArgs args_;
};

/// From now on fit(), evaluate() and predict() of this process run together with those of the others, which make the same
/// calls in the same order; nullopt: alone. Joins the run at the first call. runtime_error when that fails, value_error for
/// an unknown communicator.
HALFTONE_API void set_distribution(const std::optional<DataParallel> &value);
/// The value of set_distribution(); nullopt at first.
HALFTONE_API std::optional<DataParallel> distribution();
/// The number of this process, 0 to size() - 1, and the count of processes; 0 and 1 without a distribution.
HALFTONE_API int64_t rank();
HALFTONE_API int64_t size();

struct ExchangeTimes {
  int64_t count = 0;              // of exchanges with other processes
  double seconds = 0, waited = 0; // that they took; that this process did nothing else meanwhile
};
/// Totals since the process joined the run. An exchange that training steps hide behind their own work is not waited for.
HALFTONE_API ExchangeTimes exchange_times();

} // namespace halftone::distribution
