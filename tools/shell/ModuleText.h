// Refuses text on which MLIR's parser crashes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <string>
#include <string_view>

namespace halftone::tools {

/// Whether the contents of a file are MLIR's bytecode.
bool isBytecode(std::string_view contents);

/// value_error, with the line in `name`, for text on which MLIR 22 would end the process:
/// - text that holds bytecode, which is read in a process of its own (loadModuleText());
/// - an array of `index`, or of a type by its alias (`array<index: 1>`);
/// - brackets, operators of affine expressions and aliases that nest more than 1000 levels deep: the parser, the verifier
///   and the printer recurse;
/// - aliases that stand for more than 2^26 tokens when they are written out, as the printer does.
/// Ok for all other text, even if it is no module.
Status checkModuleText(std::string_view text, const std::string &name);

/// The text with another first character in each absolute file name of a location, `"/net.cpp":3:1`. MLIR's language server
/// looks up the line of an absolute file in the document that it shows, and ends with its process if it is not there.
std::string withRelativeFiles(std::string_view text);

} // namespace halftone::tools
