// Records a training step and writes its timeline as a table and in Chrome's trace format.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Timeline.h"
#include "frontend/base/ReportWords.h"
#include "frontend/training/Inspect.h"
#include "halftone/Distribution.h"
#include "halftone/Error.h"
#include "runtime/devices/StepTimes.h"
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace halftone {
using namespace detail;

namespace {

using Kind = StepTimeline::Kind;

std::string_view nameOf(Kind kind) {
  return kind == Kind::kernel ? "kernel" : kind == Kind::exchange ? "exchange" : "wait";
}

/// "matmul of dense_1 train.cpp:12".
std::string nameOf(const Executable &executable, const LaunchStep &launch) {
  const std::string &kind = executable.kernels.at(launch.kernel).kind;
  return launch.site < 0 ? kind
                         : fmt::format("{} of {}", kind, executable.sites[static_cast<size_t>(launch.site)].text);
}
/// Truncates a name to the bytes that fit in a line; a truncated name ends with "...".
std::string shortened(const std::string &name) {
  constexpr size_t most = 72;
  return name.size() <= most ? name : name.substr(0, most - 3) + "...";
}

/// The bytes of the elements of all processes.
int64_t bytesOf(const Plan &plan, const CollectiveStep &step) {
  const auto bytes = [&](SlotId slot) { return plan.slots[static_cast<size_t>(slot)].type.bytes(); };
  int64_t all = 0;
  for (size_t i = 0; i < step.from.size(); ++i)
    all += std::max(bytes(step.from[i]), bytes(step.to[i]));
  return all;
}

std::vector<StepTimeline::Row> rowsOf(const Executable &executable, const PlayRecord &record) {
  std::vector<StepTimeline::Row> rows;
  for (const PlayRecord::Launch &launch : record.launches)
    rows.push_back({Kind::kernel, nameOf(executable, std::get<LaunchStep>(executable.plan.steps[launch.step])),
                    launch.begin, launch.end, launch.begin});
  for (size_t i = 0; i < record.collectives.size(); ++i) {
    const PlayRecord::Collective &collective = record.collectives[i];
    const auto &step = std::get<CollectiveStep>(executable.plan.steps[collective.step]);
    const std::string name = fmt::format("{} of {}, {}", i + 1, record.collectives.size(), halftone::name(step.kind));
    rows.push_back(
        {Kind::exchange, name, collective.started, collective.end, collective.begin, bytesOf(executable.plan, step)});
    rows.push_back({Kind::wait, name, collective.awaited, collective.arrived, collective.awaited});
  }
  std::ranges::sort(rows, {}, [](const StepTimeline::Row &row) { return std::pair(row.begin, row.end); });
  return rows;
}

} // namespace

StepTimeline step_timeline(const Model &model) {
  const ProgramChoice choice = chooseProgram(model, {});
  if (choice.program != Program::train)
    throw Error(ErrorKind::value_error, "the model has no training step: compile() and train it first", model.name());
  if (choice.function->options().interpret)
    throw Error(ErrorKind::value_error, "the model runs eagerly, without a compiled training step", model.name());
  const std::shared_ptr<Player> player = choice.function->player(choice.types, choice.layout);
  const PlayRecord record = recordPlay(*player).valueOrThrow();
  return {rowsOf(player->executable(), record), shapesText(choice.types), record.total, distribution::rank()};
}

std::string StepTimeline::text() const {
  std::string text = fmt::format("Step of rank {}: {:.3f} ms, for {}\n{:>10} {:>10} {:>10}\n", rank, seconds * 1e3,
                                 shapes, "begin ms", "end ms", "takes ms");
  double exchangeTime = 0, waitTime = 0;
  for (const Row &row : rows) {
    const bool isExchange = row.kind == Kind::exchange;
    exchangeTime += isExchange ? row.end - row.travels : 0;
    waitTime += row.kind == Kind::wait ? row.end - row.begin : 0;
    text += fmt::format("{:10.3f} {:10.3f} {:10.3f}  {:8}  {}{}\n", row.begin * 1e3, row.end * 1e3,
                        (row.end - row.travels) * 1e3, nameOf(row.kind), shortened(row.name),
                        isExchange ? ", " + sizeText(row.bytes) : "");
  }
  return text + fmt::format("Exchanges took {:.3f} ms, of which the step waited {:.3f} ms\n", exchangeTime * 1e3,
                            waitTime * 1e3);
}

std::string StepTimeline::json() const {
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  for (const Row &row : rows) {
    nlohmann::ordered_json event{{"name", fmt::format("{} {}", nameOf(row.kind), row.name)},
                                 {"cat", nameOf(row.kind)},
                                 {"ph", "X"},
                                 {"ts", row.travels * 1e6},
                                 {"dur", (row.end - row.travels) * 1e6},
                                 {"pid", rank},
                                 {"tid", row.kind == Kind::exchange ? 1 : 0}};
    if (row.kind == Kind::exchange)
      event["args"] = {{"bytes", row.bytes}, {"begun at", row.begin * 1e6}};
    events.push_back(std::move(event));
  }
  return nlohmann::ordered_json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump();
}

} // namespace halftone
