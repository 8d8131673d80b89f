// Model::report(): collects the facts about a model and writes the page.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ReportWords.h"
#include "frontend/report/CalibrationSection.h"
#include "frontend/report/ModelSections.h"
#include "frontend/report/ProgramSections.h"
#include "frontend/training/ModelState.h"
#include "frontend/training/Trainer.h"
#include "halftone/Error.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/WriteFile.h"
#include <array>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

using Numbers = std::vector<std::pair<std::string, std::string>>;

std::string subtitleOf(const Model &model, const CompiledModel *compiled, const History::Rep *history) {
  std::string text = model.class_name();
  text += model.built() ? "" : ", not built";
  text += compiled ? fmt::format(", compiled with {}", compiled->optimizer.name()) : ", not compiled";
  return text + (history && !history->epochs.empty() ? ", trained" : ", not trained by fit()");
}

Numbers numbersOf(const Model &model, const SummaryReport &summary, const CompiledModel *compiled,
                  const ReportedProgram &reported) {
  Numbers numbers{{"Parameters", withCommas(summary.total_params - summary.optimizer_params)},
                  {"Trainable parameters", withCommas(summary.trainable_params)},
                  {"Variables, with the optimizer's", sizeText(summary.bytes)}};
  if (summary.training_step_bytes)
    numbers.emplace_back("Training step besides them", sizeText(summary.training_step_bytes));
  if (reported.player)
    numbers.emplace_back("Shapes of the program below", reported.ledger.shapes);
  numbers.emplace_back("Policy", model.impl()->resolvedPolicy().name());
  numbers.emplace_back("Device", (compiled ? *compiled->args.device : default_device()).str());
  if (compiled)
    numbers.emplace_back("Numerics", compiled->args.numerics == Numerics::strict ? "strict" : "fast");
  if (summary.loss_scale) {
    numbers.emplace_back("Loss scale", fmt::format("{}", summary.loss_scale->scale));
    numbers.emplace_back("Skipped steps", withCommas(summary.loss_scale->skipped_steps));
    if (!summary.loss_scale->last_fault.empty())
      numbers.emplace_back("Last fault, in the gradient of", summary.loss_scale->last_fault);
  }
  if (reported.player)
    numbers.emplace_back(reported.program == Program::train ? "Launches per step" : "Launches per batch",
                         withCommas(reported.player->executable().plan.launches()));
  if (reported.times)
    numbers.emplace_back(reported.program == Program::train ? "Time of a step" : "Time of a batch",
                         timeText(reported.times->total));
  return numbers;
}

} // namespace

void Model::report(const std::string &filepath, const ReportArgs &args) const {
  if (!filepath.ends_with(".html"))
    throw Error(ErrorKind::value_error, fmt::format("a report's name must end with .html, got '{}'", filepath), name());
  const Model model = *this; // tracing runs user code, which may destroy this handle
  const ReportedProgram reported = reportedProgram(model, args);
  const SummaryReport summary = model.summary({.expand_nested = true}); // after compiling: has the step's memory
  const std::shared_ptr<CompiledModel> compiled = compiledIfAny(model);
  std::shared_ptr<const History::Rep> history;
  {
    const ForkSafeLock lock(stateOf(model).mutex);
    history = stateOf(model).history;
  }
  Page page{model.name(),
            subtitleOf(model, compiled.get(), history.get()),
            numbersOf(model, summary, compiled.get(), reported),
            {curvesSection(history.get()), graphSection(model), layersSection(summary), policiesSection(model),
             castsSection(reported), kernelsSection(reported), memorySection(reported)}};
  if (!args.calibration_data.empty()) {
    const CalibrationReport calibration =
        model.quantization_report(args.calibration_data, {.time_layers = args.time_kernels});
    page.sections.push_back(calibrationSection(calibration));
  }
  const std::string html = page.html();
  replaceFile(filepath, std::array<std::string_view, 1>{html}).orThrow();
}

} // namespace halftone
