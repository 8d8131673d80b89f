// Execution of a block, whose warps run in a seeded order between barriers, and of the blocks of a launch.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Block.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace halftone::emulator {

namespace {

uint64_t product(const std::array<uint32_t, 3> &counts) { return uint64_t(counts[0]) * counts[1] * counts[2]; }

} // namespace

Block::Block(const Launch &launch, uint32_t index, DeviceMemory &global, Random &random, InstructionAccesses *accesses)
    : launch_(launch), index_(index), global_(global), random_(random),
      shared_(launch.kernel->staticSharedBytes + launch.dynamicSharedBytes), accesses_(accesses),
      interval_(global.beginInterval()) {
  uint32_t threads = product(launch.threads);
  for (uint32_t first = 0; first < threads; first += warpSize) {
    uint32_t count = std::min<uint32_t>(warpSize, threads - first);
    warps_.emplace_back(*this, first / warpSize, allLanes >> (warpSize - count));
  }
}

uint32_t Block::coordinate(int dim) const {
  uint32_t rest = index_;
  for (int i = 0; i < dim; ++i)
    rest /= launch_.grid[i];
  return rest % launch_.grid[dim];
}

Warp *Block::chooseWarp() {
  size_t start = random_.below(warps_.size());
  for (size_t i = 0; i < warps_.size(); ++i) {
    Warp &warp = warps_[(start + i) % warps_.size()];
    if (warp.state() == Warp::State::Running)
      return &warp;
  }
  return nullptr;
}

void Block::run() {
  for (;;) {
    Warp *warp = chooseWarp();
    if (!warp) {
      if (std::ranges::all_of(warps_, [](const Warp &w) { return w.state() == Warp::State::Done; }))
        return;
      passBarrier();
      continue;
    }
    running_ = warp;
    warp->run(random_.isOrdered() ? UINT32_MAX : 1 + random_.below(64));
  }
}

void Block::passBarrier() {
  const Warp &waiting = *std::ranges::find(warps_, Warp::State::AtBarrier, &Warp::state);
  running_ = &waiting;
  for (const Warp &warp : warps_)
    if (warp.state() == Warp::State::Done || !warp.isWhole() || warp.barrier() != waiting.barrier())
      failBarrier(waiting, warp);
  interval_ = global_.beginInterval();
  for (Warp &warp : warps_)
    warp.passBarrier();
}

void Block::failBarrier(const Warp &waiting, const Warp &other) const {
  std::string reason =
      fmt::format("warp {} waits at barrier {} at line {}", other.index(), other.barrier(), other.current().line);
  if (!other.isWhole())
    reason = fmt::format("thread {} has ended at line {}", other.index() * warpSize + std::countr_zero(other.ended()),
                         other.endLine());
  throw Fault(FaultKind::LaunchFailed,
              fmt::format("warp {} waits at barrier {} at line {} for all threads of the block, but {}; expected all "
                          "threads to come to one barrier",
                          waiting.index(), waiting.barrier(), waiting.current().line, reason));
}

std::string Block::place() const {
  std::string text = fmt::format("kernel {}", kernel().name);
  if (!running_)
    return text;
  const auto &threads = launch_.threads;
  uint32_t thread = running_->index() * warpSize + running_->lane();
  return text + fmt::format(", line {} of its PTX, block ({}, {}, {}), thread ({}, {}, {})", running_->current().line,
                            coordinate(0), coordinate(1), coordinate(2), thread % threads[0],
                            thread / threads[0] % threads[1], thread / threads[0] / threads[1]);
}

uint64_t Block::threadInstructions() const {
  return std::accumulate(warps_.begin(), warps_.end(), uint64_t(0),
                         [](uint64_t sum, const Warp &w) { return sum + w.threadInstructions(); });
}

void Block::loadParameter(const Access &access, void *to) const {
  checkAlignment(access, "reads");
  if (access.address > launch_.parameters.size() || access.bytes > launch_.parameters.size() - access.address)
    throw Fault(FaultKind::IllegalAddress, fmt::format("reads {} bytes of the parameters at {}; the kernel has {}",
                                                       access.bytes, access.address, launch_.parameters.size()));
  std::memcpy(to, launch_.parameters.data() + access.address, access.bytes);
}

void runLaunch(const Launch &launch, DeviceMemory &global, Random &random, LaunchCounts &counts) {
  uint64_t blocks = product(launch.grid);
  if (blocks > DeviceMemory::maxBlocks)
    throw Fault(FaultKind::LaunchFailed, fmt::format("kernel {}: {} blocks; the emulator takes at most {}",
                                                     launch.kernel->name, blocks, DeviceMemory::maxBlocks));
  std::vector<uint32_t> order(blocks);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = blocks; i > 1 && !random.isOrdered(); --i)
    std::swap(order[i - 1], order[random.below(i)]);
  global.beginLaunch();
  ++counts.launches;
  std::vector<InstructionAccesses> accesses(counts.accesses ? launch.kernel->instructions.size() : 0);
  for (uint32_t index : order) {
    Block block(launch, index, global, random, counts.accesses ? accesses.data() : nullptr);
    try {
      block.run();
    } catch (const Fault &fault) {
      throw Fault(fault.kind, fmt::format("{}: {} (seed {})", block.place(), fault.what(), random.seed()));
    }
    counts.threadInstructions += block.threadInstructions();
  }
  if (counts.accesses)
    counts.accesses->add(*launch.kernel, accesses);
}

} // namespace halftone::emulator
