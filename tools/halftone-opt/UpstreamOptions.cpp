// Checks mlir-opt's options before MLIR acts on them.
// SPDX-License-Identifier: Apache-2.0
#include "UpstreamOptions.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "tools/shell/OutputFile.h"
#include "llvm/Support/CommandLine.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace cl = llvm::cl;

namespace halftone::tools {
namespace {

// Options that name an output file. MLIR opens some of these files at the end of a run and ignores failures.
constexpr const char *writtenFiles[] = {"log-actions-to", "profile-actions-to", "mlir-generate-reproducer",
                                        "mlir-pass-pipeline-crash-reproducer", "remarks-output-file"};

std::string &pluginFault() {
  static std::string &fault = *new std::string; // never destroyed
  return fault;
}

template <class Plugin, class Take> void watch(const char *option, Take take) {
  auto found = cl::getRegisteredOptions().find(option);
  if (found == cl::getRegisteredOptions().end())
    return;
  static_cast<cl::list<std::string> *>(found->second)->setCallback([option, take](const std::string &path) {
    llvm::Expected<Plugin> plugin = Plugin::load(path);
    if (plugin)
      take(*plugin);
    else if (std::string reason = llvm::toString(plugin.takeError()); pluginFault().empty())
      pluginFault() = fmt::format("--{}={}: {}", option, path, reason);
  });
}

/// The value in "--name=value" or "--name" "value", with one dash or two; the last occurrence counts.
std::string valueOf(const std::vector<std::string> &arguments, std::string_view name) {
  std::string value;
  for (size_t i = 1; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    const size_t dashes = argument.starts_with("--") ? 2 : argument.starts_with("-") ? 1 : 0;
    if (!dashes || !argument.substr(dashes).starts_with(name))
      continue;
    argument.remove_prefix(dashes + name.size());
    if (argument.starts_with('='))
      value = argument.substr(1);
    else if (argument.empty() && i + 1 < arguments.size())
      value = arguments[i + 1];
  }
  return value;
}

std::string dashed(const std::string &option) { return (option.size() > 1 ? "--" : "-") + option; }

} // namespace

void watchPlugins(mlir::DialectRegistry &registry) {
  watch<mlir::PassPlugin>("load-pass-plugin",
                          [](const mlir::PassPlugin &plugin) { plugin.registerPassRegistryCallbacks(); });
  watch<mlir::DialectPlugin>("load-dialect-plugin", [&registry](const mlir::DialectPlugin &plugin) {
    plugin.registerDialectRegistryCallbacks(registry);
  });
}

std::string faultOfUpstreamOptions(const std::vector<std::string> &arguments) {
  if (!pluginFault().empty())
    return pluginFault();
  std::vector<std::string> repeated;
  for (auto &entry : cl::getRegisteredOptions())
    if (entry.second->getNumOccurrencesFlag() == cl::Optional && entry.second->getNumOccurrences() > 1)
      repeated.push_back(entry.second->ArgStr.str());
  if (!repeated.empty())
    return fmt::format("{} is given more than once", dashed(*std::ranges::min_element(repeated)));
  for (const char *option : writtenFiles)
    if (const std::string path = valueOf(arguments, option); !path.empty() && path != "-")
      if (const std::string fault = faultOfOutput(path); !fault.empty())
        return fmt::format("--{}={}: {}", option, path, fault);
  constexpr const char *tree = "mlir-print-ir-tree-dir";
  if (const std::string path = valueOf(arguments, tree); !path.empty()) {
    std::error_code failure;
    std::filesystem::create_directories(path, failure);
    if (failure || ::access(path.c_str(), W_OK | X_OK) != 0)
      return fmt::format("--{}={}: cannot write into the folder: {}", tree, path,
                         failure ? failure.message() : std::strerror(errno));
  }
  return "";
}

} // namespace halftone::tools
