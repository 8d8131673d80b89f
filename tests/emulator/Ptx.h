// PTX in dense form: the data that the parser creates and the warps run.
// SPDX-License-Identifier: Apache-2.0
//
// A register is a row of 32 lanes in the register file of a warp, and an operand is the byte offset of a row.
// Immediates, addresses of symbols and special registers are rows too, filled before the warp starts, so the inner
// loops handle a single kind of operand.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::emulator {

class Warp;
struct Instruction;

using LaneMask = uint32_t;
constexpr int warpSize = 32;
constexpr LaneMask allLanes = 0xffffffff;

/// Runs one instruction for the active lanes of a warp.
using Execute = void (*)(Warp &, const Instruction &, LaneMask active);

/// How an instruction changes the warp's position in the program. `Together` waits until all lanes named by the
/// instruction have reached it.
enum class Flow : uint8_t { Next, Branch, IndexedBranch, Exit, BlockBarrier, Together };

enum class Space : uint8_t { Generic, Global, Shared, Param, Const };

/// The memory accesses of an instruction.
enum class MemoryUse : uint8_t { None, Load, Store, LoadMatrix, AsyncCopy };

/// Generic addresses of shared and parameter memory; every other generic address is global.
constexpr uint64_t sharedWindow = uint64_t(1) << 60;
constexpr uint64_t paramWindow = uint64_t(2) << 60;
/// The first address of shared memory that a variable may have, so that address 0 is never valid.
constexpr uint32_t firstSharedAddress = 1024;

/// A PTX type. `bits` is the width of one operand; packed types have `elements` numbers in it.
struct Type {
  enum class Kind : uint8_t { Predicate, Bits, Unsigned, Signed, Float, BFloat, TFloat };
  Kind kind = Kind::Bits;
  uint8_t bits = 0;
  uint8_t elements = 1;

  bool isInteger() const { return kind == Kind::Bits || kind == Kind::Unsigned || kind == Kind::Signed; }
  bool isSigned() const { return kind == Kind::Signed; }
  bool operator==(const Type &) const = default;
};

/// The type with this name without its dot ("s32", "bf16x2"), if any.
std::optional<Type> typeNamed(std::string_view name);

constexpr uint32_t noOperand = 0xffffffff;

struct Instruction {
  Execute execute = nullptr;
  Flow flow = Flow::Next;
  bool guardNegated = false;
  uint8_t addressBits = 0;  ///< width of the address operand
  uint8_t registerBits = 0; ///< width of the registers that a load, store or conversion moves
  uint8_t sourceBits = 0;   ///< likewise for a conversion's source
  uint8_t count = 0;        ///< elements of a vector, matrices of an ldmatrix
  Space space = Space::Generic;
  MemoryUse use = MemoryUse::None;
  uint8_t accessBytes = 0;      ///< per lane; for an ldmatrix, per row
  uint32_t guard = noOperand;   ///< predicate
  uint32_t members = noOperand; ///< Together: the mask of lanes; absent: the whole warp
  uint32_t target = 0;      ///< Branch: index of the next instruction; IndexedBranch: the first of its `mode` targets
  uint32_t line = 0;        ///< line in the PTX, from 1
  uint64_t mode = 0;        ///< specific to the family: comparison, shuffle kind, bytes
  int64_t displacement = 0; ///< added to the address
  int64_t secondDisplacement = 0; ///< cp.async: added to the source's address
  std::array<uint32_t, 16> operands{};
};

enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  LaneMaskLt,
  LaneMaskLe,
  LaneMaskEq,
  LaneMaskGe,
  LaneMaskGt,
  DynamicSharedSize,
  TotalSharedSize
};

struct SpecialRow {
  Special special;
  uint32_t offset;
};

/// A part of the register file with undefined contents until the kernel writes it.
struct OpenRows {
  uint32_t offset = 0;
  uint32_t bytes = 0;
};

struct Parameter {
  std::string name;
  uint32_t offset = 0;
  uint32_t bytes = 0;
};

/// A row with the address of a module variable, which is known once the module is loaded.
struct Relocation {
  uint32_t offset = 0;
  uint8_t bits = 64;
  std::string symbol;
  int64_t addend = 0;
  uint32_t line = 0;
};

struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  uint32_t parameterBytes = 0;
  std::vector<Instruction> instructions;
  std::vector<uint32_t> branchTargets;  ///< lists of all indexed branches, concatenated
  std::vector<std::byte> registerImage; ///< the register file of a warp at its start
  std::vector<OpenRows> openRows;       ///< declared registers
  std::vector<SpecialRow> specials;
  std::vector<Relocation> relocations;
  uint32_t registers = 0;               ///< 32-bit registers that the PTX declares; a 64-bit register counts twice
  uint32_t staticSharedBytes = 0;       ///< starting at firstSharedAddress
  uint32_t localBytes = 0;              ///< per thread, for spilled registers; no instruction accesses them
  std::array<uint32_t, 3> maxThreads{}; ///< 0: not given
  std::array<uint32_t, 3> requiredThreads{};
};

/// A .global or .const variable.
struct Variable {
  std::string name;
  bool constant = false;
  bool initialised = false;
  uint32_t alignment = 1;
  uint64_t bytes = 0;
  std::vector<std::byte> initial; ///< the bytes given; the rest is 0
};

/// Fills the row of `relocation`, whose symbol is at `address`.
void fillRelocation(Kernel &kernel, const Relocation &relocation, uint64_t address);

struct Module {
  uint32_t version = 0; ///< 80 for .version 8.0
  uint32_t target = 0;  ///< 80 for sm_80
  std::vector<Variable> variables;
  std::vector<Kernel> kernels;
};

} // namespace halftone::emulator
