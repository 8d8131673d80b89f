// The PTX version and target that an instruction, target or driver implies, from the notes of the PTX ISA.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/PtxStatement.h"
#include <string>

namespace halftone::emulator {

/// The minimum that a module must declare: 80 represents `.version 8.0`, and `.target sm_80`.
struct Requirement {
  uint32_t version = 0;
  uint32_t target = 0;
};

Requirement requirementOf(const Statement &statement);

/// The first PTX version that supports the target.
uint32_t versionForTarget(uint32_t target);

/// The newest PTX version that a driver of this CUDA version supports, such as 12000 for CUDA 12.0.
uint32_t newestVersionOf(int cuda);

/// "8.0" for 80.
std::string versionText(uint32_t version);

} // namespace halftone::emulator
