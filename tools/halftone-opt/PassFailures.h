// Reports passes that fail without an error or end the process, and ensures that the exit code shows the failure.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Pass/PassManager.h"

/// Instruments the passes of a pipeline. If a pass fails without an error, emits one that names it. If a pass emits an
/// error without failing, sets `*failed`, unless `expectsErrors`, and emits an error about it. If a pass throws or
/// calls exit(0), the process ends with a message and the exit code `refused`. Call this after all other
/// instrumentations have been added. Disables multithreading, so that each error belongs to the running pass.
void watchFailures(mlir::PassManager &passes, bool expectsErrors, bool *failed, int refused);
