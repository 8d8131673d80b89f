// Options of mlir-opt whose failures MLIR itself does not report: plugins, files, and options given twice.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/IR/DialectRegistry.h"
#include <string>
#include <vector>

namespace halftone::tools {

/// Makes --load-pass-plugin and --load-dialect-plugin keep the reason why a plugin cannot be loaded; MLIR would go on
/// without it. Call it after the options are registered and before they are parsed. The registry must outlive the parsing.
void watchPlugins(mlir::DialectRegistry &registry);

/// The first fault among the options of mlir-opt, or "": a plugin that cannot be loaded, an option that is given twice
/// though it has one value, or a file that cannot be written. Call it after the options are parsed.
std::string faultOfUpstreamOptions(const std::vector<std::string> &arguments);

} // namespace halftone::tools
