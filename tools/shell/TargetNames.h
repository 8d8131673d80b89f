// The target names listed in the tools' --help.
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Macros, for concatenation with other literals. compiler::Target::find() documents the other targets.
#define HALFTONE_CPU_TARGET_NAMES "x86-64-v2, x86-64-v3, x86-64-v4, sapphirerapids, graniterapids"
#define HALFTONE_TARGET_NAMES "host, " HALFTONE_CPU_TARGET_NAMES ", sm_80[:<multiprocessors>], <triple>[:<cpu>]"
