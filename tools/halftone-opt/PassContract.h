// What a pass must preserve besides values: the signature of @main, variables, and other names of a program.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>

/// The facts about a module on which others rely, as text keyed by subject: the feeds and fetches of @main in order,
/// the arguments and results for variables and shadows, the variables, shadows and kernels, other public symbols, the
/// layers with their policies, and module attributes named halftone.*. Private functions are implementation and not
/// part of the contract.
using Contract = std::map<std::string, std::string>;

Contract contractOf(mlir::ModuleOp module);

/// The forbidden change that a pass made, such as "changes feed 0 from ... to ..."; "" if it preserved the contract. A
/// few passes of the stock pipeline add facts, as lift-variables adds arguments for variables; every other pass must
/// preserve all of them. Any pass may drop layers, gradients and the declared stage.
std::string breachOf(llvm::StringRef pass, const Contract &before, const Contract &after);

/// Returns true for the pass after which the module is no longer a program, so that checking ends: lower-to-linalg.
bool endsProgram(llvm::StringRef pass);
