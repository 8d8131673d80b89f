// halftone-run evaluate: the loss and metrics of a .keras model on data.
// SPDX-License-Identifier: Apache-2.0
#include "Commands.h"
#include "KerasModel.h"
#include "Training.h"
#include <fmt/format.h>

namespace halftone::tools {

ExitCode evaluate(const Arguments &arguments) {
  const TrainingTask task = openTraining(arguments);
  const Logs logs =
      task.model.evaluate(task.x, task.y, {.batch_size = arguments.batchSize.value_or(usualBatch), .verbose = 0});
  if (arguments.json) {
    nlohmann::ordered_json object = jsonHead("evaluate", "ok");
    object["logs"] = jsonOf(logs);
    printJson(object);
  } else if (!arguments.quiet) {
    for (const auto &[name, value] : logs)
      print("{}: {:.9g}\n", name, value);
  }
  return yes;
}

} // namespace halftone::tools
