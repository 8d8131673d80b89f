// Turns an operation on numbers into an instruction for the lanes of a warp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Decoding.h"
#include "tests/emulator/Warp.h"
#include <tuple>
#include <utility>

namespace halftone::emulator {

template <auto operation, typename Result, typename... Sources, size_t... places>
void mapLanesAt(Warp &warp, const Instruction &instruction, LaneMask active, std::index_sequence<places...>) {
  Result *result = warp.lanes<Result>(instruction.operands[0]);
  std::tuple<const Sources *...> sources{warp.lanes<Sources>(instruction.operands[places + 1])...};
  eachLane(active,
           [&](int lane) { result[lane] = static_cast<Result>(operation(std::get<places>(sources)[lane]...)); });
}

/// operands[0] = operation(operands[1], ...) in each active lane.
template <auto operation, typename Result, typename... Sources>
void mapLanes(Warp &warp, const Instruction &instruction, LaneMask active) {
  mapLanesAt<operation, Result, Sources...>(warp, instruction, active, std::index_sequence_for<Sources...>{});
}

/// Calls f with a number of the C++ type for an integer type. Fails for types other than 16, 32 or 64 bits.
template <typename F> auto withInteger(const Decoding &decoding, Type type, F f) {
  if (!type.isInteger() || type.bits < 16)
    decoding.fail("expected an integer type of 16, 32 or 64 bits");
  if (type.bits == 16)
    return type.isSigned() ? f(int16_t()) : f(uint16_t());
  if (type.bits == 32)
    return type.isSigned() ? f(int32_t()) : f(uint32_t());
  return type.isSigned() ? f(int64_t()) : f(uint64_t());
}

/// Likewise for untyped bits of 16, 32 or 64.
template <typename F> auto withBits(const Decoding &decoding, Type type, F f) {
  switch (type.bits) {
  case 16:
    return f(uint16_t());
  case 32:
    return f(uint32_t());
  case 64:
    return f(uint64_t());
  default:
    decoding.fail("expected a type of 16, 32 or 64 bits");
  }
}

} // namespace halftone::emulator
