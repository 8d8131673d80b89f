// The table of instructions that matmul kernels multiply by.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulInstruction.h"
#include <algorithm>
#include <iterator>

namespace halftone::compiler {

namespace {

/// How fast vdpbf16ps is beside an f32 multiply-add depends on the CPU:
///   znver4, znver5                                      as fast: twice the products
///   cooperlake, sapphirerapids and their successors     half as fast: no gain over numbers widened while packing
/// Others are taken for the latter.
bool multipliesPairsFast(const CpuTarget &target) {
  const std::string &processor = target.emulated.empty() ? target.processor : target.emulated;
  return processor == "znver4" || processor == "znver5";
}

bool areAll(const MatmulTraits &traits, DType dtype, DType accumulator) {
  return traits.lhs == dtype && traits.rhs == dtype && traits.accumulator == accumulator && !traits.splitDepth;
}

bool isWholeRun(int64_t run, int64_t vector) { return run > 0 && run % vector == 0; }

/// The same where K may be several dims, if a vector of pairs lies in one run of the last.
bool arePairsInRuns(const CpuTarget &target, MatmulTraits traits) {
  if (traits.splitDepth && isWholeRun(traits.depthRun, target.vectorBytes / itemsize(traits.lhs)))
    traits.splitDepth = false;
  return areAll(traits, DType::bfloat16, DType::float32);
}

struct Row {
  MatmulInstruction instruction;
  std::string_view name;
  int64_t depth;
  bool (*isThere)(const CpuTarget &target);
  bool (*pays)(const CpuTarget &target, const MatmulTraits &traits);
};

/// Reading a weight in pairs takes half the time of reading it in f32, and with few rows nothing else takes as long.
bool readsPairsFast(const CpuTarget &target, const MatmulTraits &traits) {
  return multipliesPairsFast(target) || (traits.panels && target.hasAmxBf16);
}

/// In the order of preference. Those of bf16 are not the exact operation (subnormal numbers, order of sums), so not in
/// strict mode; with fewer rows packing pairs takes longer than multiplying in pairs saves, and nothing is packed of
/// panels.
constexpr Row table[] = {
    {MatmulInstruction::tdpbf16ps, "tdpbf16ps", 2, [](const CpuTarget &target) { return target.hasAmxBf16; },
     [](const CpuTarget &, const MatmulTraits &traits) {
       return !traits.strict && traits.rows > 4 && areAll(traits, DType::bfloat16, DType::float32);
     }},
    {MatmulInstruction::tdpbssd, "tdpbssd", 4, [](const CpuTarget &target) { return target.hasAmxInt8; },
     [](const CpuTarget &, const MatmulTraits &traits) {
       return areAll(traits, DType::int8, DType::int32) && !traits.computed && !traits.halfBytes;
     }},
    {MatmulInstruction::vdpbf16ps, "vdpbf16ps", 2, [](const CpuTarget &target) { return target.hasAvx512Bf16; },
     [](const CpuTarget &target, const MatmulTraits &traits) {
       return readsPairsFast(target, traits) && !traits.strict && (traits.rows > 4 || traits.panels) &&
              arePairsInRuns(target, traits);
     }},
    {MatmulInstruction::vpdpbusd, "vpdpbusd", 4, [](const CpuTarget &target) { return target.hasVnni; },
     [](const CpuTarget &, const MatmulTraits &traits) {
       return areAll(traits, DType::int8, DType::int32) && !traits.computed && traits.lhsAlongDepth;
     }},
    {MatmulInstruction::multiplyAdd, "multiply-add", 1, [](const CpuTarget &) { return true; },
     [](const CpuTarget &, const MatmulTraits &) { return true; }},
};

/// Groups are neighbours along a row of a window; pairs are also made of the rows of two places.
bool makesGroupsOfWindow(const Row &row, const MatmulTraits &traits) {
  return !packsAlongPlaces(traits) && (traits.lhsAlongDepth || row.depth == 2);
}

const Row &rowOf(MatmulInstruction instruction) {
  return *std::find_if(std::begin(table), std::end(table),
                       [&](const Row &row) { return row.instruction == instruction; });
}

} // namespace

MatmulInstruction chooseMatmulInstruction(const CpuTarget &target, const MatmulTraits &traits) {
  return std::find_if(std::begin(table), std::end(table),
                      [&](const Row &row) {
                        const bool hasFactors = row.depth == 1 || !traits.window || makesGroupsOfWindow(row, traits);
                        return hasFactors && row.isThere(target) && row.pays(target, traits);
                      })
      ->instruction;
}

bool liesInWholeRuns(const CpuTarget &target, const MatmulTraits &traits) {
  return traits.splitDepth && isWholeRun(traits.depthRun, target.vectorBytes / itemsize(traits.accumulator));
}

bool readsDepthInRuns(const CpuTarget &target, DType dtype, int64_t rows, int64_t run) {
  // Every tile of rows packs the operand, and so transposes it, again. With more rows than this (a guess), one transposed copy
  // in memory costs less.
  constexpr int64_t mostRows = 4096;
  const bool isWide = dtype == DType::float32 || dtype == DType::float64;
  const bool isOfPairs =
      dtype == DType::bfloat16 && multipliesPairsFast(target) && target.hasAvx512Bf16 && !target.hasAmxBf16;
  return (isWide || isOfPairs) && rows <= mostRows && isWholeRun(run, target.vectorBytes / itemsize(dtype));
}

bool packsAlongPlaces(const MatmulTraits &traits) {
  // Copying a row of taps takes as long as some ten elements one by one.
  constexpr int64_t longestShortRun = 12, leastLine = 8;
  return traits.windowLine >= leastLine && (traits.windowPitch == 1 || traits.windowRun <= longestShortRun);
}

bool readsImage(const CpuTarget &target, const MatmulTraits &traits, MatmulInstruction instruction) {
  // Guesses. In shorter lines too few places are summed together; with fewer channels the loop over a tap is too short.
  constexpr int64_t leastLine = 7, leastChannels = 16;
  const int64_t lanes = target.vectorBytes / itemsize(DType::float32);
  const bool isOfPairs =
      instruction == MatmulInstruction::vdpbf16ps && !traits.panels && traits.windowChannels % 2 == 0;
  const bool isPlain = instruction == MatmulInstruction::multiplyAdd && traits.lhs == DType::float32 &&
                       traits.accumulator == DType::float32;
  return (target.vectorRegisters >= 32 || target.math.hasFma) && (isPlain || isOfPairs) && traits.window &&
         !traits.strict && traits.lhsAlongDepth && traits.columns > lanes && traits.windowLine >= leastLine &&
         traits.windowChannels >= leastChannels;
}

bool sumsTall(const CpuTarget &target, const MatmulTraits &traits, MatmulInstruction instruction) {
  const int64_t lanes = target.vectorBytes / itemsize(traits.accumulator);
  const bool fitsTwoVectors = traits.columns > lanes && traits.columns <= 2 * lanes;
  // Rows of a packed window begin in different sets of the cache, however many are read together.
  const bool readsPackedRows = instruction == MatmulInstruction::multiplyAdd && traits.window && traits.lhsAlongDepth &&
                               !packsAlongPlaces(traits) && traits.columns > lanes;
  return target.vectorRegisters >= 32 && !isOfTiles(instruction) && (fitsTwoVectors || readsPackedRows);
}

/// Columns of a panel: one vector of 32-bit sums.
static constexpr int64_t panelColumns = 16;

static bool fitPanels(int64_t k, int64_t n, int64_t group) {
  constexpr int64_t smallest = int64_t(1) << 14; // of less a copy of its own costs more than packing it at each product
  return k * n >= smallest && k % group == 0 && n % panelColumns == 0;
}

std::optional<WeightPanels> weightPanels(const CpuTarget &target, bool strict, DType weight, int64_t k, int64_t n) {
  constexpr int64_t manyRows = 64;
  MatmulTraits traits{weight, weight, weight == DType::int8 ? DType::int32 : DType::float32};
  traits.strict = strict;
  traits.rows = manyRows;
  traits.lhsAlongDepth = traits.panels = true;
  const int64_t group = depthOf(chooseMatmulInstruction(target, traits));
  if (group == 1 || !fitPanels(k, n, group))
    return std::nullopt;
  return WeightPanels{panelColumns, group};
}

std::optional<WeightPanels> halfBytePanels(const CpuTarget &target, DType lhs, int64_t k, int64_t n) {
  constexpr int64_t bits = 4, group = 8;                        // a group of a column lies in 32 bits
  const bool takesFours = target.hasVnni && !target.hasAmxInt8; // tiles are faster, and want whole bytes
  const bool isFloat = lhs == DType::float32 || lhs == DType::bfloat16 || lhs == DType::float16;
  const bool isRead = lhs == DType::int8 ? takesFours : isFloat && target.vectorBytes == panelColumns * 4;
  return isRead && fitPanels(k, n, group) ? std::optional(WeightPanels{panelColumns, group, bits}) : std::nullopt;
}

std::string_view name(MatmulInstruction instruction) { return rowOf(instruction).name; }

std::optional<MatmulInstruction> matmulInstructionNamed(std::string_view name) {
  for (const Row &row : table)
    if (row.name == name)
      return row.instruction;
  return std::nullopt;
}

bool has(const CpuTarget &target, MatmulInstruction instruction) { return rowOf(instruction).isThere(target); }

bool isOfTiles(MatmulInstruction instruction) {
  return instruction == MatmulInstruction::tdpbf16ps || instruction == MatmulInstruction::tdpbssd;
}

int64_t depthOf(MatmulInstruction instruction) { return rowOf(instruction).depth; }

} // namespace halftone::compiler
