// What a pass must leave as it is besides values: the signature of @main, variables, and other names that a program has.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>

/// Each fact about a module on which others rely, as text by its subject: the feeds and fetches of @main in order, the
/// arguments and results that stand for variables and shadows, the variables, shadows and kernels themselves, other
/// public symbols, the layers with their policies, and attributes of the module named halftone.*. Private functions are
/// the body of a program, and no part of the contract.
using Contract = std::map<std::string, std::string>;

Contract contractOf(mlir::ModuleOp module);

/// What the pass changed that it must not change, as "changes feed 0 from ... to ..."; "" if it kept the contract. A few
/// passes of the stock pipeline add facts, as lift-variables adds arguments for variables; every other pass keeps all of
/// them. Any pass may drop layers, gradients and the declared stage.
std::string breachOf(llvm::StringRef pass, const Contract &before, const Contract &after);

/// Whether the pass leaves a module that is no program, so that it ends the checks: lower-to-linalg.
bool endsProgram(llvm::StringRef pass);
