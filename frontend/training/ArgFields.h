// Reflection over argument structs: visits fields with their names.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Distribution.h"
#include "halftone/Model.h"
#include <concepts>
#include <string_view>
#include <type_traits>

namespace halftone::detail {

/// Calls visit(name, field) for each field. `names` is a comma-separated list.
template <class Visit, class... Fields> void visitNamed(std::string_view names, const Visit &visit, Fields &...fields) {
  const auto next = [&names] {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 2)); // ", "
    return name;
  };
  (visit(next(), fields), ...);
}

/// Defines eachField(args, visit) for a struct. The list must name all of its fields in order: a struct with another
/// number of fields does not compile.
#define HALFTONE_ARG_FIELDS(Struct, ...)                                                                               \
  template <class Args, class Visit>                                                                                   \
    requires std::same_as<std::remove_const_t<Args>, Struct>                                                           \
  void eachField(Args &args, const Visit &visit) {                                                                     \
    auto &[__VA_ARGS__] = args;                                                                                        \
    visitNamed(#__VA_ARGS__, visit, __VA_ARGS__);                                                                      \
  }
HALFTONE_ARG_FIELDS(CompileArgs, optimizer, loss, loss_weights, metrics, weighted_metrics, run_eagerly,
                    steps_per_execution, jit_compile, auto_scale_loss, device, numerics, max_standalone_casts)
HALFTONE_ARG_FIELDS(FitArgs, batch_size, epochs, verbose, callbacks, validation_split, validation_data, shuffle,
                    class_weight, sample_weight, initial_epoch, steps_per_epoch, validation_steps,
                    validation_batch_size, validation_freq, initial_batch)
HALFTONE_ARG_FIELDS(EvaluateArgs, batch_size, verbose, sample_weight, steps, callbacks)
HALFTONE_ARG_FIELDS(PredictArgs, batch_size, verbose, steps, callbacks)
HALFTONE_ARG_FIELDS(BatchArgs, sample_weight, class_weight)
HALFTONE_ARG_FIELDS(distribution::DataParallelArgs, communicator, check_weights_every, shard_optimizer_state)
HALFTONE_ARG_FIELDS(callbacks::BackupAndRestoreArgs, save_freq, double_checkpoint, delete_checkpoint)
HALFTONE_ARG_FIELDS(callbacks::EarlyStoppingArgs, monitor, min_delta, patience, verbose, mode, baseline,
                    restore_best_weights, start_from_epoch)
HALFTONE_ARG_FIELDS(callbacks::ModelCheckpointArgs, monitor, verbose, save_best_only, save_weights_only, mode,
                    save_freq, initial_value_threshold)
HALFTONE_ARG_FIELDS(callbacks::ReduceLROnPlateauArgs, monitor, factor, patience, verbose, mode, min_delta, cooldown,
                    min_lr)
#undef HALFTONE_ARG_FIELDS

/// Returns true if processes may pass different values for an argument, which affects only what a process prints.
inline bool mayDiffer(std::string_view argument) { return argument == "verbose"; }

} // namespace halftone::detail
