// Writes the sections about casts, kernels and the arena.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/ProgramSections.h"
#include "frontend/base/ReportWords.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/report/ArenaChart.h"
#include "frontend/report/Markup.h"
#include "frontend/training/Inspect.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace halftone::detail {

namespace {

/// All launches of one kernel.
struct KernelUse {
  std::string key;
  const KernelCode *code = nullptr;
  int64_t launches = 0;
  double weight = 0;              // seconds, or the compiler's estimate
  std::vector<std::string> sites; // each once
};

/// By weight, the heaviest first.
std::vector<KernelUse> usesOf(const Executable &executable, const std::optional<StepTimes> &times) {
  std::map<std::string, KernelUse> byKey;
  std::map<std::string, std::vector<int32_t>> sites;
  const std::vector<int64_t> plays = executable.plan.timesPlayed();
  for (size_t step = 0; step < executable.plan.steps.size(); ++step) {
    const auto *launch = std::get_if<LaunchStep>(&executable.plan.steps[step]);
    if (!launch)
      continue;
    KernelUse &use = byKey[launch->kernel];
    use.key = launch->kernel;
    use.code = &executable.kernels.at(launch->kernel);
    use.launches += launch->joined ? 0 : plays[step];
    use.weight += times ? times->seconds[step] : launch->cost * static_cast<double>(plays[step]);
    if (launch->site >= 0)
      sites[launch->kernel].push_back(launch->site);
  }
  std::vector<KernelUse> uses;
  for (auto &[key, use] : byKey) {
    std::vector<int32_t> &ofKernel = sites[key];
    std::ranges::sort(ofKernel);
    ofKernel.erase(std::ranges::unique(ofKernel).begin(), ofKernel.end());
    for (int32_t site : ofKernel)
      use.sites.push_back(executable.sites[static_cast<size_t>(site)].text);
    uses.push_back(std::move(use));
  }
  std::ranges::sort(uses, {}, [](const KernelUse &use) { return std::tuple(-use.weight, use.key); });
  return uses;
}

/// Rows of the fusion report by kind of kernel and site, equal rows once. Launches of one kind and site are not told apart.
using FusionBySite = std::map<std::pair<std::string, std::string>, std::set<std::vector<std::string>>>;

FusionBySite fusionBySite(const std::vector<compiler::FusionRow> &rows) {
  FusionBySite bySite;
  for (const compiler::FusionRow &row : rows)
    if (!row.lines.empty())
      bySite[{row.kernel.substr(0, row.kernel.rfind('_')), row.site}].insert(row.lines);
  return bySite;
}

/// The first site; expanded, all sites, each with the lines about its fusion.
Cell sitesCell(const KernelUse &use, const FusionBySite &fusion) {
  if (use.sites.empty())
    return {""};
  const std::string first = escaped(use.sites[0]);
  std::string details;
  for (const std::string &site : use.sites) {
    if (use.sites.size() > 1)
      details += escaped(site) + "<br/>";
    if (const auto rows = fusion.find({use.code->kind, site}); rows != fusion.end())
      for (const std::vector<std::string> &lines : rows->second)
        for (const std::string &line : lines)
          details += "<small>" + escaped(line) + "</small><br/>";
  }
  if (details.empty())
    return {first};
  const std::string more = use.sites.size() > 1 ? fmt::format(" and {} more", use.sites.size() - 1) : "";
  return {fmt::format("<details><summary>{}{}</summary>{}</details>", first, more, details), first};
}

std::string_view programName(Program program) {
  return program == Program::train ? "training step" : program == Program::test ? "test step" : "predict program";
}

std::string castText(DType dtype) { return std::string(name(dtype)); }

} // namespace

std::string timeText(double seconds) {
  if (seconds >= 1)
    return fmt::format("{:.2f} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.2f} ms", seconds * 1e3) : fmt::format("{:.1f} µs", seconds * 1e6);
}

ReportedProgram reportedProgram(const Model &model, const ReportArgs &args) {
  ReportedProgram reported;
  try {
    const CallTransaction reading(CallTransaction::Extent::program);
    const ProgramChoice choice = chooseProgram(model, {});
    reported.program = choice.program;
    if (choice.function->options().interpret) {
      reported.absent =
          "The model runs eagerly: the interpreter computes its steps op by op, without a compiled program.";
      return reported;
    }
    reported.player = choice.function->player(choice.types, choice.layout);
    reported.ledger = choice.function->ledger(choice.types, choice.layout);
    reported.fusion = choice.function->fusion(choice.types, choice.layout);
  } catch (const Error &error) {
    reported.absent = fmt::format("There is no compiled program: {}", error.message());
    return reported;
  }
  if (!args.time_kernels) {
    reported.timesAbsent = "Times were not requested (time_kernels is false)";
    return reported;
  }
  StatusOr<StepTimes> times = measureSteps(*reported.player);
  if (times.isOk())
    reported.times = *std::move(times);
  else
    reported.timesAbsent = "There are no times: " + times.status().message();
  return reported;
}

Section castsSection(const ReportedProgram &reported) {
  Section section{"casts", "Casts", escaped(reported.absent), ""};
  if (!reported.player)
    return section;
  const CastLedger &ledger = reported.ledger;
  section.lead =
      fmt::format("The {} has {} casts: {} fused into kernels that do other work", programName(reported.program),
                  withCommas(std::ssize(ledger.rows)), withCommas(ledger.fused));
  section.lead += ledger.standalone ? fmt::format(", and {} standalone kernels that move {}.",
                                                  withCommas(ledger.standalone), sizeText(ledger.bytes_moved))
                                    : ". No kernel only casts, so casts move no bytes.";
  if (ledger.rows.empty())
    return section;
  std::map<std::tuple<DType, DType, CastLedger::Kind, bool>, std::pair<int64_t, int64_t>> groups; // count, bytes
  std::vector<std::vector<Cell>> rows, sums;
  for (const CastLedger::Row &row : ledger.rows) {
    auto &[count, bytes] = groups[{row.from, row.to, row.kind, row.fused}];
    ++count;
    bytes += row.bytes;
    rows.push_back({{"<code>" + escaped(row.path) + "</code>", escaped(row.path)},
                    Cell::text(row.value),
                    Cell::text(castText(row.from)),
                    Cell::text(castText(row.to)),
                    Cell::text(kindName(row.kind)),
                    Cell::text(row.fused ? "fused" : "standalone"),
                    Cell::bytes(row.bytes),
                    Cell::text(row.rule),
                    Cell::text(row.location)});
  }
  for (const auto &[cast, sum] : groups)
    sums.push_back({Cell::text(castText(std::get<0>(cast))), Cell::text(castText(std::get<1>(cast))),
                    Cell::text(kindName(std::get<2>(cast))), Cell::text(std::get<3>(cast) ? "fused" : "standalone"),
                    Cell::count(sum.first), Cell::bytes(sum.second)});
  section.body =
      tableMarkup({{"From"}, {"To"}, {"Kind"}, {"Where"}, {"Casts", true}, {"Bytes", true}}, sums) +
      "<details><summary>Every cast</summary>\n" +
      tableMarkup({{"Layer"}, {"Value"}, {"From"}, {"To"}, {"Kind"}, {"Where"}, {"Bytes", true}, {"Rule"}, {"Source"}},
                  rows) +
      "</details>\n";
  return section;
}

Section kernelsSection(const ReportedProgram &reported) {
  Section section{"kernels", "Kernels", escaped(reported.absent), ""};
  if (!reported.player)
    return section;
  const Executable &executable = reported.player->executable();
  const std::vector<KernelUse> uses = usesOf(executable, reported.times);
  double all = 0;
  int64_t launches = 0;
  for (const KernelUse &use : uses) {
    all += use.weight;
    launches += use.launches;
  }
  section.lead = fmt::format("The {} launches {} kernels {} times. ", programName(reported.program),
                             withCommas(std::ssize(uses)), withCommas(launches));
  if (reported.times)
    section.lead += fmt::format("One play takes {}; its kernels alone {}. Times are medians over {} plays "
                                "with zeros as data, on {}.",
                                timeText(reported.times->total), timeText(all), reported.times->plays,
                                escaped(reported.player->device()->description()));
  else
    section.lead += fmt::format("{}; shares are the compiler's estimates.", escaped(reported.timesAbsent));
  if (uses.empty())
    return section;
  std::vector<Column> columns{{reported.times ? "Share of time" : "Estimated share", true},
                              {"Kernel"},
                              {"Kind"},
                              {"Launches", true},
                              {"Per launch", true},
                              {"Method"},
                              {"Layers and ops"}};
  const FusionBySite fusion = fusionBySite(reported.fusion);
  std::vector<std::vector<Cell>> rows;
  for (const KernelUse &use : uses) {
    const double each = use.launches ? use.weight / static_cast<double>(use.launches) : 0;
    rows.push_back({shareCell(all > 0 ? use.weight / all : 1 / static_cast<double>(uses.size())),
                    Cell(fmt::format("<code title=\"{}\">{}</code>", escaped(use.key), escaped(use.key.substr(0, 12))),
                         escaped(use.key)),
                    Cell::text(use.code->kind), Cell::count(use.launches),
                    Cell(timeText(each), fmt::format("{:.9f}", each)), Cell::text(use.code->method),
                    sitesCell(use, fusion)});
  }
  if (!reported.times) {
    columns.erase(columns.begin() + 4);
    for (std::vector<Cell> &row : rows)
      row.erase(row.begin() + 4);
  }
  section.body = tableMarkup(columns, rows);
  return section;
}

Section memorySection(const ReportedProgram &reported) {
  Section section{"memory", "Memory of the arena", escaped(reported.absent), ""};
  if (!reported.player)
    return section;
  const Plan &plan = reported.player->executable().plan;
  if (plan.arenaBytes == 0) {
    section.lead = fmt::format("The {} keeps no values between its launches besides variables and data.",
                               programName(reported.program));
    return section;
  }
  section.lead = fmt::format("Besides variables and data, the {} uses one block of {} ({} bytes); at most {} of it "
                             "hold live values. Each rectangle is a value: from the launch that writes it to the last "
                             "launch that reads it, at its offset in the block.",
                             programName(reported.program), sizeText(plan.arenaBytes), withCommas(plan.arenaBytes),
                             sizeText(plan.largestLiveBytes));
  section.body = "<div class=\"charts\">" + arenaSvg(reported.player->executable()) + "</div>\n";
  return section;
}

} // namespace halftone::detail
