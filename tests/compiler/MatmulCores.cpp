// Compares the matmul cores, called alone, with plain loops.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulCores.h"
#include "runtime/base/Half.h"
#include "tests/compiler/CompiledFunction.h"
#include <cmath>
#include <random>
#include <set>

using namespace halftone;
using namespace halftone::compiler;

namespace {

using Strip = void(const float *a, int64_t rowPitch, int64_t depthPitch, int64_t panelPitch, const float *b,
                   int64_t count, float *sums, int64_t sumsPitch, bool continues, int64_t first, int64_t end);

StripCore stripCore(const CpuTarget &cpu, int64_t vectors, llvm::SmallVector<int64_t, 4> rows, bool ordered) {
  const bool fuses = cpu.math.hasFma;
  return {{&rowOf(cpu::Product::multiply_add), fuses, ordered}, "f32", cpu.vectorBytes / 4, vectors, std::move(rows)};
}

Strip *stripOf(const Loaded &loaded) { return reinterpret_cast<Strip *>(reinterpret_cast<void *>(loaded.function)); }

struct Matrices {
  std::vector<float> a, b, sums;
};

/// Random matrices with `count` indices of K, `rows` rows of A and `columns` columns of B.
Matrices randomMatrices(int64_t sizeOfA, int64_t count, int64_t rows, int64_t columns) {
  std::mt19937 random(unsigned(count * 31 + rows));
  std::normal_distribution<float> normal;
  const auto drawn = [&](int64_t size) {
    std::vector<float> all(static_cast<size_t>(size));
    for (float &each : all)
      each = normal(random);
    return all;
  };
  return {drawn(sizeOfA), drawn(std::max<int64_t>(1, count) * columns), drawn(rows * columns + 1)};
}

/// Copies `values` to 64-byte aligned memory in `storage`, as vector loads of B require.
const float *aligned(std::vector<float> &storage, const std::vector<float> &values) {
  storage.assign(values.size() + 16, 0);
  void *at = storage.data();
  size_t room = storage.size() * sizeof(float);
  REQUIRE(std::align(64, values.size() * sizeof(float), at, room));
  return static_cast<float *>(std::copy(values.begin(), values.end(), static_cast<float *>(at)) - values.size());
}

} // namespace

TEST_CASE("A strip's core makes the sums of any count of rows, of any layout, in the order of K", "[kernels]") {
  for (const std::string &name : runnableTargets())
    for (const auto &[vectors, groups] : {std::pair(int64_t(1), llvm::SmallVector<int64_t, 4>{4, 1}),
                                          std::pair(int64_t(2), llvm::SmallVector<int64_t, 4>{6, 4, 2, 1})}) {
      const CpuTarget cpu = targetNamed(name);
      const Loaded loaded = loadCore(stripCore(cpu, vectors, groups, /*ordered=*/true).core(), cpu);
      auto *const strip = stripOf(loaded);
      const int64_t lanes = cpu.vectorBytes / 4, columns = vectors * lanes;
      for (const int64_t rows : {0, 1, 2, 3, 5, 8, 9, 13})
        for (const int64_t count : {0, 1, 7})
          for (const int layout : {0, 1, 2}) {
            if (layout == 2 && lanes % groups[0] != 0)
              continue; // a group of rows must not span two panels
            CAPTURE(name, vectors, rows, count, layout);
            const bool continues = rows % 2 == 1;
            // Layout 0 is [row][k], layout 1 [k][row], layout 2 panels of rows.
            const int64_t rowPitch = layout == 0 ? 9 : 1, depthPitch = layout == 0 ? 1 : layout == 1 ? 14 : lanes;
            const int64_t panelPitch = layout == 2 ? lanes * 9 : lanes * rowPitch;
            Matrices made = randomMatrices(14 * 9 + 9 * 16 * 16, count, rows, columns);
            std::vector<float> storage, expected = made.sums;
            const int64_t first = layout == 2 ? 0 : std::min<int64_t>(rows, 1);
            for (int64_t row = first; row < rows; ++row)
              for (int64_t column = 0; column < columns; ++column) {
                float &sum = expected[size_t(row * columns + column)];
                sum = continues ? sum : 0;
                for (int64_t k = 0; k < count; ++k) {
                  const float x = made.a[size_t(row / lanes * panelPitch + row % lanes * rowPitch + k * depthPitch)],
                              y = made.b[size_t(k * columns + column)];
                  sum = cpu.math.hasFma ? std::fma(x, y, sum) : x * y + sum;
                }
              }
            strip(made.a.data(), rowPitch, depthPitch, panelPitch, aligned(storage, made.b), count, made.sums.data(),
                  columns, continues, first, rows);
            CHECK(made.sums == expected);
          }
    }
}

TEST_CASE("A strip's core reads B in panels of one vector too", "[kernels]") {
  using InPanels =
      void(const float *a, int64_t rowPitch, int64_t depthPitch, int64_t panelPitch, const float *b, int64_t count,
           float *sums, int64_t sumsPitch, bool continues, int64_t first, int64_t end, int64_t panel);
  for (const std::string &name : runnableTargets()) {
    const CpuTarget cpu = targetNamed(name);
    StripCore core = stripCore(cpu, 2, {4, 1}, /*ordered=*/true);
    core.inPanels = true;
    const Loaded loaded = loadCore(core.core(), cpu);
    auto *const strip = reinterpret_cast<InPanels *>(reinterpret_cast<void *>(loaded.function));
    const int64_t lanes = core.lanes, count = 5, rows = 6, panel = (count + 2) * lanes;
    CAPTURE(name);
    Matrices made = randomMatrices(rows * count, 2 * (count + 2), rows, 2 * lanes);
    std::vector<float> storage, expected = made.sums;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < 2 * lanes; ++column) {
        float sum = 0;
        for (int64_t k = 0; k < count; ++k) {
          const float x = made.a[size_t(row * count + k)],
                      y = made.b[size_t(column / lanes * panel + k * lanes + column % lanes)];
          sum = cpu.math.hasFma ? std::fma(x, y, sum) : x * y + sum;
        }
        expected[size_t(row * 2 * lanes + column)] = sum;
      }
    strip(made.a.data(), count, 1, lanes * count, aligned(storage, made.b), count, made.sums.data(), 2 * lanes, false,
          0, rows, panel);
    CHECK(made.sums == expected);
  }
}

TEST_CASE("The cores of a scaled strip scale what they pack, and unscale its sums before they add the earlier ones",
          "[kernels]") {
  using Packs = void(const float *a, int64_t rowPitch, int64_t depthPitch, int64_t panelPitch, float *b, int64_t count,
                     float *sums, int64_t sumsPitch, bool continues, int64_t first, int64_t end, const float *from,
                     int64_t fromPitch, int64_t columns, float unscale, float scale);
  using Multiplies =
      void(const float *a, int64_t rowPitch, int64_t depthPitch, int64_t panelPitch, const float *b, int64_t count,
           float *sums, int64_t sumsPitch, bool continues, int64_t first, int64_t end, float unscale);
  for (const std::string &name : runnableTargets())
    for (const bool continues : {false, true}) {
      CAPTURE(name, continues);
      const CpuTarget cpu = targetNamed(name);
      StripCore core = stripCore(cpu, 1, {4, 1}, /*ordered=*/true);
      core.scales = true;
      const Loaded multiplies = loadCore(core.core(), cpu);
      core.packs = true;
      core.masks = cpu.hasMaskedMemory;
      const Loaded packs = loadCore(core.core(), cpu);
      const int64_t lanes = core.lanes, rows = 6, count = 5;
      Matrices made = randomMatrices(rows * count, count, rows, lanes);
      for (float &each : made.b)
        each *= 0x1p-130F; // includes subnormal numbers, whose products with the scale are exact
      for (float &each : made.sums)
        each *= 0x1p-130F;
      std::vector<float> storage, expected = made.sums;
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < lanes; ++column) {
          float sum = 0, &result = expected[size_t(row * lanes + column)];
          for (int64_t k = 0; k < count; ++k) {
            const float x = made.a[size_t(row * count + k)], y = made.b[size_t(k * lanes + column)] * 0x1p64F;
            sum = cpu.math.hasFma ? std::fma(x, y, sum) : x * y + sum;
          }
          result = std::fma(sum, 0x1p-64F, continues ? result : 0.0F);
        }
      float *const b = const_cast<float *>(aligned(storage, std::vector<float>(size_t(count * lanes), 77)));
      reinterpret_cast<Packs *>(reinterpret_cast<void *>(packs.function))(
          made.a.data(), count, 1, lanes * count, b, count, made.sums.data(), lanes, continues, 0, rows, made.b.data(),
          lanes, lanes, 0x1p-64F, 0x1p64F);
      for (int64_t i = 0; i < count * lanes; ++i)
        CHECK(b[i] == made.b[size_t(i)] * 0x1p64F);
      reinterpret_cast<Multiplies *>(reinterpret_cast<void *>(multiplies.function))(
          made.a.data(), count, 1, lanes * count, b, count, made.sums.data(), lanes, continues, 4, rows, 0x1p-64F);
      for (size_t i = 0; i < expected.size(); ++i) // without FMA, the product and the sum are each rounded
        CHECK(std::fabs(made.sums[i] - expected[i]) <= std::max(0x1p-149F, 0x1p-22F * std::fabs(expected[i])));
    }
}

TEST_CASE("Sums that take turns along K are those of the core that keeps the order, but for rounding", "[kernels]") {
  const CpuTarget cpu = targetNamed("host");
  const int64_t lanes = cpu.vectorBytes / 4, count = 37;
  const Loaded ordered = loadCore(stripCore(cpu, 1, {4, 1}, true).core(), cpu),
               free = loadCore(stripCore(cpu, 1, {4, 1}, false).core(), cpu);
  const Matrices made = randomMatrices(5 * count, count, 5, lanes);
  std::vector<float> storage, sums[2] = {made.sums, made.sums};
  const float *const b = aligned(storage, made.b);
  for (const auto &[function, into] : {std::pair(stripOf(ordered), &sums[0]), std::pair(stripOf(free), &sums[1])})
    function(made.a.data(), count, 1, lanes * count, b, count, into->data(), lanes, false, 0, 5);
  for (size_t i = 0; i < sums[0].size(); ++i)
    CHECK(std::fabs(sums[0][i] - sums[1][i]) < 1e-4);
}

TEST_CASE("A core that packs copies the strip, and makes the sums of the first rows if there are so many",
          "[kernels]") {
  using Packing = void(const float *a, int64_t rowPitch, int64_t depthPitch, int64_t panelPitch, float *b,
                       int64_t count, float *sums, int64_t sumsPitch, bool continues, int64_t first, int64_t end,
                       const float *from, int64_t fromPitch, int64_t columns);
  for (const std::string &name : runnableTargets())
    for (const int64_t vectors : {1, 3}) {
      const CpuTarget cpu = targetNamed(name);
      StripCore core = stripCore(cpu, vectors, {4, 1}, /*ordered=*/true);
      core.packs = true;
      core.masks = cpu.hasMaskedMemory;
      const Loaded loaded = loadCore(core.core(), cpu);
      auto *const pack = reinterpret_cast<Packing *>(reinterpret_cast<void *>(loaded.function));
      const int64_t lanes = cpu.vectorBytes / 4, width = vectors * lanes, pitch = width + 3;
      for (const int64_t count : {0, 1, 6})
        for (const int64_t rows : {0, 3, 4, 9})
          for (const int64_t columns : {int64_t(1), lanes - 1, width}) {
            if (vectors > 1 && columns < width)
              continue;
            CAPTURE(name, vectors, count, rows, columns);
            // The memory ends with the last row of B: a load past its last column would be out of bounds.
            const Matrices made = randomMatrices(9 * 6, count, 9, pitch);
            std::vector<float> storage,
                rowsOfB(made.b.begin(), made.b.begin() + std::max<int64_t>(0, count * pitch - pitch + columns)),
                sums = made.sums;
            float *const b = const_cast<float *>(aligned(storage, std::vector<float>(size_t(6 * width), 77)));
            pack(made.a.data(), 6, 1, 6 * lanes, b, count, sums.data(), width, true, 0, rows, rowsOfB.data(), pitch,
                 columns);
            for (int64_t k = 0; k < count; ++k)
              for (int64_t column = 0; column < columns; ++column)
                CHECK(b[k * width + column] == rowsOfB[size_t(k * pitch + column)]);
            CHECK((count == 6 || b[count * width] == 77));
            for (int64_t row = 0; row < 9; ++row)
              for (int64_t column = 0; column < columns; ++column) {
                float expected = made.sums[size_t(row * width + column)];
                for (int64_t k = 0; k < count && rows >= 4 && row < 4; ++k) {
                  const float x = made.a[size_t(row * 6 + k)], y = rowsOfB[size_t(k * pitch + column)];
                  expected = cpu.math.hasFma ? std::fma(x, y, expected) : x * y + expected;
                }
                CHECK(sums[size_t(row * width + column)] == expected);
              }
          }
    }
}

TEST_CASE("A core that reads B in place multiplies all rows by any number of columns", "[kernels]") {
  using InPlace = void(const float *a, int64_t rowPitch, int64_t depthPitch, int64_t panelPitch, const void *b,
                       int64_t count, float *sums, int64_t sumsPitch, bool continues, int64_t first, int64_t end,
                       const void *from, int64_t fromPitch, int64_t columns, float unscale, float scale);
  for (const std::string &name : runnableTargets())
    for (const std::string narrow : {"", "bf16", "f16"})
      for (const bool scales : {false, true})
        for (const int64_t vectors : {1, 3}) {
          const CpuTarget cpu = targetNamed(name);
          if (narrow == "f16" && !cpu.math.convertsF16)
            continue; // no core reads these
          StripCore core = stripCore(cpu, vectors, {4, 1}, /*ordered=*/true);
          core.inPlace = true;
          core.operand.narrow = narrow;
          core.scales = scales;
          core.masks = cpu.hasMaskedMemory;
          const Loaded loaded = loadCore(core.core(), cpu);
          auto *const strip = reinterpret_cast<InPlace *>(reinterpret_cast<void *>(loaded.function));
          const int64_t lanes = core.lanes, width = vectors * lanes, pitch = width + 3;
          for (const int64_t count : {0, 1, 6})
            for (const int64_t rows : {0, 1, 4, 9})
              for (const int64_t columns : {int64_t(1), lanes - 1, width}) {
                if (vectors > 1 && columns < width)
                  continue;
                CAPTURE(name, narrow, scales, vectors, count, rows, columns);
                const Matrices made = randomMatrices(9 * 6, count, 9, pitch);
                // The memory ends with the last row of B: a load past its last column would be out of bounds.
                const size_t size = size_t(std::max<int64_t>(0, count * pitch - pitch + columns));
                std::vector<float> b(made.b.begin(), made.b.begin() + int64_t(size)), sums = made.sums;
                std::vector<uint16_t> bits(size);
                for (size_t i = 0; i < size && !narrow.empty(); ++i) {
                  bits[i] = narrow == "bf16" ? Bfloat16::encode(b[i]) : Float16::encode(b[i]);
                  b[i] = narrow == "bf16" ? Bfloat16::decode(bits[i]) : Float16::decode(bits[i]);
                }
                const void *const from = narrow.empty() ? static_cast<const void *>(b.data()) : bits.data();
                strip(made.a.data(), 6, 1, 6 * lanes, nullptr, count, sums.data(), width, /*continues=*/true, 0, rows,
                      from, pitch, columns, 0.25F, 4);
                for (int64_t row = 0; row < 9; ++row)
                  for (int64_t column = 0; column < columns; ++column) {
                    const float before = made.sums[size_t(row * width + column)];
                    float sum = scales ? 0 : before;
                    for (int64_t k = 0; k < count; ++k) {
                      const float x = made.a[size_t(row * 6 + k)], y = b[size_t(k * pitch + column)] * (scales ? 4 : 1);
                      sum = cpu.math.hasFma ? std::fma(x, y, sum) : x * y + sum;
                    }
                    const float expected = row >= rows ? before : scales ? sum * 0.25F + before : sum;
                    const float found = sums[size_t(row * width + column)];
                    CHECK((scales ? std::fabs(found - expected) <= 1e-6F * (1 + std::fabs(expected))
                                  : found == expected));
                  }
              }
        }
}

TEST_CASE("A core's symbol names all that decides its code, and its key the target too", "[kernels]") {
  const CpuTarget v3 = targetNamed("x86-64-v3"), v4 = targetNamed("x86-64-v4");
  const StripCore plain = stripCore(v4, 4, {6, 2, 1}, false);
  CHECK(plain.core().symbol == "halftone_core_sums_multiply_add_f32_fused_6_2_1x4");
  CHECK(plain.core().method == "6 x 64 sums in registers");
  std::vector<StripCore> all(15, plain);
  all[1].rule.fuses = false;
  all[2].rule.ordered = true;
  all[3].rule.widens = true;
  all[4].rule.product = &rowOf(cpu::Product::vdpbf16ps);
  all[5].rows = {6, 4, 2, 1};
  all[6].vectors = 1;
  all[7].correction = 256;
  all[8].packs = true;
  all[9].inPanels = true;
  all[10].biases = true;
  all[11].watches = true;
  all[12].operand.narrow = "bf16";
  all[13].scales = true;
  all[14].inPlace = true;
  std::set<std::string> symbols;
  for (const StripCore &each : all)
    symbols.insert(each.core().symbol);
  CHECK(symbols.size() == all.size());
  CHECK(coreKey(plain.core(), v4) == coreKey(plain.core(), v4));
  CHECK(coreKey(plain.core(), v4) != coreKey(plain.core(), v3));
  CHECK(coreKey(plain.core(), v4) != coreKey(all[1].core(), v4));
  CHECK(coreKey(plain.core(), v4).size() == 64);
}
