// Files that travel: safetensors, and checkpoints from which training resumes exactly.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Model.h"

namespace halftone {

/// The tensors of a safetensors file, in the order of its header. They share the file's memory: writes to them stay in
/// this process, and nobody may shorten the file in place while they live (save_safetensors() replaces it, and does no
/// harm). io_error that names the file, the expected contents and those found.
HALFTONE_API std::vector<std::pair<std::string, Tensor>> load_safetensors(const std::string &path);
/// Writes a new file beside `path` and renames it: if this fails (io_error), the old file stays. Names are UTF-8 and
/// differ (value_error).
HALFTONE_API void save_safetensors(const std::string &path, const std::vector<std::pair<std::string, Tensor>> &tensors);

/// All that a resumed run needs, in one safetensors file: weights, states of layers and random layers, the optimizer's
/// variables, loss scale and counters, the count of epochs, and the process's sequence of seeds, from which shuffles
/// draw. A file of one policy restores under another.
class HALFTONE_API Checkpoint {
public:
  explicit Checkpoint(const Model &model);
  /// Writes a new file beside `path` and renames it: whenever the process dies, `path` has the whole old file or the
  /// whole new one. value_error when the model is not built.
  void save(const std::string &path) const;

  struct Restored {
    int64_t epoch; // finished epochs, for FitArgs::initial_epoch
    int64_t step;  // updates by the optimizer
    /// A line for each value that was converted to another dtype, each part of a loss scale that begins anew because the file has
    /// none, and each part of the file's loss scale that the model has no use for.
    std::vector<std::string> converted;
  };
  /// Checks the whole file before it writes all variables at once; after an error no variable has changed. io_error for
  /// a damaged file; value_error when the model is not built or its variables are not those of the file, by path
  /// or, where automatic names differ, by the layers' classes. In a callback's on_train_begin, fit() goes on at `epoch`.
  Restored restore(const std::string &path) const;

private:
  Model model_;
};
} // namespace halftone
