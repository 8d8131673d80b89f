// Counts the cost of the memory accesses of kernels: wavefronts of shared memory and sectors of global memory.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/AccessCounts.h"
#include "tests/emulator/Block.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

constexpr uint64_t wordBytes = 4, banks = 32, wavefrontBytes = wordBytes * banks, sectorBytes = 32;

/// The accesses of the lanes of a warp. An inactive lane has no bytes.
using LaneAccesses = std::array<Access, warpSize>;

uint64_t ceilDivide(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/// The largest number of distinct words that the lanes from `first` to `end` access in one bank.
uint64_t wavefronts(const LaneAccesses &lanes, int first, int end) {
  std::array<uint64_t, 2 * banks> words;
  size_t count = 0;
  for (int lane = first; lane < end; ++lane)
    for (uint64_t at = 0; at < lanes[lane].bytes; at += wordBytes)
      words[count++] = (lanes[lane].address + at) / wordBytes;
  std::sort(words.begin(), words.begin() + count);
  const auto past = std::unique(words.begin(), words.begin() + count);
  std::array<uint8_t, banks> inBank{};
  std::for_each(words.begin(), past, [&](uint64_t word) { ++inBank[word % banks]; });
  return *std::ranges::max_element(inBank);
}

/// A request in which groups of `together` lanes are served at a time.
AccessCount sharedRequest(const LaneAccesses &lanes, int together) {
  AccessCount request{1, 0, 0};
  for (int first = 0; first < warpSize; first += together) {
    uint64_t moved = 0;
    for (int lane = first; lane < first + together; ++lane)
      moved += lanes[lane].bytes;
    request.units += wavefronts(lanes, first, first + together);
    request.ideal += ceilDivide(moved, wavefrontBytes);
  }
  return request;
}

AccessCount globalRequest(const LaneAccesses &lanes) {
  std::array<std::pair<uint64_t, uint64_t>, warpSize> spans; // ranges of bytes
  size_t count = 0;
  for (const Access &lane : lanes)
    if (lane.bytes)
      spans[count++] = {lane.address, lane.address + lane.bytes};
  std::sort(spans.begin(), spans.begin() + count);
  AccessCount request{1, 0, 0};
  uint64_t distinct = 0, bytesEnd = 0, sectorsEnd = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto [begin, end] = spans[i];
    distinct += std::max(end, bytesEnd) - std::max(begin, bytesEnd);
    bytesEnd = std::max(end, bytesEnd);
    const uint64_t last = ceilDivide(end, sectorBytes);
    request.units += std::max(last, sectorsEnd) - std::max(begin / sectorBytes, sectorsEnd);
    sectorsEnd = std::max(last, sectorsEnd);
  }
  request.ideal = ceilDivide(distinct, sectorBytes);
  return request;
}

int lanesServedTogether(uint32_t bytes) { return bytes > 8 ? 8 : bytes > 4 ? 16 : warpSize; }

template <typename Of> LaneAccesses accessesOf(LaneMask active, Of of) {
  LaneAccesses lanes{};
  eachLane(active, [&](int lane) { lanes[lane] = of(lane); });
  return lanes;
}

std::string_view kindOf(MemoryUse use, bool isShared) {
  switch (use) {
  case MemoryUse::Load:
    return isShared ? "ld.shared" : "ld.global";
  case MemoryUse::Store:
    return isShared ? "st.shared" : "st.global";
  case MemoryUse::LoadMatrix:
    return "ldmatrix";
  default:
    return isShared ? "cp.async" : "cp.async.global";
  }
}

} // namespace

AccessCount &AccessCount::operator+=(const AccessCount &other) {
  requests += other.requests, units += other.units, ideal += other.ideal;
  return *this;
}

void InstructionAccesses::count(Warp &warp, const Instruction &instruction, LaneMask active) {
  const uint32_t bytes = instruction.accessBytes;
  const auto at = [&](uint32_t operand, int lane) {
    return warp.addressOf(operand, instruction.addressBits, instruction.displacement, lane);
  };
  if (instruction.use == MemoryUse::LoadMatrix) {
    const LaneMask rows = instruction.count == 4 ? allLanes : (LaneMask(1) << 8 * instruction.count) - 1;
    shared +=
        sharedRequest(accessesOf(rows, [&](int lane) { return Access{at(instruction.operands[4], lane), bytes}; }), 8);
    return;
  }
  const LaneAccesses lanes =
      accessesOf(active, [&](int lane) { return Access{at(instruction.operands[0], lane), bytes}; });
  if (instruction.use == MemoryUse::AsyncCopy) {
    shared += sharedRequest(lanes, lanesServedTogether(bytes));
    const uint32_t given = instruction.operands[2];
    const LaneAccesses sources = accessesOf(active, [&](int lane) {
      return Access{
          warp.addressOf(instruction.operands[1], instruction.sourceBits, instruction.secondDisplacement, lane),
          given == noOperand ? bytes : warp.lanes<uint32_t>(given)[lane]};
    });
    if (std::ranges::any_of(sources, &Access::bytes))
      global += globalRequest(sources);
    return;
  }
  // The lanes of a request with generic addresses access one memory, as in all of our kernels.
  const uint64_t first = lanes[std::countr_zero(active)].address;
  const bool isGeneric = instruction.space == Space::Generic;
  if (instruction.space == Space::Shared || (isGeneric && first >= sharedWindow && first < paramWindow))
    shared += sharedRequest(lanes, lanesServedTogether(bytes));
  else if (instruction.space == Space::Global || (isGeneric && first < sharedWindow))
    global += globalRequest(lanes);
}

void AccessCounts::add(const Kernel &kernel, const std::vector<InstructionAccesses> &accesses) {
  for (size_t i = 0; i < accesses.size(); ++i)
    for (bool isShared : {true, false}) {
      const AccessCount &count = isShared ? accesses[i].shared : accesses[i].global;
      const Instruction &instruction = kernel.instructions[i];
      if (count.requests)
        rows_[{kernel.name, instruction.line, std::string(kindOf(instruction.use, isShared))}] += count;
    }
}

std::string AccessCounts::table() const {
  std::string text;
  for (const auto &[row, count] : rows_)
    text += fmt::format("{} {} {} {} {} {}\n", std::get<0>(row), std::get<1>(row), std::get<2>(row), count.requests,
                        count.units, count.ideal);
  return text;
}

} // namespace halftone::emulator
