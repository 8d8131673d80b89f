// The names of targets that the tools' --help lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// As a literal, for other literals beside it. compiler::Target::find() says what else is a target.
#define HALFTONE_CPU_TARGET_NAMES "x86-64-v2, x86-64-v3, x86-64-v4, sapphirerapids, graniterapids"
#define HALFTONE_TARGET_NAMES "host, " HALFTONE_CPU_TARGET_NAMES ", sm_80[:<multiprocessors>], <triple>[:<cpu>]"
