// Which instruction a matmul kernel multiplies by: the one table that says so.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/CpuTarget.h"
#include "halftone/DType.h"
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

/// What the choice depends on besides the CPU.
struct MatmulTraits {
  DType lhs, rhs, accumulator;
  int64_t rows = 0; // M
  bool strict = false;
  bool splitAxes = false;     // M, N or K is more than one dim
  bool computed = false;      // an operand passes through a prologue
  bool lhsAlongDepth = false; // K is the left operand's innermost axis
  bool panels = false;        // the right operand is kept in the panels that the instruction reads
};

/// The first row of the table (in MatmulInstruction.cpp) that the CPU has and the kernel may use.
MatmulInstruction chooseMatmulInstruction(const CpuTarget &target, const MatmulTraits &traits);

/// How a weight, K x N along whichever axes, is kept for the matmuls that read it as their right operand: in panels of
/// `columns` columns, `group` neighbours along K together, where that makes their products faster for any number of
/// rows. A function of dtype, extents and target alone, so that all batches share the copy; nullopt: row-major.
struct MatmulPanels {
  int64_t columns = 0, group = 0;
};
std::optional<MatmulPanels> weightPanels(const CpuTarget &target, bool strict, DType weight, int64_t k, int64_t n);

/// As the linalg form has it in `halftone.instruction`, which stands on all but those of multiplyAdd.
std::string_view name(MatmulInstruction instruction);
std::optional<MatmulInstruction> matmulInstructionNamed(std::string_view name);

bool has(const CpuTarget &target, MatmulInstruction instruction);

bool isOfTiles(MatmulInstruction instruction);

/// Indices of K that it takes at once, which are one packed element.
int64_t depthOf(MatmulInstruction instruction);

} // namespace halftone::compiler
