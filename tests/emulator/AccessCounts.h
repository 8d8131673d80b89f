// Counts what the memory accesses of kernels cost: wavefronts of shared memory and sectors of global memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Ptx.h"
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace halftone::emulator {

class Warp;

/// Requests of warps to one memory. A unit of shared memory is a wavefront, which serves each of 32 banks of 4 bytes once; lanes that
/// name the same word share it. 128-bit accesses are served by quarters of a warp, 64-bit ones by halves, and each 8 x 8 matrix of an
/// ldmatrix by itself. A unit of global memory is a sector of 32 bytes.
struct AccessCount {
  uint64_t requests = 0;
  uint64_t units = 0;
  /// The fewest units: of shared memory, the bytes that lanes served together move by 128, at least one for each group with an active
  /// lane; of global memory, the distinct bytes of a request by 32.
  uint64_t ideal = 0;

  AccessCount &operator+=(const AccessCount &other);
};

/// What one instruction did; cp.async accesses both memories.
struct InstructionAccesses {
  AccessCount shared, global;

  /// Adds the request of the active lanes, whose address registers still hold what the instruction reads.
  void count(Warp &warp, const Instruction &instruction, LaneMask active);
};

/// The counts of many launches.
class AccessCounts {
public:
  void add(const Kernel &kernel, const std::vector<InstructionAccesses> &accesses);
  /// A row for each instruction and memory that had requests: the kernel's name, the line of its PTX, the kind (ld.shared, st.shared,
  /// ldmatrix, cp.async for its writes of shared memory, ld.global, st.global, cp.async.global for its reads), requests, units and ideal,
  /// with spaces between them.
  std::string table() const;

private:
  std::map<std::tuple<std::string, uint32_t, std::string>, AccessCount> rows_;
};

} // namespace halftone::emulator
