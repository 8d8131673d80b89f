// Divides a list into sections, and plays each according to its kind.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/OperationList.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <utility>

namespace halftone::cuda {
namespace {

const QueuedRepeat *repeatAt(std::span<const QueuedOperation> operations, size_t position) {
  return std::get_if<QueuedRepeat>(&operations[position]);
}

/// A repeat that may end long before its count.
bool isOpen(const QueuedRepeat &repeat) { return repeat.condition.byte && repeat.count > OperationList::maxUnchecked; }

/// The number of operations that a list queues; exceeds every limit if a repeat in it is open.
int64_t worksOf(std::span<const QueuedOperation> operations) {
  int64_t works = 0;
  for (size_t i = 0; i < operations.size(); ++i) {
    int64_t own = 1;
    if (const QueuedRepeat *repeat = repeatAt(operations, i)) {
      own = isOpen(*repeat) ? INT64_MAX
                            : extentProduct(repeat->count, worksOf(operations.subspan(i + 1, repeat->operations)));
      i += repeat->operations;
    }
    works = extentSum(works, own);
  }
  return works;
}

/// Returns true if each round of an open repeat has the addresses of the first round.
bool isPeriodic(const QueuedRepeat &repeat) {
  return std::ranges::all_of(repeat.moving, [](const MovingAddress &each) { return each.stride.period != 0; });
}

} // namespace

/// Adjacent operations whose work is kept form one section.
void OperationList::cut() {
  bool isJoined = false;
  for (size_t i = 0; i < operations_.size();) {
    Kind kind = Kind::once;
    size_t end = i + 1;
    if (const QueuedRepeat *repeat = repeatAt(operations_, i)) {
      end += repeat->operations;
      const int64_t works = worksOf(operations_.subspan(i + 1, repeat->operations));
      if (isOpen(*repeat))
        kind = isPeriodic(*repeat) && works <= maxWorks / roundIterations ? Kind::rounds : Kind::unkept;
      else if (extentProduct(repeat->count, works) > maxWorks)
        kind = Kind::unkept;
    }
    if (isJoined && kind == Kind::once)
      sections_.back().end = end;
    else
      sections_.push_back({kind, i, end, WorkList(gpu_), {}});
    isJoined = kind == Kind::once;
    i = end;
  }
}

/// The work of `count` operations from that position on.
StatusOr<Work> OperationList::workAt(size_t position, size_t count) const {
  if (const auto *parts = std::get_if<LaunchParts>(&operations_[position]))
    return workOf(*parts);
  if (count == 1)
    return workOf(std::get<QueuedCopy>(operations_[position]), *modules_);
  std::vector<const QueuedCopy *> copies;
  for (const QueuedOperation &operation : operations_.subspan(position, count))
    copies.push_back(&std::get<QueuedCopy>(operation));
  return workOf(copies, *modules_);
}

/// Plays a repeat that may end early; play(count) queues the next `count` iterations. The first round has `limit`
/// iterations. The host queues each round before it checks whether the repeat ended in the previous round, so that the
/// GPU never waits for the host. Iterations after the end have no effect (Plan.h, RepeatStep).
template <class Play> Status OperationList::playRounds(size_t position, int64_t limit, const Play &play) {
  const QueuedRepeat &repeat = *repeatAt(operations_, position);
  LoopByte &byte = bytes_.try_emplace(position, gpu_).first->second;
  int64_t left = repeat.count;
  for (int64_t round = 0;; ++round) {
    const int64_t iterations = std::min(left, limit);
    HALFTONE_RETURN_IF_ERROR(play(iterations));
    left -= iterations;
    if (left == 0)
      return {};
    limit = std::min(2 * limit, maxUnchecked);
    HALFTONE_RETURN_IF_ERROR(byte.bring(repeat.condition.byte, round));
    if (round == 0)
      continue;
    const StatusOr<std::byte> before = byte.wait(round - 1);
    HALFTONE_RETURN_IF_ERROR(before.status());
    if ((*before != std::byte{0}) == repeat.condition.negated)
      return {};
  }
}

template <class Visit> Status OperationList::walk(size_t begin, size_t end, bool isInRepeat, const Visit &visit) {
  for (size_t i = begin; i < end;) {
    if (const QueuedRepeat *repeat = repeatAt(operations_, i)) {
      HALFTONE_RETURN_IF_ERROR(walkRepeat(i, repeat->count, visit));
      i += 1 + repeat->operations;
      continue;
    }
    const StatusOr<size_t> taken = visit(i, isInRepeat ? 1 : end - i);
    HALFTONE_RETURN_IF_ERROR(taken.status());
    i += *taken;
  }
  return {};
}

template <class Visit> Status OperationList::walkRepeat(size_t position, int64_t count, const Visit &visit) {
  const QueuedRepeat &repeat = *repeatAt(operations_, position);
  int64_t next = 0, at = 0; // the next iteration, and the iteration whose addresses the operations hold
  const auto play = [&](int64_t iterations) {
    Status status;
    for (const int64_t end = next + iterations; next < end && status.isOk(); ++next) {
      repeat.move(std::exchange(at, next), next);
      status = walk(position + 1, position + 1 + repeat.operations, true, visit);
    }
    return status;
  };
  const Status status = count == repeat.count && isOpen(repeat) ? playRounds(position, 1, play) : play(count);
  repeat.move(at, 0);
  return status;
}

template <class Visit> Status OperationList::walk(const Section &section, const Visit &visit) {
  return section.kind == Kind::rounds ? walkRepeat(section.begin, roundIterations, visit)
                                      : walk(section.begin, section.end, false, visit);
}

/// Reads all operations; all kernels share one block of scratch.
Status OperationList::bind() {
  cut();
  int64_t scratchBytes = 0;
  for (Section &section : sections_) {
    if (section.kind == Kind::unkept)
      continue;
    HALFTONE_RETURN_IF_ERROR(walk(section, [&](size_t position, size_t limit) -> StatusOr<size_t> {
      const size_t count = togetherOf(operations_.subspan(position, limit));
      StatusOr<Work> work = workAt(position, count);
      if (!work)
        return work.status();
      section.works.add(*std::move(work));
      section.counts.push_back(count);
      return count;
    }));
    scratchBytes = std::max(scratchBytes, section.works.scratchBytes());
  }
  DeviceMemory scratch;
  if (scratchBytes > 0) {
    StatusOr<DeviceMemory> allocated = gpu_->allocate(scratchBytes);
    HALFTONE_RETURN_IF_ERROR(allocated.status());
    scratch = *std::move(allocated);
  }
  for (Section &section : sections_)
    HALFTONE_RETURN_IF_ERROR(section.works.place(scratch));
  return {};
}

static bool meets(std::span<const size_t> changed, size_t position, size_t count) {
  const auto next = std::ranges::lower_bound(changed, position);
  return next != changed.end() && *next < position + count;
}

/// The number of operations that are handled together with the operation at that position: those of its repeat, or
/// those of the work item with that index.
size_t OperationList::takenAt(const Section &section, size_t position, size_t work) const {
  const QueuedRepeat *repeat = repeatAt(operations_, position);
  return repeat ? 1 + repeat->operations : section.counts[work];
}

/// Returns true if copies that were merged into one work item depend on each other with their new addresses. Copies in
/// a repeat are never merged.
bool OperationList::isParted(std::span<const size_t> changed) const {
  bool isParted = false;
  for (const Section &section : sections_) {
    if (section.kind != Kind::once || !meets(changed, section.begin, section.end - section.begin))
      continue;
    for (size_t i = section.begin, work = 0; i < section.end;) {
      const size_t count = takenAt(section, i, work);
      const auto operations = operations_.subspan(i, count);
      const bool isRepeat = repeatAt(operations_, i);
      isParted |= !isRepeat && count > 1 && meets(changed, i, count) && togetherOf(operations) != count;
      work += isRepeat ? static_cast<size_t>(worksOf(operations)) : 1;
      i += count;
    }
  }
  return isParted;
}

/// Rereads the operations whose addresses may have changed, with those that are handled together with them. Repeats
/// without such an operation are skipped.
Status OperationList::readAgain(Section &section, std::span<const size_t> changed) {
  if (section.kind == Kind::unkept || !meets(changed, section.begin, section.end - section.begin))
    return {};
  size_t work = 0;
  const auto read = [&](size_t position, size_t) -> StatusOr<size_t> {
    const size_t own = work++, count = section.counts[own];
    if (!meets(changed, position, count))
      return count;
    StatusOr<Work> made = workAt(position, count);
    HALFTONE_RETURN_IF_ERROR(made.status());
    HALFTONE_RETURN_IF_ERROR(section.works.replace(own, *std::move(made)));
    return count;
  };
  if (section.kind == Kind::rounds)
    return walk(section, read);
  for (size_t i = section.begin; i < section.end;) {
    const size_t count = takenAt(section, i, work);
    if (meets(changed, i, count))
      HALFTONE_RETURN_IF_ERROR(walk(i, i + count, false, read));
    else
      work += repeatAt(operations_, i) ? static_cast<size_t>(worksOf(operations_.subspan(i, count))) : 1;
    i += count;
  }
  return {};
}

/// Memory that a launch needs is freed in the stream's order, after the launch.
Status OperationList::playUnkept(const Section &section) {
  return walk(section, [&](size_t position, size_t) -> StatusOr<size_t> {
    StatusOr<Work> work = workAt(position, 1);
    HALFTONE_RETURN_IF_ERROR(work.status());
    WorkMemory memory;
    if (auto *kernel = std::get_if<KernelWork>(&*work))
      HALFTONE_RETURN_IF_ERROR(place(*kernel, memory));
    HALFTONE_RETURN_IF_ERROR(queue(*gpu_, *work));
    return size_t(1);
  });
}

Status OperationList::playSection(Section &section, bool asGraphs) {
  switch (section.kind) {
  case Kind::once:
    return section.works.play(asGraphs);
  case Kind::rounds:
    return playRounds(section.begin, roundIterations, [&](int64_t iterations) {
      Status status;
      for (; iterations >= roundIterations && status.isOk(); iterations -= roundIterations)
        status = section.works.play(asGraphs);
      const size_t works = section.works.size() / static_cast<size_t>(roundIterations); // per iteration
      return status.isOk() ? section.works.playFirst(works * static_cast<size_t>(iterations)) : status;
    });
  case Kind::unkept:
    break;
  }
  return playUnkept(section);
}

Status OperationList::play(std::span<const size_t> changed) {
  if (isParted(changed))
    sections_.clear();
  const bool isFirst = sections_.empty();
  if (isFirst)
    HALFTONE_RETURN_IF_ERROR(bind());
  for (Section &section : sections_) {
    if (!isFirst)
      HALFTONE_RETURN_IF_ERROR(readAgain(section, changed));
    HALFTONE_RETURN_IF_ERROR(playSection(section, !isFirst && !gpu_->waitsForLaunches()));
  }
  return {};
}

} // namespace halftone::cuda
