// The PTX version and the target that an instruction, a target or a driver stands for, as the PTX ISA's notes state them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/PtxStatement.h"
#include <string>

namespace halftone::emulator {

/// What a module must declare at least: 80 stands for `.version 8.0`, and for `.target sm_80`.
struct Requirement {
  uint32_t version = 0;
  uint32_t target = 0;
};

Requirement requirementOf(const Statement &statement);

/// The least PTX version that knows the target.
uint32_t versionForTarget(uint32_t target);

/// The newest PTX version that a driver of that CUDA version takes, as 12000 for CUDA 12.0.
uint32_t newestVersionOf(int cuda);

/// "8.0" for 80.
std::string versionText(uint32_t version);

} // namespace halftone::emulator
