// Counts the cost of the memory accesses of kernels: wavefronts of shared memory and sectors of global memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Ptx.h"
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace halftone::emulator {

class Warp;

/// Requests of warps to one memory. A unit of shared memory is a wavefront, which serves each of 32 banks of 4 bytes
/// once; lanes that access the same word share it. 128-bit accesses are served per quarter warp, 64-bit accesses per
/// half warp, and each 8 x 8 matrix of an ldmatrix separately. A unit of global memory is a sector of 32 bytes.
struct AccessCount {
  uint64_t requests = 0;
  uint64_t units = 0;
  /// The minimum number of units. Of shared memory: the bytes that lanes served together move, divided by 128, at least
  /// one per group with an active lane. Of global memory: the distinct bytes of a request, divided by 32.
  uint64_t ideal = 0;

  AccessCount &operator+=(const AccessCount &other);
};

/// The accesses of one instruction. cp.async accesses both memories.
struct InstructionAccesses {
  AccessCount shared, global;

  /// Adds the request of the active lanes, whose address registers still have the values that the instruction reads.
  void count(Warp &warp, const Instruction &instruction, LaneMask active);
};

/// The counts over many launches.
class AccessCounts {
public:
  void add(const Kernel &kernel, const std::vector<InstructionAccesses> &accesses);
  /// A row for each instruction and memory with requests: the kernel's name, the line of its PTX, the kind (ld.shared,
  /// st.shared, ldmatrix, cp.async for its writes of shared memory, ld.global, st.global, cp.async.global for its
  /// reads), requests, units and ideal, separated by spaces.
  std::string table() const;

private:
  std::map<std::tuple<std::string, uint32_t, std::string>, AccessCount> rows_;
};

} // namespace halftone::emulator
