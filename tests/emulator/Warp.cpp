// A warp runs the instruction of one group of its lanes at a time.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Warp.h"
#include "tests/emulator/Block.h"
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

/// The masks of lanes below, up to, at, from and above each lane.
uint32_t laneMask(Special special, uint32_t lane) {
  uint32_t self = uint32_t(1) << lane, below = self - 1;
  switch (special) {
  case Special::LaneMaskLt:
    return below;
  case Special::LaneMaskLe:
    return below | self;
  case Special::LaneMaskGe:
    return ~below;
  case Special::LaneMaskGt:
    return ~below & ~self;
  default:
    return self;
  }
}

uint32_t specialValue(Special special, const Block &block, uint32_t thread) {
  const Launch &launch = block.launch();
  const auto &threads = launch.threads;
  switch (special) {
  case Special::TidX:
    return thread % threads[0];
  case Special::TidY:
    return thread / threads[0] % threads[1];
  case Special::TidZ:
    return thread / threads[0] / threads[1];
  case Special::NtidX:
  case Special::NtidY:
  case Special::NtidZ:
    return threads[int(special) - int(Special::NtidX)];
  case Special::CtaidX:
  case Special::CtaidY:
  case Special::CtaidZ:
    return block.coordinate(int(special) - int(Special::CtaidX));
  case Special::NctaidX:
  case Special::NctaidY:
  case Special::NctaidZ:
    return launch.grid[int(special) - int(Special::NctaidX)];
  case Special::LaneId:
    return thread % warpSize;
  case Special::WarpId:
    return thread / warpSize;
  case Special::DynamicSharedSize:
    return launch.dynamicSharedBytes;
  case Special::TotalSharedSize:
    return launch.dynamicSharedBytes + block.kernel().staticSharedBytes;
  default:
    return laneMask(special, thread % warpSize);
  }
}

} // namespace

Warp::Warp(Block &block, uint32_t index, LaneMask lanes)
    : block_(block), index_(index), lanes_(lanes), live_(lanes), registers_(block.kernel().registerImage),
      groups_{{0, lanes}} {
  for (const OpenRows &rows : block.kernel().openRows)
    block.random().fill(registers_.data() + rows.offset, rows.bytes);
  for (const SpecialRow &row : block.kernel().specials)
    for (int lane = 0; lane < warpSize; ++lane)
      this->lanes<uint32_t>(row.offset)[lane] = specialValue(row.special, block, index * warpSize + lane);
}

void Warp::run(uint32_t steps) {
  for (; steps && state_ == State::Running; --steps)
    step();
}

void Warp::execute(const Instruction &instruction, LaneMask active) {
  if (instruction.use != MemoryUse::None && block_.accesses())
    block_.accesses()[&instruction - block_.kernel().instructions.data()].count(*this, instruction, active);
  instruction.execute(*this, instruction, active);
}

void Warp::step() {
  Group &group = groups_[chosen_];
  const Instruction &instruction = block_.kernel().instructions[group.place];
  current_ = &instruction;
  LaneMask active = group.lanes;
  lane_ = std::countr_zero(active);
  threadInstructions_ += std::popcount(active);
  if (instruction.guard != noOperand) {
    LaneMask guard = predicate(instruction.guard);
    active &= instruction.guardNegated ? ~guard : guard;
  }
  if (!active)
    ++group.place;
  else
    switch (instruction.flow) {
    case Flow::Next:
      execute(instruction, active);
      ++group.place;
      break;
    case Flow::Branch:
      branch(instruction, active);
      break;
    case Flow::IndexedBranch:
      branchByIndex(instruction, active);
      break;
    case Flow::Exit:
      exit(instruction, active);
      break;
    case Flow::BlockBarrier:
      reachBarrier(instruction, active);
      break;
    case Flow::Together:
      runTogether(instruction, active);
      break;
    }
  if (groups_.size() != 1 || chosen_ != 0 || groups_[0].waits)
    chooseGroup();
}

/// The active lanes of the chosen group continue at `target`.
void Warp::leave(LaneMask active, uint32_t target) {
  Group &group = groups_[chosen_];
  if (active == group.lanes) {
    group.place = target;
    return;
  }
  group.lanes &= ~active;
  groups_.push_back({target, active});
}

void Warp::branch(const Instruction &instruction, LaneMask active) {
  bool isWhole = active == groups_[chosen_].lanes;
  leave(active, instruction.target);
  if (!isWhole)
    ++groups_[chosen_].place;
}

void Warp::branchByIndex(const Instruction &instruction, LaneMask active) {
  const uint32_t *indices = lanes<uint32_t>(instruction.operands[0]);
  if (active != groups_[chosen_].lanes) // lanes whose guard does not hold continue after it
    leave(groups_[chosen_].lanes & ~active, groups_[chosen_].place + 1);
  while (active) {
    lane_ = std::countr_zero(active);
    uint32_t index = indices[lane_];
    if (index >= instruction.mode)
      fail(fmt::format("a branch to target {}; expected one of {}", index, instruction.mode));
    LaneMask same = 0;
    eachLane(active, [&](int lane) { same |= LaneMask(indices[lane] == index) << lane; });
    active &= ~same;
    leave(same, block_.kernel().branchTargets[instruction.target + index]);
  }
}

void Warp::exit(const Instruction &instruction, LaneMask active) {
  Group &group = groups_[chosen_];
  live_ &= ~active;
  group.lanes &= ~active;
  ++group.place;
  endLine_ = instruction.line;
  if (!group.lanes)
    groups_.erase(groups_.begin() + chosen_);
  for (Group &other : groups_)
    other.waits = false;
}

void Warp::reachBarrier(const Instruction &instruction, LaneMask active) {
  if (active != live_) {
    groups_[chosen_].waits = true;
    return;
  }
  const uint32_t *number = lanes<uint32_t>(instruction.operands[0]);
  barrier_ = number[lane_];
  eachLane(active, [&](int lane) {
    if (number[lane] != barrier_)
      fail(fmt::format("barriers {} and {} in one warp; expected one number", barrier_, number[lane]));
  });
  if (barrier_ > 15)
    fail(fmt::format("barrier {}; expected a number from 0 to 15", barrier_));
  state_ = State::AtBarrier;
}

void Warp::passBarrier() {
  ++groups_[chosen_].place;
  state_ = State::Running;
}

void Warp::runTogether(const Instruction &instruction, LaneMask active) {
  LaneMask members = lanes_;
  if (instruction.members != noOperand) {
    const uint32_t *masks = lanes<uint32_t>(instruction.members);
    members = masks[std::countr_zero(active)];
    eachLane(active, [&](int lane) {
      lane_ = lane;
      if (masks[lane] != members)
        fail(fmt::format("lanes name {:#x} and {:#x}; expected one mask of lanes", members, masks[lane]));
      if (!(masks[lane] >> lane & 1))
        fail(fmt::format("lane {} runs an instruction for the lanes {:#x}; expected a mask that names it", lane,
                         members));
    });
  }
  if (members & live_ & ~active) {
    groups_[chosen_].waits = true;
    return;
  }
  execute(instruction, active);
  ++groups_[chosen_].place;
}

void Warp::mergeGroups() {
  for (size_t i = 0; i < groups_.size(); ++i)
    for (size_t j = groups_.size() - 1; j > i; --j) {
      if (groups_[i].place != groups_[j].place)
        continue;
      groups_[i].lanes |= groups_[j].lanes;
      groups_[i].waits = false;
      groups_.erase(groups_.begin() + j);
    }
}

void Warp::chooseGroup() {
  if (groups_.empty()) {
    state_ = State::Done;
    return;
  }
  mergeGroups();
  size_t ready = 0, first = groups_.size();
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].waits)
      continue;
    ++ready;
    if (first == groups_.size() || groups_[i].place < groups_[first].place)
      first = i;
  }
  if (!ready)
    failMissingLanes();
  chosen_ = first;
  if (ready == 1 || block_.random().below(4) == 0)
    return;
  for (size_t skip = block_.random().below(ready), i = 0; i < groups_.size(); ++i) {
    if (groups_[i].waits || skip--)
      continue;
    chosen_ = i;
    return;
  }
}

void Warp::failMissingLanes() const {
  std::string text = "lanes of a warp wait for each other";
  for (const Group &group : groups_)
    text += fmt::format("; lanes {:#x} stand at line {}", group.lanes, block_.kernel().instructions[group.place].line);
  if (ended())
    text += fmt::format("; lanes {:#x} have ended at line {}", ended(), endLine_);
  fail(text + "; expected all lanes that an instruction names to come to it");
}

uint64_t Warp::addressOf(uint32_t operand, uint8_t bits, int64_t displacement, int lane) {
  return (bits == 32 ? lanes<uint32_t>(operand)[lane] : lanes<uint64_t>(operand)[lane]) + displacement;
}

MemoryUser Warp::userAt(int lane) const {
  return {block_.index(), index_ * warpSize + lane, block_.interval(), order_};
}

void Warp::load(int lane, Space space, const Access &access, void *to) {
  lane_ = lane;
  if (space == Space::Generic && access.address >= paramWindow)
    return block_.loadParameter({access.address - paramWindow, access.bytes}, to);
  if (space == Space::Generic && access.address >= sharedWindow)
    return block_.shared().load({access.address - sharedWindow, access.bytes}, userAt(lane), to);
  if (space == Space::Shared)
    return block_.shared().load(access, userAt(lane), to);
  if (space == Space::Param)
    return block_.loadParameter(access, to);
  block_.global().load(access, userAt(lane), to);
}

void Warp::store(int lane, Space space, const Access &access, const void *from) {
  lane_ = lane;
  if (space == Space::Generic && access.address >= sharedWindow && access.address < paramWindow)
    return block_.shared().store({access.address - sharedWindow, access.bytes}, userAt(lane), from);
  if (space == Space::Shared)
    return block_.shared().store(access, userAt(lane), from);
  block_.global().store(access, userAt(lane), from);
}

} // namespace halftone::emulator
