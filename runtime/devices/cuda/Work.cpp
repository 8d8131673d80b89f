// Converts operations to driver launches, copies and fills.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/Work.h"
#include "runtime/devices/cuda/BuiltinPtx.h"
#include "runtime/plan/GpuAbi.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::cuda {
namespace {

constexpr int64_t maxBlocks = (int64_t(1) << 31) - 1;
constexpr int64_t scratchStep = 64; // GpuAbi.h: bytes of scratch of a block are a multiple of it

uint64_t addressOrZero(const void *memory) { return memory ? addressOf(memory) : 0; }

void append(std::vector<uint64_t> &values, const Launch &part) {
  for (const void *buffer : part.buffers)
    values.push_back(addressOf(buffer));
  for (const int64_t extent : part.extents)
    values.push_back(static_cast<uint64_t>(extent));
}

/// Appends the parameters of a copy (BuiltinPtx.h).
void append(std::vector<uint64_t> &values, const QueuedCopy &copy) {
  values.insert(values.end(), {addressOf(copy.to), addressOrZero(copy.from), static_cast<uint64_t>(copy.bytes),
                               addressOrZero(copy.condition.byte), copy.condition.negated});
}
constexpr size_t copyTable = 5; // the position of `table` among the parameters

unsigned blocksOf(const QueuedCopy &copy) {
  constexpr int64_t blockBytes = int64_t(copyThreads) * copyThreadBytes;
  return static_cast<unsigned>((copy.bytes + blockBytes - 1) / blockBytes);
}

/// A byte range that an operation accesses.
struct Range {
  Range(const std::byte *first, int64_t bytes)
      : begin(reinterpret_cast<uintptr_t>(first)), end(begin + static_cast<uintptr_t>(bytes)) {}
  uintptr_t begin, end;
};

/// Writes one entry per part (GpuAbi.h).
void fillTable(KernelWork &work, std::span<const Launch *const> parts) {
  uint64_t block = 0;
  for (const Launch *part : parts) {
    work.table.push_back(block);
    append(work.table, *part);
    block += static_cast<uint64_t>(part->grid);
  }
}

void fillParameters(KernelWork &work, std::span<const Launch *const> parts, uint64_t scratchOfBlock) {
  const Launch &first = *parts.front();
  const auto buffers = static_cast<int64_t>(first.buffers.size()), extents = static_cast<int64_t>(first.extents.size());
  const bool hasOwn = takesParameters(buffers, extents);
  if (hasOwn && parts.size() == 1)
    append(work.parameters, first);
  else
    fillTable(work, parts);
  work.fixed = hasOwn ? first.buffers.size() + first.extents.size() : 0;
  work.parameters.resize(work.fixed);
  const uint64_t rest[] = {0, // table
                           addressOrZero(first.condition.byte),
                           0, // scratch
                           scratchOfBlock,
                           work.table.empty() ? 0 : parts.size(),
                           first.condition.negated};
  work.parameters.insert(work.parameters.end(), std::begin(rest), std::end(rest));
}

} // namespace

std::string KernelWork::text() const {
  if (!key)
    return "a copy";
  return fmt::format("kernel {}{}{}", *key, site ? " of " : "", site ? *site : "");
}

KernelNode KernelWork::node(std::vector<void *> &pointers) const {
  pointers.clear();
  for (const uint64_t &value : parameters)
    pointers.push_back(const_cast<uint64_t *>(&value)); // the driver reads through it
  KernelNode node;
  node.function = kernel->function;
  node.gridX = grid;
  node.blockX = static_cast<unsigned>(kernel->shape.threads);
  node.sharedBytes = static_cast<unsigned>(kernel->shape.sharedBytes);
  node.parameters = pointers.data();
  return node;
}

CopyNode CopyWork::node() const {
  CopyNode node;
  node.to = to;
  node.from = from;
  node.bytes = bytes;
  return node;
}

FillNode FillWork::node() const {
  FillNode node;
  node.to = to;
  node.width = bytes;
  return node;
}

StatusOr<Work> workOf(LaunchParts parts) {
  std::vector<const Launch *> running; // without the parts that have no blocks
  int64_t blocks = 0, scratch = 0;
  for (const Launch &part : parts) {
    if (part.grid <= 0)
      continue;
    running.push_back(&part);
    scratch = std::max(scratch, (part.scratchBytes + scratchStep - 1) / scratchStep * scratchStep);
    if (__builtin_add_overflow(blocks, part.grid, &blocks) || blocks > maxBlocks)
      return Status(ErrorKind::device_error, fmt::format("kernel {}: a launch exceeds the limit of {} blocks",
                                                         part.kernel ? *part.kernel : "", maxBlocks));
  }
  if (running.empty())
    return Work();
  KernelWork work;
  work.kernel = static_cast<const LoadedKernel *>(running.front()->code.get());
  work.grid = static_cast<unsigned>(blocks);
  work.key = running.front()->kernel;
  work.site = running.front()->site;
  if (__builtin_mul_overflow(blocks, scratch, &work.scratchBytes))
    return Status(ErrorKind::device_error,
                  fmt::format("{}: {} blocks with {} bytes of scratch each", work.text(), blocks, scratch));
  fillParameters(work, running, static_cast<uint64_t>(scratch));
  return Work(std::move(work));
}

StatusOr<Work> workOf(const QueuedCopy &copy, Modules &modules) {
  if (copy.bytes <= 0)
    return Work();
  const auto bytes = static_cast<size_t>(copy.bytes);
  if (!copy.condition.byte && copy.from)
    return Work(CopyWork{addressOf(copy.to), addressOf(copy.from), bytes});
  if (!copy.condition.byte)
    return Work(FillWork{addressOf(copy.to), bytes});
  StatusOr<const LoadedKernel *> kernel = modules.copyKernel();
  HALFTONE_RETURN_IF_ERROR(kernel.status());
  KernelWork work;
  work.kernel = *kernel;
  work.grid = blocksOf(copy);
  append(work.parameters, copy);
  work.parameters.insert(work.parameters.end(), {0, 0});
  return Work(std::move(work));
}

StatusOr<Work> workOf(std::span<const QueuedCopy *const> copies, Modules &modules) {
  StatusOr<const LoadedKernel *> kernel = modules.copyKernel();
  HALFTONE_RETURN_IF_ERROR(kernel.status());
  KernelWork work;
  work.kernel = *kernel;
  for (const QueuedCopy *copy : copies) {
    work.table.push_back(work.grid);
    append(work.table, *copy);
    work.grid += blocksOf(*copy);
  }
  work.fixed = copyTable;
  work.parameters.resize(copyTable + 1); // the parameters of a single copy are not read
  work.parameters.push_back(copies.size());
  return Work(std::move(work));
}

size_t togetherOf(std::span<const QueuedOperation> operations) {
  constexpr size_t limit = 64;                   // copies, which each block searches for its own
  constexpr int64_t maxBytes = int64_t(1) << 20; // of one
  std::vector<Range> reads, writes;
  const auto meets = [](const std::vector<Range> &ranges, const Range &range) {
    return std::ranges::any_of(ranges,
                               [&](const Range &each) { return each.begin < range.end && range.begin < each.end; });
  };
  size_t count = 0;
  for (; count < std::min(operations.size(), limit); ++count) {
    const auto *copy = std::get_if<QueuedCopy>(&operations[count]);
    if (!copy || copy->bytes <= 0 || copy->bytes > maxBytes)
      break;
    const Range to(copy->to, copy->bytes), from(copy->from, copy->from ? copy->bytes : 0),
        condition(copy->condition.byte, copy->condition.byte ? 1 : 0);
    if (meets(writes, to) || meets(reads, to) || meets(writes, from) || meets(writes, condition))
      break;
    writes.push_back(to);
    reads.insert(reads.end(), {from, condition});
  }
  return std::max<size_t>(count, 1);
}

Status place(KernelWork &work, WorkMemory &memory) {
  Gpu &gpu = *work.kernel->gpu;
  if (!work.table.empty()) {
    const auto bytes = std::as_bytes(std::span(work.table));
    if (!memory.table) {
      StatusOr<DeviceMemory> table = gpu.allocate(static_cast<int64_t>(bytes.size()));
      HALFTONE_RETURN_IF_ERROR(table.status());
      memory.table = *std::move(table);
    }
    HALFTONE_RETURN_IF_ERROR(gpu.stage(memory.table.get(), bytes));
    work.setTable(memory.table.get());
  }
  if (work.scratchBytes == 0)
    return {};
  if (!memory.scratch) {
    StatusOr<DeviceMemory> scratch = gpu.allocate(work.scratchBytes);
    HALFTONE_RETURN_IF_ERROR(scratch.status());
    memory.scratch = *std::move(scratch);
  }
  work.setScratch(memory.scratch.get());
  return {};
}

static Status queueKernel(Gpu &gpu, const KernelWork &work) {
  std::vector<void *> pointers;
  const KernelNode node = work.node(pointers);
  if (work.key)
    gpu.noteLaunch(work.key, work.site);
  ++(work.key ? gpu.counters.launches : gpu.counters.copies);
  const Result result = gpu.calls().launchKernel(node.function, node.gridX, 1, 1, node.blockX, 1, 1, node.sharedBytes,
                                                 gpu.compute(), node.parameters, nullptr);
  if (result != Result::success)
    return gpu.check(result, "launching " + work.text());
  if (!gpu.waitsForLaunches())
    return {};
  ++gpu.counters.waits;
  const Result ended = gpu.calls().streamSynchronize(gpu.compute());
  return ended == Result::success ? Status() : gpu.check(ended, work.text());
}

Status queue(Gpu &gpu, const Work &work) {
  if (const auto *kernel = std::get_if<KernelWork>(&work))
    return queueKernel(gpu, *kernel);
  gpu.counters.copies += !std::holds_alternative<std::monostate>(work);
  if (const auto *copy = std::get_if<CopyWork>(&work))
    return gpu.check(gpu.calls().memcpyDtoDAsync(copy->to, copy->from, copy->bytes, gpu.compute()), "a copy");
  if (const auto *fill = std::get_if<FillWork>(&work))
    return gpu.check(gpu.calls().memsetD8Async(fill->to, 0, fill->bytes, gpu.compute()), "a fill");
  return {};
}

} // namespace halftone::cuda
