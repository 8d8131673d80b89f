// Passes that end badly: each gets a message with its name, and no exit code says that all is well.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Pass/PassManager.h"

/// Watches the passes of a pipeline. A pass that fails without an error gets one that names it. A pass that emits an
/// error and does not fail sets `*failed`, unless `expectsErrors`, and gets an error that says so. A pass that throws,
/// or that ends the process by exit(0), ends it with a message and the code `refused`. Call this after all other
/// instrumentations are added. Passes run on one thread from here on, so that each error belongs to the pass that runs.
void watchFailures(mlir::PassManager &passes, bool expectsErrors, bool *failed, int refused);
