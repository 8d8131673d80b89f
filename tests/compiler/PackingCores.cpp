// Compares the packing cores, called alone, with plain loops.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/PackingCores.h"
#include "runtime/base/Half.h"
#include "tests/compiler/CompiledFunction.h"
#include <cstring>
#include <random>
#include <set>

using namespace halftone;
using namespace halftone::compiler;

namespace {

using Packs = void(const void *from, int64_t pitch, int64_t columns, int64_t depth, uint32_t *to, int64_t toColumn,
                   int64_t toDepth);

PackingCore packingCore(const CpuTarget &cpu, int64_t group, bool alongDepth) {
  PackingCore core{group == 4 ? "i32" : "f32", {}, cpu.vectorBytes / 4, group, alongDepth};
  core.masks = cpu.hasMaskedMemory;
  return core;
}

/// Packs an operand of random bytes into elements of four bytes with a plain loop. The memory of the operand ends with
/// its last element.
struct Packing {
  int64_t group, columns, depth, pitch;
  bool alongDepth, biases;
  std::vector<uint8_t> bytes;

  Packing(const PackingCore &core, int64_t columns, int64_t depth)
      : group(core.group), columns(columns), depth(depth), pitch((core.alongDepth ? depth : columns) + 3),
        alongDepth(core.alongDepth), biases(core.biases) {
    std::mt19937 random(unsigned(columns * 100 + depth));
    const int64_t lines = alongDepth ? columns : depth, line = alongDepth ? depth : columns;
    bytes.resize(size_t(lines * line == 0 ? 0 : ((lines - 1) * pitch + line) * 4 / group));
    for (uint8_t &each : bytes)
      each = uint8_t(random());
  }
  uint32_t at(int64_t column, int64_t first) const {
    uint32_t packed = 0;
    for (int64_t member = 0; member < group && first + member < depth; ++member) {
      const int64_t k = first + member, size = 4 / group;
      std::memcpy(reinterpret_cast<char *>(&packed) + member * size,
                  bytes.data() + (alongDepth ? column * pitch + k : k * pitch + column) * size, size_t(size));
    }
    return biases ? packed ^ 0x80808080U : packed;
  }
};

Packs *packsOf(const Loaded &loaded) { return reinterpret_cast<Packs *>(reinterpret_cast<void *>(loaded.function)); }

uint32_t *alignedIn(std::vector<uint32_t> &storage, size_t count) {
  storage.assign(count + 16, 77);
  void *at = storage.data();
  size_t room = storage.size() * 4;
  return static_cast<uint32_t *>(std::align(64, count * 4, at, room));
}

void check(const PackingCore &core, const CpuTarget &cpu) {
  const Loaded loaded = loadCore(core.core(), cpu);
  const int64_t lanes = core.lanes, width = core.vectors * lanes;
  for (const int64_t columns : {int64_t(0), int64_t(1), lanes - 1, lanes, 2 * lanes + 1, 4 * lanes})
    for (const int64_t depth : {1, 2, 3, 7, 33, 40}) {
      if (core.vectors > 1 && columns % width != 0)
        continue;
      CAPTURE(cpu.name, core.core().symbol, columns, depth);
      const Packing packing(core, columns, depth);
      const int64_t groups = (depth + core.group - 1) / core.group, padded = (groups + lanes - 1) / lanes * lanes;
      // One kind packs panels of `width` columns, the other all columns of an index of K side by side.
      const int64_t most = (columns + width - 1) / width * width;
      const int64_t toColumn = core.alongDepth ? 1 : padded, toDepth = core.alongDepth ? most + lanes : width;
      std::vector<uint32_t> storage;
      uint32_t *const to = alignedIn(storage, size_t((most + lanes) * padded));
      packsOf(loaded)(packing.bytes.data(), packing.pitch, columns, depth, to, toColumn, toDepth);
      for (int64_t column = 0; column < columns; ++column)
        for (int64_t k = 0; k < groups; ++k) {
          const int64_t first = column / width * width;
          const int64_t offset = first * toColumn + (column - first) + k * toDepth;
          CHECK(to[offset] == packing.at(column, k * core.group));
        }
    }
}

} // namespace

TEST_CASE("Cores pack columns, and rows, that lie along K or across it", "[kernels]") {
  for (const std::string &name : runnableTargets())
    for (const bool alongDepth : {true, false}) {
      const CpuTarget cpu = targetNamed(name);
      check(packingCore(cpu, 1, alongDepth), cpu);
      if (cpu.vectorBytes < 64)
        continue; // only AVX-512 multiplies groups
      for (const int64_t group : {2, 4})
        check(packingCore(cpu, group, alongDepth), cpu);
      PackingCore biased = packingCore(cpu, 4, alongDepth);
      biased.biases = true;
      check(biased, cpu);
    }
  const CpuTarget host = targetNamed("host");
  PackingCore wide = packingCore(host, 1, false);
  wide.vectors = 4;
  check(wide, host);
}

TEST_CASE("Cores that pack widen narrow floats", "[kernels]") {
  for (const std::string &name : runnableTargets())
    for (const char *narrow : {"bf16", "f16"})
      for (const bool alongDepth : {true, false}) {
        const CpuTarget cpu = targetNamed(name);
        if (narrow == std::string("f16") && !cpu.math.convertsF16)
          continue;
        CAPTURE(name, narrow, alongDepth);
        PackingCore core = packingCore(cpu, 1, alongDepth);
        core.operand.narrow = narrow;
        const Loaded loaded = loadCore(core.core(), cpu);
        const int64_t lanes = core.lanes, columns = lanes + 1, depth = 3, pitch = alongDepth ? depth : columns;
        std::vector<uint16_t> from(size_t(columns * depth));
        for (size_t i = 0; i < from.size(); ++i)
          from[i] = uint16_t(0x3c00 + 97 * i);
        std::vector<uint32_t> storage;
        uint32_t *const to = alignedIn(storage, size_t(4 * lanes * lanes));
        const int64_t toColumn = alongDepth ? 1 : lanes, toDepth = alongDepth ? 4 * lanes : lanes;
        packsOf(loaded)(from.data(), pitch, columns, depth, to, toColumn, toDepth);
        for (int64_t column = 0; column < columns; ++column)
          for (int64_t k = 0; k < depth; ++k) {
            const int64_t first = column / lanes * lanes;
            const uint16_t bits = from[size_t(alongDepth ? column * pitch + k : k * pitch + column)];
            float packed;
            std::memcpy(&packed, to + first * toColumn + (column - first) + k * toDepth, sizeof packed);
            CHECK(packed == (narrow == std::string("f16") ? Float16::decode(bits) : Bfloat16::decode(bits)));
          }
      }
}

TEST_CASE("The symbol of a core that packs names all that decides its code", "[kernels]") {
  const CpuTarget cpu = targetNamed("x86-64-v4");
  std::vector<PackingCore> all(8, packingCore(cpu, 2, false));
  all[1].alongDepth = true;
  all[2].group = 4;
  all[3].vectors = 4;
  all[4].biases = true;
  all[5].watches = true;
  all[6].accumulator = "i32";
  all[7].operand.narrow = "f16";
  std::set<std::string> symbols;
  for (const PackingCore &each : all)
    symbols.insert(each.core().symbol);
  CHECK(symbols.size() == all.size());
}
