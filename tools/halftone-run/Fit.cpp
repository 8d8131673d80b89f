// halftone-run fit: trains a .keras model on data and saves it.
// SPDX-License-Identifier: Apache-2.0
#include "Commands.h"
#include "KerasModel.h"
#include "Training.h"
#include "UsageError.h"
#include "halftone/Callbacks.h"
#include "halftone/Distribution.h"
#include "halftone/Saving.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone::tools {
namespace {

/// Prints a line after each epoch and records the last loss.
class EpochLines : public Callback {
public:
  explicit EpochLines(const Arguments &arguments) : arguments_(&arguments) {}
  void on_epoch_end(int64_t epoch, Logs &logs) override {
    loss_ = logs["loss"];
    if (arguments_->json)
      printJson({{"epoch", epoch}, {"logs", jsonOf(logs)}});
    else if (!arguments_->quiet)
      print("epoch {} of {}: {}\n", epoch + 1, arguments_->epochs, logs.str());
  }
  double loss() const { return loss_; }

private:
  const Arguments *arguments_;
  double loss_ = NAN;
};

/// The number of epochs that a resumed run has completed; 0 without --resume. Throws UsageError if no epoch is left.
int64_t resumedEpoch(const Arguments &arguments, const Model &model) {
  if (arguments.resume.empty())
    return 0;
  const Checkpoint::Restored restored = Checkpoint(model).restore(arguments.resume);
  if (!arguments.quiet)
    for (const std::string &line : restored.converted)
      printError("halftone-run: {}: {}\n", arguments.resume, line);
  if (restored.epoch >= arguments.epochs)
    throw UsageError(fmt::format("--epochs {}: {} has already completed {} epochs, so no epoch is left",
                                 arguments.epochs, arguments.resume, restored.epoch));
  if (arguments.verbose)
    printError("halftone-run: resumed {} after epoch {}\n", arguments.resume, restored.epoch);
  return restored.epoch;
}

std::vector<CallbackArg> callbacksOf(const Arguments &arguments, EpochLines &lines) {
  std::vector<CallbackArg> callbacks{&lines};
  if (!arguments.checkpoint.empty())
    callbacks.emplace_back(callbacks::ModelCheckpoint(arguments.checkpoint));
  if (!arguments.csv.empty())
    callbacks.emplace_back(callbacks::CSVLogger(arguments.csv, {.append = !arguments.resume.empty()}));
  return callbacks;
}

} // namespace

ExitCode fit(const Arguments &given) {
  Arguments arguments = given;
  if (!arguments.checkpoint.empty() && !arguments.checkpoint.ends_with(".ckpt"))
    throw UsageError(fmt::format("--checkpoint '{}': expected FILE.ckpt", arguments.checkpoint));
  if (!arguments.distribute.empty())
    distribution::set_distribution(distribution::DataParallel({.communicator = arguments.distribute}));
  if (distribution::rank() > 0) { // rank 0 prints and saves on behalf of all
    arguments.quiet = true;
    arguments.json = arguments.verbose = false;
    arguments.save.clear();
    arguments.csv.clear();
  }
  const TrainingTask task = openTraining(arguments);
  EpochLines lines(arguments);
  FitArgs args{.batch_size = arguments.batchSize.value_or(usualBatch),
               .epochs = arguments.epochs,
               .verbose = 0,
               .callbacks = callbacksOf(arguments, lines),
               .validation_split = arguments.validationSplit,
               .initial_epoch = resumedEpoch(arguments, task.model)};
  if (!arguments.validationX.empty())
    args.validation_data = {tensorsOf("--val-x", arguments.validationX, arguments.seed),
                            tensorsOf("--val-y", arguments.validationY, arguments.seed)};
  (void)task.model.fit(task.x, task.y, args);
  if (!arguments.save.empty())
    task.model.save(arguments.save);
  if (arguments.verbose && !arguments.save.empty())
    printError("halftone-run: wrote {}\n", arguments.save);
  if (!std::isfinite(lines.loss()))
    return reportNo(fmt::format("the loss of the last epoch is {}", lines.loss()), "fit", arguments.json);
  if (arguments.json) {
    nlohmann::ordered_json object = jsonHead("fit", "ok");
    object["epochs"] = arguments.epochs;
    object["loss"] = lines.loss();
    if (!arguments.save.empty())
      object["file"] = arguments.save;
    printJson(object);
  }
  return yes;
}

} // namespace halftone::tools
