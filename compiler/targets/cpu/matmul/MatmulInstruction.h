// Which instruction a matmul kernel multiplies by: the one table that says so.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/CpuTarget.h"
#include <optional>
#include <string_view>

namespace halftone::compiler {

enum class MatmulInstruction : uint8_t {
  multiplyAdd, // numbers widened to the accumulator's type, one index of K at a time
  vdpbf16ps,   // two indices of K at a time, AVX512_BF16
  vpdpbusd,    // four indices of K at a time, AVX512_VNNI
  tdpbf16ps,   // tiles, two indices of K in an element, AMX
  tdpbssd,     // tiles, four indices of K in an element, AMX
};

/// The first row of the table (in MatmulInstruction.cpp) that the CPU has and the kernel may use.
MatmulInstruction chooseMatmulInstruction(const CpuTarget &target, const MatmulTraits &traits);

/// Whether packing a window copies one tap of neighbouring places at a time, because its image has few channels. No
/// groups along K are made so.
bool packsAlongPlaces(const MatmulTraits &traits);
/// Whether K is several dims, and a vector along it lies in one run of the last (`halftone.whole_runs`).
bool liesInWholeRuns(const CpuTarget &target, const MatmulTraits &traits);
/// Target::readsDepthInRuns.
bool readsDepthInRuns(const CpuTarget &target, DType dtype, int64_t rows, int64_t run);
/// Whether the elements of a window are read in its image (`halftone.reads_image`).
bool readsImage(const CpuTarget &target, const MatmulTraits &traits, MatmulInstruction instruction);
/// Whether registers hold the sums of many rows and few columns (`halftone.tall_sums`).
bool sumsTall(const CpuTarget &target, const MatmulTraits &traits, MatmulInstruction instruction);

/// Target::weightPanels.
std::optional<WeightPanels> weightPanels(const CpuTarget &target, bool strict, DType weight, int64_t k, int64_t n);
/// Target::halfBytePanels.
std::optional<WeightPanels> halfBytePanels(const CpuTarget &target, DType lhs, int64_t k, int64_t n);

/// As the linalg form has it in `halftone.instruction`, which stands on all but those of multiplyAdd.
std::string_view name(MatmulInstruction instruction);
std::optional<MatmulInstruction> matmulInstructionNamed(std::string_view name);

bool has(const CpuTarget &target, MatmulInstruction instruction);

bool isOfTiles(MatmulInstruction instruction);

/// Indices of K that it takes at once, which are one packed element.
int64_t depthOf(MatmulInstruction instruction);

} // namespace halftone::compiler
