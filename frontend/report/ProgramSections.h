// The sections of a report about the compiled program: casts, kernels, memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/reports/FusionRow.h"
#include "frontend/report/Page.h"
#include "halftone/Model.h"
#include "runtime/devices/StepTimes.h"
#include <memory>
#include <optional>
#include <string>

namespace halftone::detail {

/// The compiled program of a report. If something of it is missing, a sentence says why.
struct ReportedProgram {
  Program program = Program::predict;
  std::shared_ptr<Player> player; // null if there is no program
  std::string absent;             // then the reason
  CastLedger ledger{};
  std::vector<compiler::FusionRow> fusion{};
  std::optional<StepTimes> times{};
  std::string timesAbsent{}; // the reason if there are none
};
/// Compiles the program that ir() shows by default, and measures it if `args` ask for that. Throws no Error.
ReportedProgram reportedProgram(const Model &model, const ReportArgs &args);

Section castsSection(const ReportedProgram &reported);
Section kernelsSection(const ReportedProgram &reported);
Section memorySection(const ReportedProgram &reported);

/// "1.23 ms"
std::string timeText(double seconds);

} // namespace halftone::detail
