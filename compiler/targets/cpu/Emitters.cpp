// The CPU's table of kernel kinds: the emitter and the scratch size of each.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/kernels/CodeSize.h"
#include "compiler/kernels/KeptRows.h"
#include "compiler/targets/cpu/Schedules.h"
#include "compiler/targets/cpu/attention/AttentionForward.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::compiler {
using namespace mlir;
using dialect::KernelKind;

// The emitters, each defined in the file of its form. An emitter writes the blocks of a kernel into `frame`, the
// function that replaces the linalg form.
LogicalResult emitLoop(KernelFrame &frame);
LogicalResult emitRow(KernelFrame &frame);
void emitReductionLoop(KernelFrame &frame);
void emitScatter(KernelFrame &frame);
void emitScan(KernelFrame &frame);
void emitSort(KernelFrame &frame);
FailureOr<std::string> emitAttentionGradient(KernelFrame &frame);
int64_t rowTotalsBytes(const KernelSource &source, ArrayRef<int64_t> extents);
int64_t reductionTotalsBytes(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target);
int64_t attentionGradientScratchBytes(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target);
int64_t sortScratchBytes(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target);
FailureOr<std::string> emitRecurrence(KernelFrame &frame);
int64_t recurrenceScratchBytes(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target);
FailureOr<std::string> emitMatmul(KernelFrame &frame);
int64_t matmulScratchBytes(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target);

namespace {

int64_t loopScratch(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &) {
  const int64_t packed =
      llvm::count_if(source.form.results, [](const TensorForm &result) { return result.panels.has_value(); });
  return packed ? packed * stagedBytes(extents[source.dims + 1])
                : source.transposedOperands() * transposedSquareBytes + rowTotalsBytes(source, extents);
}

int64_t rowScratch(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &) {
  return keptRowBytes(source, extents) + rowTotalsBytes(source, extents);
}

bool takesFewQueries(const KernelSource &source) {
  return cast<cpu::AttentionScheduleAttr>(source.form.schedule).getFewQueries();
}

FailureOr<std::string> emitAttention(KernelFrame &frame) {
  return takesFewQueries(frame.source) ? emitAttentionOfFewQueries(frame) : emitAttentionOfTiles(frame);
}

/// Checks that a vector contains whole groups, and that their channels fit: into the lanes of a group if a vector
/// contains several groups, or into registers, one sum per channel, if it contains one.
LogicalResult checkGroups(const KernelFrame &frame, cpu::GroupedScheduleAttr grouped) {
  const int64_t filters = grouped.getFilters(), channels = grouped.getChannels(), channelDim = grouped.getChannelDim();
  const auto refuse = [&] { return frame.source.function.emitError() << "unsupported lanes along groups: "; };
  const int64_t firstReduced = frame.source.form.outer, kept = frame.dims - 2;
  if (kept < 0 || (frame.source.form.reduced > 0 && firstReduced + frame.source.form.reduced > kept))
    return refuse() << "the last two of " << frame.dims << " dims are groups and filters; expected both to be kept";
  if (channelDim >= kept)
    return refuse() << "channel_dim = " << channelDim << " of " << frame.dims << " dims; expected one below " << kept;
  if (frame.lanes % filters != 0)
    return refuse() << "filters = " << filters << "; expected a divisor of the " << frame.lanes << " lanes of a vector";
  const int64_t limit = filters < frame.lanes ? filters : frame.target.vectorRegisters / 2;
  if (channels > limit)
    return refuse() << "channels = " << channels << " with filters = " << filters << "; expected at most " << limit;
  return success();
}

LogicalResult emitReductions(KernelFrame &frame) {
  const auto grouped = cast_or_null<cpu::GroupedScheduleAttr>(frame.source.form.schedule);
  if (grouped && failed(checkGroups(frame, grouped)))
    return failure();
  emitReductionLoop(frame);
  return success();
}

int64_t attentionScratch(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target) {
  return takesFewQueries(source) ? attentionScratchOfFewQueries(source, extents, target)
                                 : attentionScratchOfTiles(source, extents, target);
}

int64_t noScratch(const KernelSource &, ArrayRef<int64_t>, const CpuTarget &) { return 0; }

/// The schedule that the emitter of a kind accepts.
struct ScheduleRule {
  StringLiteral expected;
  bool (*takes)(ScheduleAttrInterface schedule);
};

constexpr ScheduleRule noSchedule{"no schedule", [](ScheduleAttrInterface schedule) { return !schedule; }},
    ofMatmul{"#halftone_cpu.matmul",
             [](ScheduleAttrInterface schedule) { return isa_and_nonnull<cpu::MatmulScheduleAttr>(schedule); }},
    ofAttention{"#halftone_cpu.attention",
                [](ScheduleAttrInterface schedule) { return isa_and_nonnull<cpu::AttentionScheduleAttr>(schedule); }},
    ofRecurrence{"#halftone_cpu.recurrence",
                 [](ScheduleAttrInterface schedule) { return isa_and_nonnull<cpu::RecurrenceScheduleAttr>(schedule); }},
    ofReductions{"#halftone_cpu.grouped or no schedule",
                 [](ScheduleAttrInterface schedule) { return !schedule || isa<cpu::GroupedScheduleAttr>(schedule); }};

struct Row {
  KernelKind kind;
  ScheduleRule schedule;
  size_t generics; // number of generics in the linalg form; 0: any number
  FailureOr<std::string> (*emit)(KernelFrame &frame);
  int64_t (*scratch)(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target);
};

template <auto emit> FailureOr<std::string> inVectors(KernelFrame &frame) {
  if constexpr (std::is_void_v<decltype(emit(frame))>)
    emit(frame);
  else if (failed(emit(frame)))
    return failure();
  return fmt::format("{}-byte vectors", frame.target.vectorBytes);
}

constexpr Row rows[] = {
    {KernelKind::loop, noSchedule, 1, inVectors<emitLoop>, loopScratch},
    {KernelKind::reduction_loop, ofReductions, 2, inVectors<emitReductions>, reductionTotalsBytes},
    {KernelKind::row, noSchedule, 0, inVectors<emitRow>, rowScratch},
    {KernelKind::finish, noSchedule, 0, inVectors<emitRow>, rowScratch},
    {KernelKind::matmul, ofMatmul, 0, emitMatmul, matmulScratchBytes},
    {KernelKind::scatter, noSchedule, 0, inVectors<emitScatter>, noScratch},
    {KernelKind::cumulative, noSchedule, 2, inVectors<emitScan>, noScratch},
    {KernelKind::attention, ofAttention, 0, emitAttention, attentionScratch},
    {KernelKind::attention_grad, ofAttention, 0, emitAttentionGradient, attentionGradientScratchBytes},
    {KernelKind::sort, noSchedule, 2, inVectors<emitSort>, sortScratchBytes},
    {KernelKind::recurrence, ofRecurrence, 0, emitRecurrence, recurrenceScratchBytes},
};

const Row *rowOf(KernelKind kind) {
  const Row *row = llvm::find_if(rows, [&](const Row &each) { return each.kind == kind; });
  return row == std::end(rows) ? nullptr : row;
}

} // namespace

FailureOr<EmittedKernel> emitKernel(func::FuncOp kernel, const CpuTarget &target) {
  outlineFunctions(kernel);
  FailureOr<KernelSource> source = KernelSource::read(kernel);
  if (failed(source))
    return failure();
  const Row *row = rowOf(source->form.kind);
  if (!row)
    return kernel.emitError() << "no emitter for halftone.kind = \"" << dialect::stringifyKernelKind(source->form.kind)
                              << "\"";
  const size_t generics = source->generics.size();
  if (row->generics != 0 && generics != row->generics)
    return kernel.emitError() << "a kernel of form " << dialect::stringifyKernelKind(row->kind) << " has " << generics
                              << " linalg.generic; expected " << row->generics;
  const ScheduleAttrInterface schedule = source->form.schedule;
  if (!row->schedule.takes(schedule))
    return emitUnexpected(schedule, row->schedule.expected, kernel);
  KernelFrame frame(*source, target);
  FailureOr<std::string> method = row->emit(frame);
  if (failed(method))
    return failure();
  frame.finish();
  return EmittedKernel{std::move(*method), {}, std::move(frame.cores)};
}

int64_t kernelScratchBytes(func::FuncOp kernel, ArrayRef<int64_t> extents, const CpuTarget &target) {
  FailureOr<KernelSource> source = KernelSource::read(kernel);
  const Row *row = succeeded(source) ? rowOf(source->form.kind) : nullptr;
  return row && row->schedule.takes(source->form.schedule) ? row->scratch(*source, extents, target) : 0;
}

} // namespace halftone::compiler
