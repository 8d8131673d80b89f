// Options of mlir-opt whose failures MLIR does not report: plugins, files, and duplicate options.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/DialectRegistry.h"
#include <string>
#include <vector>

namespace halftone::tools {

/// Makes --load-pass-plugin and --load-dialect-plugin record why a plugin cannot be loaded, which MLIR would ignore.
/// Call it after the options are registered and before they are parsed. The registry must outlive parsing.
void watchPlugins(mlir::DialectRegistry &registry);

/// The first error among mlir-opt's options, or "": a plugin that cannot be loaded, a single-value option given twice,
/// or a file that cannot be written. Call it after the options are parsed.
std::string faultOfUpstreamOptions(const std::vector<std::string> &arguments);

} // namespace halftone::tools
