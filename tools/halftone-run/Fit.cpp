// halftone-run fit: trains a .keras model on data and saves it.
// SPDX-License-Identifier: Apache-2.0
#include "Commands.h"
#include "KerasModel.h"
#include "Training.h"
#include "halftone/Callbacks.h"
#include "halftone/Distribution.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone::tools {
namespace {

/// Prints a line after each epoch and keeps the last loss.
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

} // namespace

ExitCode fit(const Arguments &given) {
  Arguments arguments = given;
  if (!arguments.distribute.empty())
    distribution::set_distribution(distribution::DataParallel({.communicator = arguments.distribute}));
  if (distribution::rank() > 0) { // rank 0 says and saves what all have
    arguments.quiet = true;
    arguments.json = arguments.verbose = false;
    arguments.save.clear();
  }
  const TrainingTask task = openTraining(arguments);
  EpochLines lines(arguments);
  (void)task.model.fit(task.x, task.y,
                       {.batch_size = arguments.batchSize.value_or(usualBatch),
                        .epochs = arguments.epochs,
                        .verbose = 0,
                        .callbacks = {CallbackArg(&lines)},
                        .validation_split = arguments.validationSplit});
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
