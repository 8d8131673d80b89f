// Rejects text that crashes MLIR's parser.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <string>
#include <string_view>

namespace halftone::tools {

/// Returns true if the contents of a file are MLIR bytecode.
bool isBytecode(std::string_view contents);

/// value_error, with the line in `name`, for text on which MLIR 22 would crash:
/// - text that contains bytecode, which must be read in a separate process (loadModuleText());
/// - an array of `index`, or of a type alias (`array<index: 1>`);
/// - brackets, affine operators and aliases nested more than 1000 levels deep: the parser, the verifier and the printer
/// are recursive;
/// - aliases that expand to more than 2^26 tokens, since the printer expands them.
/// Ok for any other text, even if it is not a module.
Status checkModuleText(std::string_view text, const std::string &name);

/// Replaces the first character of each absolute file name in a location, `"/net.cpp":3:1`. MLIR's language server
/// looks up the line of an absolute file in the open document, and crashes if the document does not have that line.
std::string withRelativeFiles(std::string_view text);

} // namespace halftone::tools
